"""Question and passages to a cited answer without a language model, step by step: read, embed, score, judge, cite."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kaijuan import telemetry
from kaijuan.answer import remarks
from kaijuan.answer.choose import choose
from kaijuan.answer.cite import Citations, join, sentence_of
from kaijuan.answer.conflicts import Conflict, settle
from kaijuan.answer.disagree import Cause, Disagreement, disagreements, shown_beside
from kaijuan.answer.extract import Read, Scored, near_miss, read_units, same, score_units, shortlist
from kaijuan.answer.kinds import without_other_kinds
from kaijuan.answer.named import is_beside, named
from kaijuan.answer.notes import Note
from kaijuan.answer.phrases import Phrases, phrases_for
from kaijuan.answer.question import Anchor, AnchorKind, Question, parts_of, read_question
from kaijuan.answer.ranked import ranked_otherwise
from kaijuan.answer.results import Answer, Status
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.sufficiency import Fit, Judge, features_of, is_foreign, judge_for
from kaijuan.answer.support import supported
from kaijuan.answer.units import one_line, units_of
from kaijuan.core.ids import DocumentId
from kaijuan.core.text.language import language_of
from kaijuan.errors import UsageError
from kaijuan.index.ports import Embedder, Vector, Vectors
from kaijuan.retrieve.results import Passage, SearchResult

_SURE = 0.35
"""Log odds above the threshold from which an answer goes without a warning."""
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
class Side:
    """The evidence in the question's language or in others, with its scored units."""

    foreign: bool
    scored: list[Scored]
    reads: list[Read]
    passages: list[Passage]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """One part of the question with the units chosen for it."""

    question: Question
    chosen: list[Scored]
    probability: float
    suffices: bool
    missing: tuple[Anchor, ...]
    conflicts: list[Conflict]
    """What older editions say otherwise than the chosen units."""
    disagreements: list[Disagreement]
    """What other documents say otherwise."""
    closest: Passage
    """Of the document with the best unit."""
    sure: bool
    """Whether the probability lies well above the threshold."""


async def answer(
    question: str, result: SearchResult, embedder: Embedder, settings: AnswerSettings, *, foreign_only: bool = False
) -> Answer:
    """Return the best supported sentences, each cited, or say that the documents do not say.

    Reads nothing but `result`, so the answer is of the same snapshot. With `foreign_only`, sentences in the question's
    own language are passed over: `result` is then a second look. UsageError for an empty question.
    """
    if not question.strip():
        raise UsageError("The question is empty.", hint="Write what you want to know.")
    timings = dict(result.timings_ms)
    with telemetry.timed(timings, "answer"):
        passages = result.passages[: settings.passages]
        phrases = phrases_for(question)
        with telemetry.timed(timings, "read"):
            questions, reads, kept = await asyncio.to_thread(read_evidence, question, passages, settings, foreign_only)
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
    text: str, passages: Sequence[Passage], settings: AnswerSettings, foreign_only: bool = False
) -> tuple[list[Question], list[Read], list[Read]]:
    """Return the questions asked, all that the passages say, and the part of it worth embedding."""
    questions = [read_question(part) for part in parts_of(text)]
    units = [unit for at, passage in enumerate(passages) for unit in units_of(passage, at, settings)]
    if foreign_only:
        units = [unit for unit in units if is_foreign(questions[0], unit)]
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
    """Return what is embedded of a unit: its context says what its pronouns and cells are about.

    A context in another language would draw the whole to questions in that language, whatever they ask.
    """
    around = read.unit.context if language_of(read.unit.context) == language_of(read.unit.quote) else ""
    context = " ".join(part for part in (around, read.unit.asked) if part)
    return f"{context}: {one_line(read.unit.quote)}" if context else one_line(read.unit.quote)


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
    judge = judge_for(model)
    judged: list[_Judged] = []
    for question, row in zip(questions, evidence.cosines, strict=True):
        fit, probability, scored = _best_side(question, evidence, row, judge)
        threshold = fit.threshold if settings.refuse_below is None else settings.refuse_below
        missing = tuple(anchor for anchor in question.anchors if not _held(anchor, evidence.reads))
        otherwise = ranked_otherwise(question.text, evidence.reads)
        suffices = probability >= threshold and not otherwise and not _essential_missing(question, missing)
        shares = named(question, evidence.reads, evidence.passages)
        valid, conflicts = settle(question, scored, evidence.reads, evidence.passages, shares)
        asked = without_other_kinds(question, _about(valid, evidence.passages, shares), evidence.reads)
        chosen = choose(question, asked, evidence.reads, settings) if suffices else []
        found = disagreements(question, chosen, asked, evidence.passages)
        chosen = _followed(chosen, found)
        judged.append(
            _Judged(
                question=question,
                chosen=chosen,
                conflicts=[one for one in conflicts if any(one.holds is item.read for item in chosen)],
                disagreements=found,
                probability=probability,
                suffices=suffices,
                missing=missing,
                closest=_closest(question, evidence, row),
                sure=fit.margin(probability) >= _SURE,
            )
        )
    return judged


def _about(scored: Sequence[Scored], passages: Sequence[Passage], shares: Mapping[DocumentId, float]) -> list[Scored]:
    """Return the units without those of documents that the question names less than the best one's."""
    if not scored:
        return []
    best = max(scored, key=lambda item: item.score)
    document = passages[best.read.unit.passage].document_id
    return [item for item in scored if not is_beside(shares, document, passages[item.read.unit.passage].document_id)]


def _followed(chosen: Sequence[Scored], found: Sequence[Disagreement]) -> list[Scored]:
    """Return the units to show: what is known to hold in the place of what it overrules, and both where none is."""
    over = {id(one.other.read): one.holds for one in found if one.cause is not Cause.UNKNOWN}
    kept = [over.get(id(item.read), item) for item in chosen]
    return [*kept, *shown_beside(found)]


def sides(
    question: Question, passages: Sequence[Passage], reads: Sequence[Read], kept: Sequence[Read], row: Vector
) -> list[Side]:
    """Return the evidence in the question's own language, and then that in others, each scored by itself.

    Together, words shared by chance in the own language would hide what another language says.
    """
    found: list[Side] = []
    shares = named(question, reads, passages)
    foreign = [is_foreign(question, read.unit) for read in kept]
    for group in sorted(set(foreign)):
        at = [place for place, other in enumerate(foreign) if other is group]
        some = [kept[place] for place in at]
        read_in = {read.unit.passage for read in some}
        found.append(
            Side(
                foreign=group,
                scored=score_units(
                    question, some, row[at], [shares[passages[read.unit.passage].document_id] for read in some]
                ),
                reads=[read for read in reads if is_foreign(question, read.unit) is group],
                passages=[passage for place, passage in enumerate(passages) if place in read_in],
            )
        )
    return found


def _best_side(question: Question, evidence: Evidence, row: Vector, judge: Judge) -> tuple[Fit, float, list[Scored]]:
    """Return the evidence that is judged best, with its fit and probability."""
    judged: list[tuple[Fit, float, list[Scored]]] = []
    for side in sides(question, evidence.passages, evidence.reads, evidence.kept, row):
        features = features_of(question, side.scored, side.reads, side.passages)
        fit = judge.across(features) if side.foreign else judge.own
        judged.append((fit, fit.probability(features), side.scored))
    # Of two that suffice, the own language is surer: there words count too.
    enough = (one for one in judged if one[0].margin(one[1]) >= 0)
    return next(enough, None) or max(judged, key=lambda one: one[0].margin(one[1]))


def _closest(question: Question, evidence: Evidence, row: Vector) -> Passage:
    """Return the nearest passage: by a code near the one asked for, else by words and meaning."""

    def nearness(item: Scored) -> tuple[bool, float]:
        near = any(near_miss(anchor, item.read) for anchor in question.anchors)
        return near, item.coverage + item.similarity

    best = max(score_units(question, evidence.kept, row), key=nearness)
    return evidence.passages[best.read.unit.passage]


def _held(anchor: Anchor, reads: Sequence[Read]) -> bool:
    return any(read.has(anchor) for read in reads)


def _essential_missing(question: Question, missing: Sequence[Anchor]) -> bool:
    """Say whether identifiers were asked for and none was found, or the very thing asked for is a name not found.

    What is near them is no answer.
    """
    asked = [anchor for anchor in question.anchors if anchor.kind is AnchorKind.IDENTIFIER]
    named = any(not anchor.keys.isdisjoint(question.focus) for anchor in missing)
    return named or (bool(asked) and all(anchor in missing for anchor in asked))


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
    citations = Citations(evidence.passages)
    if not chosen:
        notes = _unanswered(judged, phrases)
        refusal = _without(question, result, Status.REFUSED, phrases.refusal, notes, confidence, timings)
        return replace(refusal, missing_parts=_missing_parts(judged))
    sentences = [
        sentence_of(item.read.unit, [other.unit for other in _repeats(item.read, evidence.reads)], citations, phrases)
        for item in chosen
    ]
    notes = _notes(judged, chosen, citations, phrases)
    whole = all(part.suffices and not part.missing for part in judged)
    return Answer(
        question=question,
        status=Status.ANSWERED if whole else Status.PARTIAL,
        answer=join(sentences),
        sentences=tuple(supported(sentences, citations.all)),
        citations=citations.all,
        notes=tuple(note.text for note in notes),
        remarks=notes,
        missing_parts=_missing_parts(judged),
        confidence=confidence,
        snapshot=result.snapshot,
        trace_id=result.trace.id,
        timings_ms=timings,
    )


def _missing_parts(judged: Sequence[_Judged]) -> tuple[str, ...]:
    return tuple(part.question.text for part in judged if not part.suffices)


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


def _notes(
    judged: Sequence[_Judged], chosen: Sequence[Scored], citations: Citations, phrases: Phrases
) -> tuple[Note, ...]:
    """Say beside an answer what is contested, what does not hold, and what is missing."""
    shown = {id(item.read) for item in chosen}
    overruled = (one for part in judged for one in part.conflicts if id(one.outdated) not in shown)
    notes = remarks.superseded(overruled, citations, phrases)
    notes += remarks.disagreeing((one for part in judged for one in part.disagreements), citations, phrases)
    notes += remarks.stale([item.read.unit for item in chosen], citations, phrases)
    for part in judged:
        notes += remarks.missing(part.missing, phrases)
        if not part.suffices:
            notes.append(remarks.missing_part(part.question.text, phrases))
    if not all(part.sure for part in judged if part.suffices):
        notes.append(remarks.low_confidence(phrases))
    return _distinct(notes)


def _unanswered(judged: Sequence[_Judged], phrases: Phrases) -> tuple[Note, ...]:
    """Say beside a refusal what is missing, and which document came closest."""
    notes = [note for part in judged for note in remarks.missing(part.missing, phrases)]
    near = next((part.closest for part in judged if part.closest.title), None)
    return _distinct([*notes, remarks.closest(near, phrases)] if near else notes)


def _distinct(notes: Sequence[Note]) -> tuple[Note, ...]:
    return tuple({note.text: note for note in notes}.values())


def _without(
    question: str,
    result: SearchResult,
    status: Status,
    text: str,
    notes: tuple[Note, ...] = (),
    confidence: float = 0.0,
    timings: dict[str, float] | None = None,
) -> Answer:
    """Return an answer without sentences: a refusal or a question back."""
    return Answer(
        question=question,
        status=status,
        answer=text,
        notes=tuple(note.text for note in notes),
        remarks=notes,
        confidence=confidence,
        snapshot=result.snapshot,
        trace_id=result.trace.id,
        timings_ms=timings or {},
    )
