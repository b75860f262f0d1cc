"""Work by hand on chunks: in which pieces and by which words a passage is found. What is quoted stays as it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.jobs.rework import Worked
from kaijuan.server.service import Caller, Reply, Writing, by
from kaijuan.verbs.shapes import Json, chunk_line, run_shape, version_shape

router = APIRouter(tags=["chunks"])
Id = Annotated[str, Path(max_length=64)]
_LONG = 20_000


class Work(BaseModel):
    """Why it is done."""

    model_config = ConfigDict(extra="forbid")

    note: str = Field(default="", max_length=2000)


class Split(Work):
    """Where a chunk is parted."""

    at: list[int | Annotated[str, Field(min_length=1, max_length=2000)]] = Field(
        min_length=1, max_length=100, description="Characters of the chunk's text, or words that a part begins with."
    )


class Merge(Work):
    """Which neighbours become one with a chunk."""

    chunks: list[Annotated[str, Field(max_length=64)]] = Field(min_length=1, max_length=50)


class Edit(Work):
    """By which text a chunk is found."""

    text: str = Field(min_length=1, max_length=_LONG)


class Alias(Work):
    """By which questions a chunk is found, too."""

    questions: list[Annotated[str, Field(min_length=1, max_length=2000)]] = Field(min_length=1, max_length=50)


@router.post("/kbs/{kb}/chunks/{id}/split")
async def split(base: Writing, id: Id, body: Split, who: Caller) -> Reply:
    """Search a chunk in parts."""
    return Reply(_worked(await base.split_chunk(id, body.at, by=by(who), note=body.note)))


@router.post("/kbs/{kb}/chunks/{id}/merge")
async def merge(base: Writing, id: Id, body: Merge, who: Caller) -> Reply:
    """Search a chunk and its neighbours as one."""
    return Reply(_worked(await base.merge_chunks([id, *body.chunks], by=by(who), note=body.note)))


@router.post("/kbs/{kb}/chunks/{id}/edit")
async def edit(base: Writing, id: Id, body: Edit, who: Caller) -> Reply:
    """Let a chunk be found by another text."""
    return Reply(_worked(await base.edit_chunk(id, body.text, by=by(who), note=body.note)))


@router.post("/kbs/{kb}/chunks/{id}/alias")
async def alias(base: Writing, id: Id, body: Alias, who: Caller) -> Reply:
    """Let a chunk be found by questions, too."""
    return Reply(_worked(await base.alias_chunk(id, body.questions, by=by(who), note=body.note)))


@router.post("/kbs/{kb}/chunks/{id}/exclude")
async def exclude(base: Writing, id: Id, body: Work, who: Caller) -> Reply:
    """Search a chunk no more."""
    return Reply(_worked(await base.exclude_chunks([id], by=by(who), note=body.note)))


@router.post("/kbs/{kb}/chunks/{id}/restore")
async def restore(base: Writing, id: Id, body: Work, who: Caller) -> Reply:
    """Undo what was done to a chunk."""
    return Reply(_worked(await base.restore_chunks([id], by=by(who), note=body.note)))


def _worked(done: Worked) -> Json:
    return {
        "run": run_shape(done.report),
        "version": version_shape(done.version),
        "chunks": [{**chunk_line(chunk), "text": chunk.span.of(done.text)} for chunk in done.chunks],
    }
