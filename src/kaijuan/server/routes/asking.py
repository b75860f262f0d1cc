"""Search, answers, explanations, citations and traces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from kaijuan.answer.events import (
    AnswerEvent,
    CitationEvent,
    DoneEvent,
    NoteEvent,
    PassageEvent,
    SentenceEvent,
    StatusEvent,
)
from kaijuan.engine import Kaijuan
from kaijuan.retrieve.results import Trace
from kaijuan.server.events import Event, streamed, wants_events
from kaijuan.server.service import Reading, Reply, The, note_question
from kaijuan.verbs.shapes import (
    Json,
    answer_shape,
    citation_shape,
    explanation_shape,
    fields_of,
    path_of,
    plain,
    search_shape,
)

router = APIRouter(tags=["questions"])
MOST_CHARACTERS = 20_000
BEGINNING = 240
"""Characters of a candidate that are shown."""
Moment = int | float | str | None


class Search(BaseModel):
    """What is looked for, and where."""

    model_config = ConfigDict(extra="forbid")

    k: int = Field(default=8, ge=1, le=200, description="How many passages at most.")
    filters: list[Annotated[str, Field(max_length=2000)]] = Field(
        default_factory=list,
        max_length=20,
        description="In the filter language: `kind = pdf and created >= 2024-01-01`.",
    )
    as_of: Moment = Field(default=None, description="A snapshot number, or a date or time.")
    at: str | None = Field(
        default=None, max_length=10, description="A day like 2023-06-30: only what was in force then."
    )
    preset: str | None = Field(
        default=None, max_length=40, description="fast, balanced, thorough, or a preset of your own."
    )
    read_filters: bool = Field(default=True, description="Let conditions in the question (a year, a version) filter.")


class SearchQuery(Search):
    """A search."""

    query: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    cut: bool = Field(default=True, description="False keeps weak passages too.")
    trace: bool = Field(default=False, description="Tell every candidate's way through the stages, too.")


class Question(Search):
    """A question."""

    question: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    extractive: bool = Field(
        default=False, description="The documents' own sentences, also where a model is configured."
    )
    response_schema: dict[str, object] | None = Field(
        default=None,
        description="A JSON schema of an object: a model puts the answer into that form (`structured`) too.",
    )


class WhyQuery(Search):
    """A question, and the passages whose way through the stages is wanted."""

    question: str = Field(min_length=1, max_length=MOST_CHARACTERS)
    contains: str | None = Field(default=None, max_length=2000)
    chunk: str | None = Field(default=None, max_length=64)


@router.post("/kbs/{kb}/search")
async def search(request: Request, body: SearchQuery, base: Reading) -> Reply:
    """Return the best passages for a question, best first."""
    note_question(request, body.query)
    found = await base.search(
        body.query,
        k=body.k,
        filters=body.filters,
        as_of=body.as_of,
        at=body.at,
        cut=body.cut,
        preset=body.preset,
        read_filters=body.read_filters,
    )
    shape = search_shape(found)
    if body.trace:
        shape["trace"] = {**fields_of(found.trace), "candidates": await _told(base, found.trace)}
    return Reply(shape)


async def _told(base: Kaijuan, trace: Trace) -> list[Json]:
    """Return candidates with the beginning of their words. The search has asked already who may read them."""
    chunks = await base.catalog.chunks_meant([one.chunk_id for one in trace.candidates], trace.snapshot)
    versions = await base.catalog.versions_by_id({chunk.version_id for chunk in chunks.values()})
    shapes: list[Json] = []
    for one in trace.candidates:
        chunk = chunks[one.chunk_id]
        version = versions[chunk.version_id]
        words = chunk.span.of(await base.texts.read(version.text_hash))[:BEGINNING]
        shapes.append({**fields_of(one), "source": version.source, "title": version.title, "text": words})
    return shapes


@router.post("/kbs/{kb}/ask", response_model=None)
async def ask(request: Request, body: Question, base: Reading, service: The) -> Response:
    """Answer from the documents, every sentence cited, or refuse.

    With `Accept: text/event-stream` the answer comes as events: status, passage, token, citation, sentence, note; the
    last is done with the whole answer, or error.
    """
    note_question(request, body.question)
    seconds = service.engine.config.serve.ask_seconds
    if wants_events(request):
        return streamed(request, within(seconds, answering(base, body)))
    async with asyncio.timeout(seconds):
        answer = await base.ask(
            body.question,
            k=body.k,
            filters=body.filters,
            as_of=body.as_of,
            at=body.at,
            preset=body.preset,
            read_filters=body.read_filters,
            extractive=body.extractive,
            response_schema=body.response_schema,
        )
    return Reply(answer_shape(answer))


async def answering(base: Kaijuan, body: Question) -> AsyncIterator[Event]:
    """Yield an answer piece by piece."""
    events = base.ask_stream(
        body.question,
        k=body.k,
        filters=body.filters,
        as_of=body.as_of,
        at=body.at,
        preset=body.preset,
        read_filters=body.read_filters,
        extractive=body.extractive,
        response_schema=body.response_schema,
    )
    async with aclosing(events):
        async for event in events:
            yield event.kind, event_shape(event)


def event_shape(event: AnswerEvent) -> Json:
    """Return one event of an answer as JSON."""
    if isinstance(event, DoneEvent):
        return answer_shape(event.answer)
    if isinstance(event, CitationEvent):
        return citation_shape(event.citation)
    if isinstance(event, SentenceEvent):
        return {"index": event.index, "kept": event.kept, **fields_of(event.sentence)}
    if isinstance(event, PassageEvent):
        return {**fields_of(event), "path": path_of(event.source)}
    if isinstance(event, StatusEvent):
        return {"stage": event.phase.value}
    return fields_of(event.note if isinstance(event, NoteEvent) else event)


async def within(seconds: float, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """Yield events until the time is up; TimeoutError then."""
    async with asyncio.timeout(seconds):
        async for event in events:
            yield event


@router.post("/kbs/{kb}/explain")
async def explain(request: Request, body: WhyQuery, base: Reading) -> Reply:
    """Say, stage by stage, why passages were or were not used."""
    note_question(request, body.question)
    found = await base.explain(
        body.question,
        contains=body.contains,
        chunk=body.chunk,
        k=body.k,
        filters=body.filters,
        as_of=body.as_of,
        at=body.at,
        preset=body.preset,
        read_filters=body.read_filters,
    )
    return Reply({**explanation_shape(found), "candidates": plain(found.trace.candidates)})


@router.get("/kbs/{kb}/traces")
async def traces(base: Reading, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Reply:
    """List one's own newest questions and how they ended, newest first."""
    return Reply(
        {
            "traces": [
                {
                    "id": one.id,
                    "created_at": one.created_at,
                    "question": one.body.get("question", one.body.get("query", "")),
                    "status": one.body.get("status", ""),
                    "answer": one.body.get("answer", ""),
                    "model": one.body.get("model", ""),
                }
                for one in await base.traces(limit=limit)
            ]
        }
    )


@router.get("/kbs/{kb}/traces/{id}")
async def trace(base: Reading, id: Annotated[str, Path(max_length=64)]) -> Reply:
    """Show the trace of a question: routes, candidates with ranks, scores and fates, times. Only one's own."""
    found = await base.trace(id)
    return Reply({"id": found.id, "created_at": found.created_at, "trace": plain(found.body)})


@router.get("/kbs/{kb}/citations/{ref}")
async def citation(
    base: Reading,
    ref: Annotated[str, Path(max_length=200)],
    quote: Annotated[
        str, Query(max_length=20_000, description="The words as they were cited, should they be lost.")
    ] = "",
) -> Reply:
    """Open a citation by its `ref`, for whoever may read its document now, however old the version."""
    found = await base.cite(ref, quote=quote)
    return Reply({**fields_of(found), "citation": citation_shape(found.citation)})


@router.get("/kbs/{kb}/suggest")
async def suggest(
    base: Reading, q: Annotated[str, Query(max_length=200)], k: Annotated[int, Query(ge=1, le=50)] = 10
) -> Reply:
    """Return titles, headings and past questions that go on from what is typed."""
    return Reply({"suggestions": [fields_of(one) for one in await base.suggest(q, k=k)]})
