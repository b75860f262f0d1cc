"""Documents that give different values for the same thing of the same thing: found, settled, or shown side by side.

Editions of one document are conflicts.py's. Here any two documents may disagree: a sentence of the one is laid along a
sentence of the other, and what differs is a number, date, name or denial where all else agrees (spec H1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.answer.checking.claims import Fault, FaultKind
from kaijuan.answer.checking.compare import compare
from kaijuan.answer.conflicts import age_of
from kaijuan.answer.extract import Read, Scored
from kaijuan.answer.question import Question
from kaijuan.answer.units import one_line
from kaijuan.answer.wanted import ValueKind
from kaijuan.core.documents import BlockKind
from kaijuan.core.text.normalise import folded
from kaijuan.retrieve.results import Passage

MOST_RIVALS = 12
"""Units that one chosen unit is compared with, best first."""
NEAR = 0.55
"""Share of the best unit's score from which another may be its rival."""
ALIKE = 0.55
"""Share of a rival's content that the chosen unit must have, besides the value: less is about something else."""
_MOST = 2
"""Rivals shown beside one sentence."""
_BY_VALUE: Mapping[ValueKind | None, frozenset[FaultKind]] = {
    ValueKind.TIME: frozenset({FaultKind.DATE, FaultKind.NUMBER}),
    ValueKind.NUMBER: frozenset({FaultKind.NUMBER, FaultKind.DATE}),
    ValueKind.PRICE: frozenset({FaultKind.NUMBER}),
    ValueKind.COUNT: frozenset({FaultKind.NUMBER}),
    ValueKind.MARK: frozenset({FaultKind.NUMBER, FaultKind.NAME}),
    None: frozenset({FaultKind.NUMBER, FaultKind.DATE, FaultKind.NAME, FaultKind.NEGATION}),
}
_WORDS = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE, BlockKind.TABLE})


class Cause(StrEnum):
    """Why documents differ, as far as can be told."""

    TIME = "time"
    """One is newer; it is followed."""
    STANDING = "standing"
    """One is expired or superseded; the other is followed."""
    UNKNOWN = "unknown"
    """An error in one of them, or different things of one name; both are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Two units that differ in one value. Where the cause is known, `holds` is followed."""

    cause: Cause
    holds: Scored
    other: Scored
    fault: Fault


def disagreements(
    question: Question, chosen: Sequence[Scored], scored: Sequence[Scored], passages: Sequence[Passage]
) -> list[Disagreement]:
    """Return what other documents say otherwise than the chosen units, best first; each document speaks once."""
    found: list[Disagreement] = []
    taken = {id(item.read) for item in chosen}
    ranked = sorted(scored, key=lambda item: -item.score)
    for item in chosen[:1]:
        heard = {_document(item.read, passages)}
        rivals = [one for one in ranked if id(one.read) not in taken and one.score >= NEAR * item.score]
        for rival in rivals[:MOST_RIVALS]:
            document = _document(rival.read, passages)
            if document in heard or rival.read.unit.kind not in _WORDS:
                continue
            fault = _differs(question, item.read, rival.read)
            if fault is None:
                continue
            heard.add(document)
            found.append(_settled(item, rival, fault, passages))
            if len(found) >= _MOST:
                break
    return found


def _document(read: Read, passages: Sequence[Passage]) -> str:
    return passages[read.unit.passage].document_id


def _differs(question: Question, one: Read, other: Read) -> Fault | None:
    """Return how two units differ, if in a value of the kind asked for and in nothing else that is exact."""
    texts = one_line(one.unit.quote), one_line(other.unit.quote)
    # The one that says less is laid along the other, which may add conditions.
    compared = max((compare(texts[at], [texts[1 - at]]) for at in (1, 0)), key=lambda found: found.coverage)
    if compared.foreign or compared.coverage < ALIKE:
        return None
    wanted = _BY_VALUE[question.wants.kind if question.wants else None]
    asked = folded(question.text)
    told = [fault for fault in compared.faults if fault.kind in wanted and _both_say(fault)]
    names = [fault for fault in compared.faults if fault.kind is FaultKind.NAME]
    if not told or (names and told[0].kind is not FaultKind.NAME):
        return None  # another city with another limit is another scope
    distinct = [fault for fault in told if not any(_in(word, asked) for word in (fault.detail, fault.said))]
    return distinct[0] if distinct else None


def _both_say(fault: Fault) -> bool:
    return fault.kind is FaultKind.NEGATION or bool(fault.said)


def _in(word: str, asked: str) -> bool:
    return bool(word) and folded(word) in asked


def _settled(item: Scored, rival: Scored, fault: Fault, passages: Sequence[Passage]) -> Disagreement:
    one, other = passages[item.read.unit.passage], passages[rival.read.unit.passage]
    if bool(one.validity) != bool(other.validity):
        holds, gone = (rival, item) if one.validity else (item, rival)
        return Disagreement(cause=Cause.STANDING, holds=holds, other=gone, fault=fault)
    newer = _newer(one, other, passages)
    if newer is not None:
        holds, gone = (item, rival) if newer is one else (rival, item)
        return Disagreement(cause=Cause.TIME, holds=holds, other=gone, fault=fault)
    return Disagreement(cause=Cause.UNKNOWN, holds=item, other=rival, fault=fault)


def _newer(one: Passage, other: Passage, passages: Sequence[Passage]) -> Passage | None:
    """Return the newer of two documents where both say since when they are in force, or of which year they are."""
    for mine, theirs in zip(age_of(one, passages).of_rules, age_of(other, passages).of_rules, strict=True):
        if mine and theirs and mine != theirs:
            return one if mine > theirs else other
    return None


def shown_beside(found: Sequence[Disagreement]) -> Iterator[Scored]:
    """Yield the units that must be shown beside the chosen ones, because nothing tells which is right."""
    yield from (one.other for one in found if one.cause is Cause.UNKNOWN)
