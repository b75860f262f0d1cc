"""Health, the caller, knowledge bases and their state."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from kaijuan import __version__
from kaijuan.core.identity import actions_of
from kaijuan.server.service import KB_NAME, Caller, Managing, Reading, Reply, The, service_of
from kaijuan.verbs.shapes import doctor_shape, fields_of, plain

router = APIRouter(tags=["bases"])


class NewBase(BaseModel):
    """A knowledge base to make."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=KB_NAME)


@router.get("/health", tags=["service"])
async def health(request: Request) -> Reply:
    """Say whether the service is well: it reaches its catalog."""
    service = service_of(request)
    await service.engine.bases()
    return Reply({"status": "ok", "version": __version__, "seconds": round(service.clock() - service.started_at, 1)})


@router.get("/me", tags=["service"])
async def me(who: Caller, service: The) -> Reply:
    """Say who calls, what they may do, and which bases they see."""
    names = [str(one["name"]) for one in await service.bases(who)]
    return Reply(
        {
            "name": who.name,
            "tenant": who.tenant,
            "role": who.role.value,
            "groups": sorted(who.groups),
            "scopes": sorted(scope.value for scope in who.scopes),
            "actions": sorted(action.value for action in actions_of([who.role]) & who.scopes),
            "local": who.local,
            "identity": await service.gate.is_on(),
            "kbs": names,
        }
    )


@router.get("/kbs")
async def bases(who: Caller, service: The) -> Reply:
    """List the knowledge bases that the caller sees."""
    return Reply({"kbs": await service.bases(who)})


@router.post("/kbs", status_code=201)
async def make_base(request: Request, body: NewBase, who: Caller, service: The) -> Reply:
    """Make a knowledge base. 200 when there is one of that name already."""
    made, fresh = await service.make_base(request, who, body.name)
    return Reply(made, status_code=201 if fresh else 200)


@router.get("/kbs/{kb}")
@router.get("/kbs/{kb}/status")
async def status(base: Reading, who: Caller, service: The) -> Reply:
    """Tell the state of a base: sizes, snapshot, model, newest runs, and what the caller may do with it."""
    allowed = await service.gate.actions(who, base.kb_name)
    return Reply({**fields_of(await base.status()), "actions": sorted(action.value for action in allowed)})


@router.get("/kbs/{kb}/doctor")
async def doctor(base: Managing) -> Reply:
    """Look whether everything is well."""
    return Reply(doctor_shape(await base.doctor()))


@router.get("/kbs/{kb}/health")
async def base_health(base: Managing) -> Reply:
    """Say how soon changes are found, what waits, what failed and why, how large the base is, whether scores move."""
    return Reply(fields_of(await base.health()))


@router.get("/kbs/{kb}/chunk-report")
async def chunk_report(base: Reading, as_of: Annotated[str | None, Query()] = None) -> Reply:
    """Say how well the documents are cut."""
    found = plain(await base.chunk_report(as_of=as_of))
    assert isinstance(found, dict)
    return Reply(found)
