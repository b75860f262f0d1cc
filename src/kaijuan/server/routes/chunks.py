"""Chunks: seen between what they are made of and part of, and worked on by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.engine import Kaijuan
from kaijuan.errors import UsageError
from kaijuan.jobs.rework import Worked
from kaijuan.server.service import Caller, Managing, Reading, Reply, The, Writing, by
from kaijuan.verbs.context_shapes import plan_shape, written_shape
from kaijuan.verbs.shapes import Json, chunk_line, fields_of, plain, run_shape, version_shape

router = APIRouter(tags=["chunks"])
Id = Annotated[str, Path(max_length=64)]
Word = Annotated[str, Field(min_length=1, max_length=20_000)]


class Work(BaseModel):
    """Who works is known; why may be said."""

    model_config = ConfigDict(extra="forbid")

    note: str = Field(default="", max_length=2000)


class Split(Work):
    """Where to cut: characters of the chunk's text, or the words that begin a part."""

    at: list[int | Word] = Field(min_length=1, max_length=1000)


class Chosen(Work):
    """Several chunks of one document."""

    chunks: list[Word] = Field(min_length=1, max_length=1000)


class Edit(Work):
    """The text by which a chunk is found; what is quoted stays the document's own."""

    text: Word


class Aliases(Work):
    """Questions by which a chunk is found too."""

    questions: list[Word] = Field(min_length=1, max_length=100)


class Sentences(BaseModel):
    """What may be asked of the language model, which costs money: no more requests than the plan told."""

    model_config = ConfigDict(extra="forbid")

    requests: int = Field(ge=0, description="As the plan told; refused where it would take more by now.")
    documents: list[Word] | None = Field(default=None, max_length=1000, description="All where none.")


@router.get("/kbs/{kb}/chunks/{id}")
async def chunk(base: Reading, id: Id) -> Reply:
    """Show one chunk of any version that is kept, with its parent, children and neighbours."""
    view = await base.chunk(id)
    return Reply(
        {
            "version": version_shape(view.version),
            "chunk": {**chunk_line(view.chunk), "text": view.text},
            "parent": {**chunk_line(view.parent), "text": view.parent_text} if view.parent else None,
            "neighbours": [each.id for each in view.neighbours],
            "children": [each.id for each in view.children],
            "pages": list(view.pages),
            "references": list(view.references),
        }
    )


@router.get("/kbs/{kb}/chunk-work")
async def chunk_work(
    base: Reading,
    document: Annotated[str | None, Query(max_length=2000)] = None,
    ended: Annotated[bool, Query(description="Also what was undone.")] = False,
) -> Reply:
    """List what was done to chunks by hand and what became of it, oldest first."""
    return Reply({"work": plain(await base.chunk_work(document, ended=ended))})


@router.post("/kbs/{kb}/chunks/{id}/split")
async def split(body: Split, base: Writing, id: Id, who: Caller, service: The) -> Reply:
    """Search a chunk in parts."""
    return await _done(service, base, lambda: base.split_chunk(id, body.at, by=by(who), note=body.note))


@router.post("/kbs/{kb}/chunks/{id}/edit")
async def edit(body: Edit, base: Writing, id: Id, who: Caller, service: The) -> Reply:
    """Let a chunk be found by another text."""
    return await _done(service, base, lambda: base.edit_chunk(id, body.text, by=by(who), note=body.note))


@router.post("/kbs/{kb}/chunks/{id}/alias")
async def alias(body: Aliases, base: Writing, id: Id, who: Caller, service: The) -> Reply:
    """Let a chunk be found by questions, too."""
    return await _done(service, base, lambda: base.alias_chunk(id, body.questions, by=by(who), note=body.note))


@router.post("/kbs/{kb}/chunk-work/merge")
async def merge(body: Chosen, base: Writing, who: Caller, service: The) -> Reply:
    """Search neighbouring chunks as one."""
    return await _done(service, base, lambda: base.merge_chunks(body.chunks, by=by(who), note=body.note))


@router.post("/kbs/{kb}/chunk-work/exclude")
async def exclude(body: Chosen, base: Writing, who: Caller, service: The) -> Reply:
    """Search chunks no more."""
    return await _done(service, base, lambda: base.exclude_chunks(body.chunks, by=by(who), note=body.note))


@router.post("/kbs/{kb}/chunk-work/restore")
async def restore(body: Chosen, base: Writing, who: Caller, service: The) -> Reply:
    """Undo what was done to chunks, named by chunk or by the beginning of the work's id."""
    return await _done(service, base, lambda: base.restore_chunks(body.chunks, by=by(who), note=body.note))


@router.get("/kbs/{kb}/contexts")
async def contexts(
    base: Writing, document: Annotated[list[str] | None, Query(max_length=1000, description="All where none.")] = None
) -> Reply:
    """Say what the language model would be asked for sentences that tell where passages are from, and what that would
    cost. Asks nobody."""
    return Reply(plan_shape(await base.plan_contexts(document or None)))


@router.post("/kbs/{kb}/contexts")
async def write_contexts(body: Sentences, base: Managing, service: The) -> Reply:
    """Let the language model write these sentences and publish them. What was written stays if it is stopped."""
    async with service.tickets.lock(base.tenant, base.kb_name):
        plan = await base.plan_contexts(body.documents)
        if plan.requests > body.requests:
            raise UsageError(
                f"The language model would be asked {plan.requests:,} times, not {body.requests:,}.",
                hint="GET the plan, look at its cost, and give its number of requests.",
            )
        return Reply(written_shape(await base.write_contexts(body.documents)))


async def _done(service: The, base: Kaijuan, work: Callable[[], Awaitable[Worked]]) -> Reply:
    async with service.tickets.lock(base.tenant, base.kb_name):
        return Reply(_worked(await work()))


def _worked(worked: Worked) -> Json:
    return {
        "run": run_shape(worked.report),
        "version": version_shape(worked.version),
        "work": [fields_of(one) for one in worked.work],
        "ended": [fields_of(one) for one in worked.ended],
        "chunks": [{**chunk_line(each), "text": each.span.of(worked.text)} for each in worked.chunks],
    }
