"""Editions of one rule that say different things: which holds, and what the other says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from kaijuan.answer.extract import Read, Scored
from kaijuan.answer.question import Question
from kaijuan.core.text.normalise import normalise
from kaijuan.core.text.values import values_of
from kaijuan.retrieve.results import Passage

SHARED = 0.6
"""Share of the shorter text's words that another edition's has where both rule the same thing."""
_FEWEST = 2
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
    question: Question, scored: Sequence[Scored], passages: Sequence[Passage]
) -> tuple[list[Scored], list[Conflict]]:
    """Return the units without those that a newer edition of their document overrules, and what was left out.

    Editions are documents whose titles differ only in year or version. What the question names and the newer one lacks
    (the older one's year) is not overruled by it.
    """
    conflicts: list[Conflict] = []
    for newer, older in _editions(passages):
        new = [item for item in scored if passages[item.read.unit.passage].document_id == newer.document_id]
        old = [item for item in scored if passages[item.read.unit.passage].document_id == older.document_id]
        for item in old:
            asked = [anchor for anchor in question.anchors if item.read.has(anchor)]
            rivals = (one for one in new if all(one.read.has(anchor) for anchor in asked))
            rival = next((one for one in rivals if _otherwise(item.read, one.read)), None)
            if rival is not None:
                conflicts.append(Conflict(holds=rival.read, outdated=item.read))
    gone = {id(conflict.outdated) for conflict in conflicts}
    return [item for item in scored if id(item.read) not in gone], conflicts


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


def file_name(document: Passage) -> str:
    """Return the last part of a document's address, as people write it."""
    return unquote(re.split(r"[/#]", document.source.rstrip("/#"))[-1])


def _otherwise(old: Read, new: Read) -> bool:
    """Say whether two units rule the same thing with different numbers."""
    if _numbers(old) == _numbers(new):
        return False
    left, right = _words(old), _words(new)
    fewest = min(len(left), len(right))
    return fewest >= _FEWEST and len(left & right) >= SHARED * fewest


def _numbers(read: Read) -> frozenset[str]:
    return frozenset(re.findall(r"\d+(?:\.\d+)?", read.quote))


def _words(read: Read) -> frozenset[str]:
    return frozenset(key for key in read.terms if key[0] not in "~+#=<@" and not any(map(str.isdigit, key)))
