"""Earlier states of a base: what two of them show differently, and their names."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.server.service import Caller, Reading, Reply, The, Writing, by
from kaijuan.server.tickets import ticket_shape
from kaijuan.verbs.shapes import fields_of

router = APIRouter(tags=["snapshots"])


class Name(BaseModel):
    """A name for a snapshot."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    snapshot: int | None = Field(default=None, ge=1, description="The newest by default.")
    note: str = Field(default="", max_length=2000)


class Back(BaseModel):
    """Which snapshot is published again."""

    model_config = ConfigDict(extra="forbid")

    snapshot: int = Field(ge=1)


@router.get("/kbs/{kb}/snapshots/diff")
async def diff(
    base: Reading,
    before: Annotated[int, Query(ge=0, alias="from")],
    after: Annotated[int | None, Query(alias="to")] = None,
) -> Reply:
    """Say which documents two snapshots show differently to the caller."""
    return Reply(fields_of(await base.diff(before, after)))


@router.get("/kbs/{kb}/snapshots/tags")
async def tags(base: Reading) -> Reply:
    """List the names of snapshots."""
    return Reply({"tags": [fields_of(one) for one in await base.tags()]})


@router.post("/kbs/{kb}/snapshots/tags", status_code=201)
async def tag(base: Writing, body: Name) -> Reply:
    """Name a snapshot, so that it is kept."""
    return Reply(fields_of(await base.tag(body.name, body.snapshot, note=body.note)), status_code=201)


@router.post("/kbs/{kb}/snapshots/rollback", status_code=202)
async def rollback(base: Writing, body: Back, who: Caller, service: The) -> Reply:
    """Publish a snapshot again as the newest. Answers at once with a run to watch."""
    ticket = service.tickets.begin(
        who.tenant,
        base.kb_name,
        by=by(who),
        kind="rollback",
        work=lambda progress: base.roll_back(body.snapshot, progress=progress),
    )
    return Reply(ticket_shape(ticket), status_code=202)
