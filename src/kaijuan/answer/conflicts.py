"""Editions of one rule that say different things: which holds, and what the other says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kaijuan.answer.checking.compare import compare
from kaijuan.answer.extract import Read, Scored, words_of
from kaijuan.answer.named import is_beside
from kaijuan.answer.question import Question
from kaijuan.answer.units import file_name, one_line
from kaijuan.core.ids import DocumentId
from kaijuan.core.text.normalise import normalise
from kaijuan.core.text.values import values_of
from kaijuan.retrieve.results import Passage

SHARED = 0.6
"""Share of the shorter text's words that another edition's has where both rule the same thing."""
_FEWEST = 2
_KEPT = 0.5
"""Share of what an older sentence says of the question that a newer one has where it takes its place."""
_REPLACED = 0.08
"""Share of a newer edition's sentence that stands in the place of other words of the older one."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_EDITION = re.compile(
    r"v?\d+(?:\.\d+)*|[一二三四五六七八九十]+(?=[版稿])|[版稿修订訂第年度()（）\s_-]|\b(?:version|edition|rev)\b"
)
_EFFECTIVE = re.compile(
    r"[^。\n]{0,30}(?:施行|实施|生效|执行|启用)[^。\n]{0,16}"
    r"|(?:effective|in force|takes effect|in effect|applies|valid)(?: date)?:?(?: from| on| as of| since)?[^.\n]{0,30}"
)
_VERSION = re.compile(r"(?:版本|version|\bv)\s*[:：]?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A unit that holds, and the one of an older edition that says otherwise."""

    holds: Read
    outdated: Read


def settle(
    question: Question,
    scored: Sequence[Scored],
    reads: Sequence[Read],
    passages: Sequence[Passage],
    shares: Mapping[DocumentId, float],
) -> tuple[list[Scored], list[Conflict]]:
    """Return the units without those that a newer edition of their document overrules, and what was left out.

    Editions are documents whose titles differ only in year or version. What the question names and the newer one lacks
    (the older one's year, or most of what is asked for) is not overruled by it; `shares` say how much the question
    names each document. `reads` are all units: what an older edition says is told although it is too far from the
    question to be scored.
    """
    conflicts: list[Conflict] = []
    passed_over: set[int] = set()
    for newer, older in _editions(passages):
        if is_beside(shares, older.document_id, newer.document_id):
            passed_over |= _otherwise_in(newer, older, scored, passages)
            continue
        new = [item.read for item in scored if passages[item.read.unit.passage].document_id == newer.document_id]
        for read in reads:
            if passages[read.unit.passage].document_id != older.document_id:
                continue
            asked = [anchor for anchor in question.anchors if read.has(anchor)]
            rivals = (one for one in new if all(one.has(anchor) for anchor in asked))
            rival = next((one for one in rivals if _otherwise(read, one) and _speaks_to(question, one, read)), None)
            if rival is not None:
                conflicts.append(Conflict(holds=rival, outdated=read))
    gone = {id(conflict.outdated) for conflict in conflicts} | passed_over
    return [item for item in scored if id(item.read) not in gone], conflicts


def _speaks_to(question: Question, new: Read, old: Read) -> bool:
    """Say whether a newer unit says, in its own words, at least half of what the older one says of the question.

    One that leaves out who decides, or by when, does not say it otherwise. Titles and headings are the editions' both.
    """
    said, kept = (sum(weight for key, weight in question.weights.items() if read.says(key)) for read in (old, new))
    return kept >= _KEPT * said


def _otherwise_in(newer: Passage, asked: Passage, scored: Sequence[Scored], passages: Sequence[Passage]) -> set[int]:
    """Return the units of a newer edition that say otherwise than the older one that the question names."""

    def units(document: Passage) -> list[Read]:
        return [one.read for one in scored if passages[one.read.unit.passage].document_id == document.document_id]

    named = units(asked)
    return {id(read) for read in units(newer) if any(_otherwise(one, read) for one in named)}


def _editions(passages: Sequence[Passage]) -> Iterator[tuple[Passage, Passage]]:
    """Yield pairs of passages of two editions, the newer first."""
    first = {passage.document_id: passage for passage in reversed(passages)}
    documents = list(first.values())
    for at, one in enumerate(documents):
        for other in documents[at + 1 :]:
            family = _family(one.title)
            if len(family) < _FEWEST or family != _family(other.title):
                continue
            ages = age_of(one, passages).order, age_of(other, passages).order
            if ages[0] != ages[1]:
                yield (one, other) if ages[0] > ages[1] else (other, one)


def _family(title: str) -> str:
    """Return a title without what tells editions apart."""
    return _EDITION.sub("", normalise(title)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Age:
    """What orders editions; 0 stands for what a document does not say."""

    named: int
    """The year in its title or the name of its file."""
    forced: tuple[int, int, int]
    """The day from which it is in force."""
    version: tuple[int, ...]

    @property
    def order(self) -> tuple[int, tuple[int, int, int], tuple[int, ...]]:
        """The year in the title tells most, then the day it came into force, then its version."""
        return self.named, self.forced, self.version

    @property
    def of_rules(self) -> tuple[tuple[int, ...], ...]:
        """What tells which of two rules is newer although their titles are not those of editions."""
        return self.forced if any(self.forced) else (), (self.named,) if self.named else ()


def age_of(document: Passage, passages: Sequence[Passage]) -> Age:
    """Return what a document says of its age: in its title, in the passages found of it, in what is known of it.

    A title without a year is dated by the name of its file: that is where many write it.
    """
    text = normalise("\n".join(one.text for one in passages if one.document_id == document.document_id))[0]
    title = normalise(document.title)[0]
    version = (
        _VERSION.search(title) or _VERSION.search(text) or _VERSION.search(f"v{document.about.get('version', '')}")
    )
    return Age(
        named=max((int(year) for year in _YEAR.findall(title) or _YEAR.findall(file_name(document))), default=0),
        forced=_day(document.about.get("effective_from", "")) or _in_force(text) or (0, 0, 0),
        version=tuple(int(part) for part in version.groups() if part) if version else (),
    )


def _in_force(text: str) -> tuple[int, int, int] | None:
    """Return the first day that a text names beside words for coming into force."""
    for match in _EFFECTIVE.finditer(text):
        if found := _day(match.group()):
            return found
    return None


def _day(text: str) -> tuple[int, int, int] | None:
    days = [day for day in values_of(text).days if day.year]
    if days:
        first = days[0]
        return first.year or 0, first.month or 0, first.day or 0
    year = _YEAR.search(text)
    return (int(year.group()), 0, 0) if year else None


def _otherwise(old: Read, new: Read) -> bool:
    """Say whether two units rule the same thing differently: with other numbers, or other words in the same place."""
    left, right = words_of(old), words_of(new)
    fewest = min(len(left), len(right))
    if fewest < _FEWEST or len(left & right) < SHARED * fewest:
        return False
    if _numbers(old) != _numbers(new):
        return True
    if left == right:
        return False
    compared = compare(one_line(new.unit.quote), [one_line(old.unit.quote)])
    return compared.coverage >= SHARED and compared.replaced >= _REPLACED


def _numbers(read: Read) -> frozenset[str]:
    return frozenset(re.findall(r"\d+(?:\.\d+)?", read.quote))
