"""A model's reply as it arrives, told apart into words to show, finished sentences with their numbers, and signals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from kaijuan.answer.markers import Markers, Marks, Part, Text
from kaijuan.core.spans import Span
from kaijuan.core.text.sentences import sentences

NOT_FOUND, MISSING = "NOT_FOUND", "MISSING:"
_LEAD_IN = re.compile(r"(?:[:：]|^\s*#{1,6}\s.*|^\s*\*\*[^*]+\*\*)\s*\Z")
_MARKUP = "\"'`*_#>-。.!！：: \t\n"
_LONGEST_MISSING = 300
_DECIDED_BY = 40
"""Characters from which a reply that has not said that it found nothing, has not."""
_DENIALS = re.compile(
    r"(?:没有|沒有|未能?|并未|並未|无法|無法|不能|找不到)(?:在|从|從)?[^，。；]{0,20}?"
    r"(?:提到|提及|说明|說明|记载|記載|找到|包含|涉及|给出|給出|回答|确定|確定|得知|信息|資訊|答案)"
    r"|\b(?:do(?:es)?|did|is|are|was|were|could|can)(?:\s+not|n't|not)\s+(?:\w+\s+){0,3}?"
    r"(?:mention|state|say|provide|contain|include|specify|give|found|find|answer|determine|available|know)"
    r"|\bno (?:information|mention|answer|details?|data)\b"
    r"|\b(?:cannot|can't|unable to) (?:\w+ )?(?:answer|determine|find|say)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A sentence as the model wrote it, and the numbers of the documents that it names for it."""

    text: str
    numbers: tuple[int, ...]
    before: str = ""
    """Blanks between it and the sentence before."""
    whole: bool = True
    """False where the reply ended in its middle."""


@dataclass(slots=True)
class Taken:
    """What a piece of the reply brought."""

    words: str = ""
    sentences: list[Raw] = field(default_factory=list)


class Draft:
    """Takes a reply in pieces of any size; the sentences do not depend on how it is cut.

    Nothing is shown before it is sure that the reply is not the word for "nothing found". A line that says what is
    missing, and what follows it, is kept apart in `missing`.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._markers = Markers(known)
        self._opening: str | None = ""
        self._plain = ""
        self._marks: list[tuple[int, tuple[int, ...]]] = []
        self._done = 0
        self._lead = ""
        self._gap = ""
        self.found_nothing = False
        self.missing = ""

    @property
    def unknown(self) -> Counter[int]:
        """How often the model named each number that no document has."""
        return self._markers.unknown

    @property
    def text(self) -> str:
        """All words so far, without markers."""
        return self._plain

    def take(self, text: str) -> Taken:
        """Return what is new by now."""
        return self._taken(self._markers.take(text), last=False)

    def end(self, *, whole: bool = True) -> Taken:
        """Return what was held back. `whole` says that the reply came to its end and was not cut."""
        taken = self._taken(self._markers.end(), last=True)
        if not whole and taken.sentences and not _ended(taken.sentences[-1].text):
            cut = taken.sentences[-1]
            taken.sentences[-1] = Raw(text=cut.text, numbers=cut.numbers, before=cut.before, whole=False)
        return taken

    def _taken(self, parts: list[Part], *, last: bool) -> Taken:
        taken = Taken()
        for part in parts:
            if isinstance(part, Marks):
                self._marks.append((len(self._plain), part.numbers))
            else:
                taken.words += self._opened(part, last=False)
        if last:
            taken.words += self._opened(Text(""), last=True)
        if not self.found_nothing:
            taken.sentences = list(self._closed(last=last))
        return taken

    def _opened(self, part: Text, *, last: bool) -> str:
        """Add words and return those to show; the first ones wait until it is known what they say."""
        if self.found_nothing:
            return ""
        if self._opening is None:
            return self._added(part.text)
        self._opening += part.text
        start = self._opening.lstrip(_MARKUP)
        if start.startswith(NOT_FOUND):
            self.found_nothing = True
            return ""
        if NOT_FOUND.startswith(start[: len(NOT_FOUND)]) and len(self._opening) < _DECIDED_BY and not last:
            return ""
        held, self._opening = self._opening, None
        return self._added(held.lstrip())

    def _added(self, words: str) -> str:
        # Marks of before the first words stand at 0, and belong to no sentence.
        self._plain += words
        return words

    def _closed(self, *, last: bool) -> Iterator[Raw]:
        """Yield the sentences that are finished: those after which another one has begun."""
        spans = list(_spans(self._plain[self._done :]))
        start = self._done
        for at, span in enumerate(spans):
            if at == len(spans) - 1 and not last:
                break
            following = start + (spans[at + 1].start if at + 1 < len(spans) else len(self._plain) - start)
            yield from self._sentence(start + span.start, start + span.end, following)
            self._done = start + span.end
        if last and self._lead:
            yield Raw(text=self._lead, numbers=(), before=self._gap)
            self._lead = ""

    def _sentence(self, start: int, end: int, following: int) -> Iterator[Raw]:
        text = self._plain[start:end]
        gap = self._plain[self._done : start]
        mine = [place for place in self._marks if start < place[0] <= following]
        self._marks = [place for place in self._marks if place[0] > following]
        numbers = tuple(dict.fromkeys(number for _, found in mine for number in found))
        text, signal, lacks = text.partition(MISSING)
        if self.missing or signal:
            self.missing = f"{self.missing} {lacks if signal else text}".strip(" *_")[:_LONGEST_MISSING]
            if not signal or not text.strip(_MARKUP):
                return
        if text.strip(_MARKUP).startswith(NOT_FOUND):
            self.missing = self.missing or NOT_FOUND
            return
        if self._lead:
            text, gap = f"{self._lead}{gap}{text}", self._gap
        announces = not numbers and (_LEAD_IN.search(text) is not None or not any(map(str.isalnum, text)))
        if announces:
            self._lead, self._gap = text, gap
            return
        self._lead = ""
        yield Raw(text=text, numbers=numbers, before=gap)


def _spans(text: str) -> Iterator[Span]:
    """Yield the sentences of a text in which every line break is meant."""
    at = 0
    for line in text.split("\n"):
        yield from (span.shift(at) for span in sentences(line))
        at += len(line) + 1


def denies(text: str) -> bool:
    """Say whether a reply says in its own words that the documents do not hold the answer."""
    return _DENIALS.search(text) is not None


def _ended(text: str) -> bool:
    return text.rstrip().endswith(tuple("。！？!?.…；;”’」』)）`|*"))
