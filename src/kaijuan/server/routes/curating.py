"""The review desk and duplicates."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.core.reviews import ReviewState
from kaijuan.server.service import Caller, Reply, The, Writing, by
from kaijuan.server.tickets import ticket_shape
from kaijuan.verbs.shapes import boilerplate_shape, duplicates_shape, review_shape, reviews_shape

router = APIRouter(tags=["review"])
Id = Annotated[str, Path(max_length=64)]


class Decision(BaseModel):
    """Why something was decided."""

    model_config = ConfigDict(extra="forbid")

    note: str = Field(default="", max_length=2000)


@router.get("/kbs/{kb}/reviews")
async def reviews(base: Writing, state: Annotated[Literal["pending", "all"], Query()] = "pending") -> Reply:
    """List the documents that are held back, and why."""
    found = await base.reviews(list(ReviewState)) if state == "all" else await base.reviews()
    return Reply(reviews_shape(found))


@router.get("/kbs/{kb}/reviews/{id}")
async def review(base: Writing, id: Id) -> Reply:
    """Show one review."""
    return Reply(review_shape(await base.review(id)))


@router.post("/kbs/{kb}/reviews/{id}/approve", status_code=202)
async def approve(base: Writing, id: Id, body: Decision, who: Caller, service: The) -> Reply:
    """Publish a document that was held back. Answers at once with a run to watch."""
    found = await base.review(id)
    ticket = service.tickets.begin(
        who.tenant,
        base.kb_name,
        by=by(who),
        kind="approve",
        work=lambda progress: base.approve([found.id], by=by(who), note=body.note, progress=progress),
    )
    return Reply(ticket_shape(ticket), status_code=202)


@router.post("/kbs/{kb}/reviews/{id}/reject")
async def reject(base: Writing, id: Id, body: Decision, who: Caller, service: The) -> Reply:
    """Keep a content out, also when it is offered again."""
    async with service.tickets.lock(who.tenant, base.kb_name):
        removed = await base.reject([id], by=by(who), note=body.note)
    return Reply({"rejected": 1, "removed": removed})


@router.get("/kbs/{kb}/duplicates")
async def duplicates(base: Writing) -> Reply:
    """List which documents say the same, and what was decided."""
    return Reply(duplicates_shape(await base.duplicates()))


@router.post("/kbs/{kb}/duplicates/{id}/{ruling}")
async def rule_duplicates(
    base: Writing, id: Id, ruling: Literal["merge", "keep"], body: Decision, who: Caller
) -> Reply:
    """Merge two documents that say the same, or keep them apart."""
    count = await base.rule_duplicates([id], merge=ruling == "merge", by=by(who), note=body.note)
    return Reply({"merged" if ruling == "merge" else "kept": count})


@router.get("/kbs/{kb}/boilerplate")
async def boilerplate(base: Writing) -> Reply:
    """List the paragraphs that many documents share, and what was decided."""
    return Reply(boilerplate_shape(await base.boilerplate()))


@router.post("/kbs/{kb}/boilerplate/{id}/{ruling}")
async def rule_boilerplate(
    base: Writing, id: Id, ruling: Literal["lower", "keep"], body: Decision, who: Caller
) -> Reply:
    """Let a paragraph that many documents share rank lower, or count like any other text."""
    count = await base.rule_boilerplate([id], lower=ruling == "lower", by=by(who), note=body.note)
    return Reply({"lowered" if ruling == "lower" else "kept": count})
