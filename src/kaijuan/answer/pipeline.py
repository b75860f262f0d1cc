"""Question and passages to a cited answer without a language model, step by step: read, embed, score, judge, cite."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kaijuan import telemetry
from kaijuan.answer.cite import Citations, join, sentence_of
from kaijuan.answer.extract import Read, Scored, choose, near_miss, read_units, same, score_units, shortlist
from kaijuan.answer.phrases import Phrases, phrases_for
from kaijuan.answer.question import Anchor, AnchorKind, Question, parts_of, read_question
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.sufficiency import Fit, features_of, fit_for, is_foreign
from kaijuan.answer.units import one_line, units_of
from kaijuan.errors import UsageError
from kaijuan.index.ports import Embedder, Vector, Vectors
from kaijuan.retrieve.results import Passage, SearchResult

_MOST_ALSO = 1
"""Other places cited beside a sentence that they repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an answer is made from. `cosines` has a row for each question and a column for each kept unit."""

    passages: Sequence[Passage]
    reads: Sequence[Read]
    kept: Sequence[Read]
    cosines: Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One part of the question with the units chosen for it."""

    question: Question
    chosen: list[Scored]
    probability: float
    suffices: bool
    missing: tuple[Anchor, ...]
    closest: str
    """Title of the document with the best unit."""


async def answer(question: str, result: SearchResult, embedder: Embedder, settings: AnswerSettings) -> Answer:
    """Return the best supported sentences, each cited, or say that the documents do not say.

    Reads nothing but `result`, so the answer is of the same snapshot. UsageError for an empty question.
    """
    if not question.strip():
        raise UsageError("The question is empty.", hint="Write what you want to know.")
    timings = dict(result.timings_ms)
    with telemetry.timed(timings, "answer"):
        passages = result.passages[: settings.passages]
        phrases = phrases_for(question)
        with telemetry.timed(timings, "read"):
            questions, reads, kept = await asyncio.to_thread(read_evidence, question, passages, settings)
        if not any(one.weights for one in questions):
            return _without(question, result, Status.CLARIFY, phrases.clarify, timings=timings)
        if not reads:
            return _without(question, result, Status.REFUSED, phrases.empty, timings=timings)
        with telemetry.timed(timings, "embed"):
            cosines = await cosines_of(questions, kept, embedder)
        with telemetry.timed(timings, "judge"):
            evidence = Evidence(passages=passages, reads=reads, kept=kept, cosines=cosines)
            judged = await asyncio.to_thread(_judge, questions, evidence, embedder.info.name, settings)
    timings["total"] = round(result.timings_ms.get("total", 0.0) + timings["answer"], 3)
    return _answer(question, result, judged, evidence, phrases, timings)


def read_evidence(
    text: str, passages: Sequence[Passage], settings: AnswerSettings
) -> tuple[list[Question], list[Read], list[Read]]:
    """Return the questions asked, all that the passages say, and the part of it worth embedding."""
    questions = [read_question(part) for part in parts_of(text)]
    units = [unit for at, passage in enumerate(passages) for unit in units_of(passage, at, settings)]
    reads = read_units(units)
    kept = shortlist(questions, reads, passages, settings.candidates)
    return questions, reads, [reads[at] for at in kept]


async def cosines_of(questions: Sequence[Question], reads: Sequence[Read], embedder: Embedder) -> Vectors:
    """Return the cosine of every question (rows) and unit (columns); all units in one call of the model."""
    texts = await asyncio.to_thread(lambda: [_fitting(sentence_text(read), embedder) for read in reads])
    # A short list and its only item, or one row in two tables, are the same text: embedded once.
    distinct = list(dict.fromkeys(texts))
    vectors = await embedder.embed_passages(distinct)
    rows = vectors[[distinct.index(text) for text in texts]]
    asked = [await embedder.embed_query(question.text) for question in questions]
    return np.asarray(np.stack(asked) @ rows.T, dtype=np.float32)


def sentence_text(read: Read) -> str:
    """Return what is embedded of a unit: its context says what its pronouns and cells are about."""
    return f"{read.unit.context}: {one_line(read.unit.quote)}" if read.unit.context else one_line(read.unit.quote)


def _fitting(text: str, embedder: Embedder) -> str:
    """Cut a unit to what the model reads, for scoring only: what is quoted stays whole. Cuts are counted."""
    room = embedder.info.max_tokens - embedder.info.reserved_tokens
    # No token of the models in use covers less than a byte of UTF-8.
    if len(text.encode("utf-8", "surrogatepass")) <= room:
        return text
    spans = embedder.token_spans(text)
    if len(spans) <= room:
        return text
    telemetry.count("answer.unit_cut")
    return text[: spans[room - 8].end]


def _judge(questions: Sequence[Question], evidence: Evidence, model: str, settings: AnswerSettings) -> list[_Judged]:
    fit = fit_for(model)
    threshold = fit.threshold if settings.refuse_below is None else settings.refuse_below
    judged: list[_Judged] = []
    for question, row in zip(questions, evidence.cosines, strict=True):
        probability, scored = _best_language(question, evidence, row, fit)
        missing = tuple(anchor for anchor in question.anchors if not _held(anchor, evidence.reads))
        suffices = probability >= threshold and not _identifiers_missing(question, missing)
        judged.append(
            _Judged(
                question=question,
                chosen=choose(question, scored, settings) if suffices else [],
                probability=probability,
                suffices=suffices,
                missing=missing,
                closest=_closest(question, evidence, row),
            )
        )
    return judged


def _best_language(question: Question, evidence: Evidence, row: Vector, fit: Fit) -> tuple[float, list[Scored]]:
    """Judge the evidence in one language: the question's own, or the other that a closest unit is in.

    Together, words shared by chance in the own language would hide what another language says. Embeddings favour
    the question's own language, so that another one only comes first when it has something to say.
    """
    judged: list[tuple[float, list[Scored]]] = []
    foreign = [is_foreign(question, read.unit) for read in evidence.kept]
    closest = foreign[int(row.argmax())]
    for group in {False, closest}:
        at = [place for place, other in enumerate(foreign) if other is group]
        if not at:
            continue
        kept = [evidence.kept[place] for place in at]
        read_in = {read.unit.passage for read in kept}
        reads = [read for read in evidence.reads if is_foreign(question, read.unit) is group]
        passages = [passage for place, passage in enumerate(evidence.passages) if place in read_in]
        scored = score_units(question, kept, row[at])
        judged.append((fit.probability(features_of(question, scored, reads, passages)), scored))
    return max(judged, key=lambda pair: pair[0])


def _closest(question: Question, evidence: Evidence, row: Vector) -> str:
    """Return the title of the nearest document: by a code near the one asked for, else by words and meaning."""

    def nearness(item: Scored) -> tuple[bool, float]:
        near = any(near_miss(anchor, item.read.terms) for anchor in question.anchors)
        return near, item.coverage + item.similarity

    best = max(score_units(question, evidence.kept, row), key=nearness)
    return evidence.passages[best.read.unit.passage].title


def _held(anchor: Anchor, reads: Sequence[Read]) -> bool:
    return any(anchor.held(read.terms, read.folded) or anchor.held(read.context, "") for read in reads)


def _identifiers_missing(question: Question, missing: Sequence[Anchor]) -> bool:
    """Say whether identifiers were asked for and none was found: what is near them is no answer."""
    asked = [anchor for anchor in question.anchors if anchor.kind is AnchorKind.IDENTIFIER]
    return bool(asked) and all(anchor in missing for anchor in asked)


def _answer(
    question: str,
    result: SearchResult,
    judged: Sequence[_Judged],
    evidence: Evidence,
    phrases: Phrases,
    timings: dict[str, float],
) -> Answer:
    chosen = _in_order([item for part in judged for item in part.chosen])
    confidence = round(min(part.probability for part in judged), 4)
    notes = _notes(judged, phrases, answered=bool(chosen))
    if not chosen:
        return _without(question, result, Status.REFUSED, phrases.refusal, notes, confidence, timings)
    citations = Citations(evidence.passages)
    sentences = [
        sentence_of(item.read.unit, [other.unit for other in _repeats(item.read, evidence.reads)], citations, phrases)
        for item in chosen
    ]
    whole = all(part.suffices and not part.missing for part in judged)
    return Answer(
        question=question,
        status=Status.ANSWERED if whole else Status.PARTIAL,
        answer=join(sentences),
        sentences=tuple(sentences),
        citations=citations.all,
        notes=notes,
        confidence=confidence,
        snapshot=result.snapshot,
        trace_id=result.trace.id,
        timings_ms=timings,
    )


def _in_order(chosen: Sequence[Scored]) -> list[Scored]:
    """Return the units once each, by passage and then as they stand in it."""
    distinct: list[Scored] = []
    for item in sorted(chosen, key=lambda item: (item.read.unit.passage, item.read.unit.span)):
        unit = item.read.unit
        if not any(
            other.read.unit.passage == unit.passage and other.read.unit.span.intersect(unit.span) for other in distinct
        ):
            distinct.append(item)
    return distinct


def _repeats(read: Read, reads: Sequence[Read]) -> list[Read]:
    others = [other for other in reads if other.unit.passage != read.unit.passage and same(read, other)]
    return others[:_MOST_ALSO]


def _notes(judged: Sequence[_Judged], phrases: Phrases, *, answered: bool) -> tuple[str, ...]:
    """Say what is missing, and for a refusal which document came closest."""
    notes: list[str] = []
    wording = {
        AnchorKind.IDENTIFIER: phrases.missing_identifier,
        AnchorKind.NAME: phrases.missing_name,
        AnchorKind.NUMBER: phrases.missing_number,
    }
    for part in judged:
        notes.extend(wording[anchor.kind].format(text=anchor.text) for anchor in part.missing)
        if answered and not part.suffices:
            notes.append(phrases.missing_part.format(text=part.question.text))
    title = next((part.closest for part in judged if part.closest), "")
    if not answered and title:
        notes.append(phrases.closest.format(title=title))
    return tuple(dict.fromkeys(notes))


def _without(
    question: str,
    result: SearchResult,
    status: Status,
    text: str,
    notes: tuple[str, ...] = (),
    confidence: float = 0.0,
    timings: dict[str, float] | None = None,
) -> Answer:
    """Return an answer without sentences: a refusal or a question back."""
    return Answer(
        question=question,
        status=status,
        answer=text,
        notes=notes,
        confidence=confidence,
        snapshot=result.snapshot,
        trace_id=result.trace.id,
        timings_ms=timings or {},
    )
