"""Who may use a base and the service: access, users, keys, the audit log; what readers say about answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.feedback import FeedbackVerdict
from kaijuan.core.identity import Account, Action, ApiKey, Role
from kaijuan.server.service import Caller, Managing, Reading, Reply, The, Writing, by
from kaijuan.verbs.shapes import Json, fields_of

router = APIRouter()
Name = Annotated[str, Field(min_length=1, max_length=100)]
_PAGE = 1000


class Grant(BaseModel):
    """A role, or the right to read, for somebody."""

    model_config = ConfigDict(extra="forbid")

    principal: str = Field(min_length=1, max_length=200, description="A user, group:NAME, or tenant for every user.")
    role: Role = Role.READER
    on: str = Field(default="", max_length=4000, description="A document, or a folder with a slash at its end.")


class Revocation(BaseModel):
    """A role or right to take away."""

    model_config = ConfigDict(extra="forbid")

    principal: str = Field(min_length=1, max_length=200)
    on: str = Field(default="", max_length=4000)


class Reopening(BaseModel):
    """The folder or document that is to be read by all who read what is around it."""

    model_config = ConfigDict(extra="forbid")

    on: str = Field(min_length=1, max_length=4000, description="A document, or a folder with a slash at its end.")


class NewUser(BaseModel):
    """A user to make or change."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    role: Role = Role.READER
    disabled: bool = False
    groups: list[Name] | None = Field(default=None, max_length=1000, description="All groups; null leaves them.")


class NewKey(BaseModel):
    """A key to make."""

    model_config = ConfigDict(extra="forbid")

    user: Name
    label: str = Field(default="", max_length=200)
    scopes: list[Action] = Field(default_factory=lambda: list(Action), min_length=1, max_length=4)
    bases: list[Name] | None = Field(default=None, max_length=1000)
    days: float | None = Field(default=None, gt=0, le=36_500)


class Opinion(BaseModel):
    """What somebody thinks of an answer."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=10_000)
    verdict: FeedbackVerdict
    trace_id: str = Field(default="", max_length=64)
    comment: str = Field(default="", max_length=10_000)
    answer: str = Field(default="", max_length=100_000)
    citations: list[dict[str, object]] = Field(default_factory=list, max_length=200)


@router.get("/kbs/{kb}/access", tags=["access"])
async def access(base: Managing) -> Reply:
    """List who is bound to the base, its folders and documents."""
    kb = await base.catalog.kb(base.tenant, base.kb_name)
    found = [
        {**fields_of(one), "resource": "" if one.resource == kb.id else one.resource} for one in await base.access()
    ]
    return Reply({"bindings": found})


@router.post("/kbs/{kb}/access/grant", tags=["access"])
async def grant(body: Grant, base: Managing) -> Reply:
    """Give somebody a role in the base, or let them read a folder or document. The next request sees it."""
    return Reply({"documents": await base.grant(body.principal, role=body.role, on=body.on)})


@router.post("/kbs/{kb}/access/revoke", tags=["access"])
async def revoke(body: Revocation, base: Managing) -> Reply:
    """Take a role or right away. The next request sees it."""
    return Reply({"documents": await base.revoke(body.principal, on=body.on)})


@router.post("/kbs/{kb}/access/inherit", tags=["access"])
async def inherit(body: Reopening, base: Managing) -> Reply:
    """Drop the readers of its own that a folder or document has: who reads the base reads it again."""
    return Reply({"documents": await base.inherit(body.on)})


@router.post("/kbs/{kb}/feedback", status_code=201, tags=["feedback"])
async def give_feedback(body: Opinion, base: Reading, who: Caller) -> Reply:
    """Say what an answer was worth."""
    given = await base.give_feedback(
        body.question,
        body.verdict,
        trace_id=body.trace_id,
        comment=body.comment,
        answer=body.answer,
        citations=body.citations,
        by=by(who),
    )
    return Reply(fields_of(given), status_code=201)


@router.get("/kbs/{kb}/feedback", tags=["feedback"])
async def feedback(base: Writing, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Reply:
    """List what was said about answers, the newest first. For those who keep the base."""
    return Reply({"feedback": [fields_of(one) for one in await base.feedback(limit=limit)]})


@router.get("/users", tags=["access"])
async def users(request: Request, who: Caller, service: The) -> Reply:
    """List the users of the tenant."""
    base = await service.gate.owning(request, who, Action.MANAGE)
    return Reply({"users": [_account(one) for one in await base.users()]})


@router.post("/users", tags=["access"])
async def put_user(request: Request, body: NewUser, who: Caller, service: The) -> Reply:
    """Make a user, or change one."""
    base = await service.gate.owning(request, who, Action.MANAGE)
    made = await base.put_user(body.name, role=body.role, disabled=body.disabled)
    if body.groups is not None:
        for group in set(body.groups) - set(made.groups):
            await base.join_group(group, body.name)
        for group in set(made.groups) - set(body.groups):
            await base.leave_group(group, body.name)
    shown = next(one for one in await base.users() if one.name == body.name)
    return Reply(_account(shown))


@router.get("/keys", tags=["access"])
async def keys(request: Request, who: Caller, service: The) -> Reply:
    """List the API keys of the tenant, without their secrets."""
    base = await service.gate.owning(request, who, Action.MANAGE)
    return Reply({"keys": [_key(one) for one in await base.keys()]})


@router.post("/keys", status_code=201, tags=["access"])
async def create_key(request: Request, body: NewKey, who: Caller, service: The) -> Reply:
    """Make an API key. `key` is shown this once."""
    base = await service.gate.owning(request, who, Action.MANAGE)
    made, text = await base.create_key(
        body.user, label=body.label, scopes=body.scopes, bases=body.bases, days=body.days
    )
    return Reply({**_key(made), "key": text}, status_code=201)


@router.delete("/keys/{id}", tags=["access"])
async def revoke_key(request: Request, id: Annotated[str, Path(max_length=64)], who: Caller, service: The) -> Reply:
    """Let a key open nothing any more."""
    base = await service.gate.owning(request, who, Action.MANAGE)
    await base.revoke_key(id)
    return Reply({"revoked": id})


@router.get("/audit", tags=["audit"])
async def audit(
    request: Request,
    who: Caller,
    service: The,
    after: Annotated[int, Query(ge=0, le=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=_PAGE)] = 100,
    newest: Annotated[bool, Query(description="The newest lines first, instead of those above `after`.")] = False,
) -> Reply:
    """List lines of the tenant's audit log."""
    base = await service.gate.owning(request, who, Action.AUDIT)
    await service.gate.flush()
    if newest:
        lines = await base.catalog.newest_audit(base.tenant, limit=limit)
    else:
        lines = await base.audit_log(after=after, limit=limit)
    following = lines[-1].sequence if len(lines) == limit and not newest else None
    return Reply({"events": [fields_of(one) for one in lines], "next": following})


@router.get("/audit/check", tags=["audit"])
async def check_audit(request: Request, who: Caller, service: The) -> Reply:
    """Check that no line of the audit log was changed or dropped."""
    base = await service.gate.owning(request, who, Action.AUDIT)
    found = await base.check_audit()
    return Reply({**fields_of(found), "ok": found.broken_at is None})


@router.get("/audit/export", tags=["audit"], response_model=None)
async def export_audit(request: Request, who: Caller, service: The) -> Response:
    """Send the tenant's audit log as JSON lines."""
    base = await service.gate.owning(request, who, Action.AUDIT)
    await service.gate.flush()

    async def lines() -> AsyncIterator[bytes]:
        after = 0
        while page := await base.audit_log(after=after, limit=_PAGE):
            after = page[-1].sequence
            for one in page:
                yield (json.dumps(fields_of(one), ensure_ascii=True) + "\n").encode()

    headers = {"Content-Disposition": "attachment; filename=audit.jsonl"}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


def _account(account: Account) -> Json:
    return fields_of(account)


def _key(key: ApiKey) -> Json:
    shape = fields_of(key)
    del shape["digest"]
    return shape
