"""A question to the events of its answer: search, then the rules, and a model where one is configured."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from kaijuan import telemetry
from kaijuan.answer.events import (
    AnswerEvent,
    CitationEvent,
    DoneEvent,
    NoteEvent,
    PassageEvent,
    Phase,
    SentenceEvent,
    StatusEvent,
)
from kaijuan.answer.model_phrases import fallback_words, model_phrases_for
from kaijuan.answer.notes import Note, NoteKind
from kaijuan.answer.phrases import phrases_for
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.supplement import Find, answer_or_look_elsewhere
from kaijuan.answer.writing import Writer, Writing, Written
from kaijuan.core.filters import Filter
from kaijuan.core.ids import VersionId
from kaijuan.core.spans import Span
from kaijuan.index.ports import Embedder
from kaijuan.retrieve.results import Passage, SearchResult

_CARRIED_OVER = frozenset({NoteKind.CONFLICT, NoteKind.SUPERSEDED, NoteKind.STALE, NoteKind.LOW_CONFIDENCE})
"""Notes of the rules that hold for a model's answer too."""
UNSUPPORTED = "unsupported"


@dataclass(slots=True)
class Told:
    """What the events were made from, for the trace."""

    result: SearchResult | None = None
    answer: Answer | None = None
    context: str = ""


Prepare = Callable[[SearchResult], Awaitable[Writing]]
"""Makes ready for writing about what a search found."""


async def tell(
    question: str, find: Find, embedder: Embedder, settings: AnswerSettings, prepare: Prepare | None, told: Told
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of an answer; `told` holds the search and the answer before the last of them is yielded.

    With `prepare`, a model writes while the rules judge the evidence; without, the rules' answer is all.
    """
    yield StatusEvent(Phase.SEARCHING)
    first = await find([])
    for passage in first.passages:
        yield _passage(passage)
    if (back := asking_back(question, first)) is not None:
        told.result, told.answer = first, back
        for event in events_of(back):
            yield event
        return
    yield StatusEvent(Phase.READING)

    async def find_more(more: Sequence[Filter], *, text: str = "", wide: bool = False) -> SearchResult:
        return await find(more, text=text, wide=wide) if more or text or wide else first

    rules = asyncio.create_task(answer_or_look_elsewhere(question, find_more, embedder, settings))
    try:
        if prepare is None or not first.passages:
            told.result, told.answer = await rules
            for event in events_of(told.answer):
                yield event
            return
        async with aclosing(_written(question, first, rules, await prepare(first), told)) as events:
            async for event in events:
                yield event
    finally:
        rules.cancel()


def asking_back(question: str, result: SearchResult) -> Answer | None:
    """Return the question back to the asker, None where one answer will do."""
    asked = result.trace.understanding.clarification
    if asked is None or not asked.needed:
        return None
    choices = "\n".join(f"- {choice}" for choice in asked.choices)
    return Answer(
        question=question,
        status=Status.CLARIFY,
        answer=f"{asked.question}\n{choices}",
        clarification=asked,
        snapshot=result.snapshot,
        trace_id=result.trace.id,
        timings_ms=dict(result.timings_ms),
    )


async def _written(
    question: str, result: SearchResult, rules: asyncio.Task[tuple[SearchResult, Answer]], writing: Writing, told: Told
) -> AsyncGenerator[AnswerEvent, None]:
    timings: dict[str, float] = dict(result.timings_ms)
    with telemetry.timed(timings, "answer", span=""):
        writer = Writer(question, result, rules, writing)
        async with aclosing(writer.events()) as events:
            async for event in events:
                yield event
        if writer.written.elsewhere is not None and writer.written.failure is None:
            # The rules found the answer in documents of another language, which the model has not seen.
            yield StatusEvent(Phase.READING)
            result = writer.written.elsewhere
            writer = Writer(question, result, rules, writing)
            async with aclosing(writer.events()) as events:
                async for event in events:
                    yield event
    timings["total"] = round(timings.get("total", 0.0) + timings["answer"], 3)
    written = writer.written
    done = finished(question, result, written, writing.chat.info.name)
    done = replace(done, usage=writing.chat.usage, timings_ms=timings)
    told.result, told.answer = result, done
    told.context = writer.context.text if writer.context else ""
    if not done.fallback and written.sentences:
        for note in done.remarks:
            yield NoteEvent(note)
        yield DoneEvent(done)
        return
    if written.failure is not None or written.removed:
        yield StatusEvent(Phase.FALLING_BACK)
    for event in events_of(done):
        yield event


def events_of(answer: Answer) -> Iterator[AnswerEvent]:
    """Yield the events of an answer that is there already."""
    for citation in answer.citations:
        yield CitationEvent(citation)
    for index, sentence in enumerate(answer.sentences):
        yield SentenceEvent(index=index, sentence=sentence)
    for note in answer.remarks:
        yield NoteEvent(note)
    yield DoneEvent(answer)


def finished(question: str, result: SearchResult, written: Written, model: str) -> Answer:
    """Return the whole answer: the model's, or the rules' where the model failed or had nothing to say."""
    rules = written.rules
    if rules is None:
        raise ValueError("the rules were not heard")
    phrases = model_phrases_for(question)
    if written.failure is not None:
        note = Note(kind=NoteKind.OTHER, text=fallback_words(question, written.failure))
        return _with_notes(replace(rules, fallback=written.failure.code), [note], first=True)
    if written.hopeless:
        return rules
    if not written.sentences:
        if written.found_nothing or not rules.sentences:
            return _refusal(question, rules, model)
        note = Note(kind=NoteKind.UNSUPPORTED, text=phrases.nothing_carried)
        return _with_notes(replace(rules, fallback=UNSUPPORTED), [note], first=True)
    notes = list(_notes(question, result, written, rules))
    sentences = tuple(written.sentences[at][1] for at in sorted(written.sentences))
    whole = not written.missing and not written.cut and rules.status is not Status.PARTIAL
    made = Answer(
        question=question,
        status=Status.ANSWERED if whole else Status.PARTIAL,
        answer=written.text,
        sentences=sentences,
        citations=written.citations.all,
        confidence=rules.confidence,
        snapshot=result.snapshot,
        model=model,
        trace_id=result.trace.id,
    )
    return _with_notes(made, notes)


def _notes(question: str, result: SearchResult, written: Written, rules: Answer) -> Iterator[Note]:
    phrases = model_phrases_for(question)
    if written.missing:
        yield Note(kind=NoteKind.MISSING, text=phrases.missing.format(what=written.missing))
    if written.removed:
        yield Note(kind=NoteKind.UNSUPPORTED, text=phrases.unsupported.format(count=len(written.removed)))
    if written.cut:
        yield Note(kind=NoteKind.MISSING, text=phrases.cut)
    for note in rules.remarks:
        missing = note.kind is NoteKind.MISSING and rules.status is Status.PARTIAL
        if note.kind in _CARRIED_OVER or missing:
            yield _recited(note, result, written, rules)


def _recited(note: Note, result: SearchResult, written: Written, rules: Answer) -> Note:
    """Return a note of the rules' answer with its citations numbered as in the model's."""
    known = {citation.id: citation for citation in rules.citations}
    names = []
    for name in note.citations:
        place = _place(result, known[name].version_id, known[name].span) if name in known else None
        if place is not None:
            names.append(written.citations.cite(place, known[name].span))
    return replace(note, citations=tuple(names))


def _place(result: SearchResult, version: VersionId, span: Span) -> int | None:
    return next(
        (
            at
            for at, passage in enumerate(result.passages)
            if passage.version_id == version and passage.span.contains(span)
        ),
        None,
    )


def _refusal(question: str, rules: Answer, model: str) -> Answer:
    """Return that the documents do not say; the rules' own words for it where they refused too."""
    if rules.status is not Status.ANSWERED and not rules.sentences:
        return replace(rules, model=model)
    return replace(
        rules,
        status=Status.REFUSED,
        answer=phrases_for(question).refusal,
        sentences=(),
        citations=(),
        notes=(),
        remarks=(),
        model=model,
    )


def _with_notes(answer: Answer, notes: Sequence[Note], *, first: bool = False) -> Answer:
    """Return an answer with more notes, in words too."""
    remarks = (*notes, *answer.remarks) if first else (*answer.remarks, *notes)
    texts = tuple(dict.fromkeys(note.text for note in remarks))
    others = tuple(text for text in answer.notes if text not in texts)
    return replace(answer, remarks=remarks, notes=(*texts, *others))


def _passage(passage: Passage) -> PassageEvent:
    return PassageEvent(
        rank=passage.rank,
        relevance=passage.relevance,
        document_id=passage.document_id,
        version_id=passage.version_id,
        chunk_id=passage.chunk_id,
        source=passage.source,
        title=passage.title,
        title_path=passage.title_path,
        pages=passage.pages,
    )
