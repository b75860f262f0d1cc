"""Snapshots: compared, named, published again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.server.routes.asking import Moment
from kaijuan.server.service import Caller, Managing, Reading, Reply, The, Writing, by
from kaijuan.server.tickets import ticket_shape
from kaijuan.verbs.shapes import fields_of, snapshots_shape

router = APIRouter(tags=["snapshots"])


class NewTag(BaseModel):
    """A name for a snapshot."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    snapshot: Moment = None
    note: str = Field(default="", max_length=2000)


class Back(BaseModel):
    """The state to publish again."""

    model_config = ConfigDict(extra="forbid")

    snapshot: int | float | str


@router.get("/kbs/{kb}/snapshots")
async def snapshots(base: Reading) -> Reply:
    """List the snapshots that are kept, oldest first, and the names that people gave."""
    tags = [fields_of(tag) for tag in await base.tags()]
    return Reply({**snapshots_shape(await base.snapshots()), "tags": tags})


@router.get("/kbs/{kb}/diff")
async def diff(
    base: Reading,
    before: Annotated[str, Query(max_length=100)],
    after: Annotated[str | None, Query(max_length=100, description="The newest by default.")] = None,
) -> Reply:
    """Say which documents two snapshots show differently."""
    found = await base.diff(before, after)
    sums = {"chunks_added": found.chunks_added, "chunks_removed": found.chunks_removed}
    return Reply({**fields_of(found), **sums})


@router.post("/kbs/{kb}/tags", status_code=201)
async def tag(body: NewTag, base: Writing) -> Reply:
    """Give a snapshot a name, which keeps it."""
    return Reply(fields_of(await base.tag(body.name, body.snapshot, note=body.note)), status_code=201)


@router.delete("/kbs/{kb}/tags/{name}")
async def untag(base: Writing, name: Annotated[str, Path(max_length=100)]) -> Reply:
    """Take a name away."""
    await base.untag(name)
    return Reply({"untagged": name})


@router.post("/kbs/{kb}/rollback", status_code=202)
async def roll_back(body: Back, base: Managing, who: Caller, service: The) -> Reply:
    """Publish an earlier state anew, as the newest one. Answers at once with a run to watch.

    For owners: it also takes back documents that an editor may not read.
    """
    ticket = service.tickets.begin(
        who.tenant,
        base.kb_name,
        by=by(who),
        kind="rollback",
        work=lambda progress: base.roll_back(body.snapshot, progress=progress),
    )
    return Reply(ticket_shape(ticket), status_code=202)
