"""Citation markers in text that a model writes: [1], 【1】, （1）, [1,2], [1-3], taken out while it is still streaming.

No half marker and no marker of an unknown number is ever part of the text that comes out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

LONGEST = 40
"""Characters between the brackets of the longest marker."""
_MOST_IN_RANGE = 20
_NAMES = r"(?:来源|來源|文档|文檔|文件|资料|資料|引用|参考|參考|sources?|documents?|docs?|refs?)"
_NUMBER = rf"(?:{_NAMES}\s*)?[#^]?\s*\d{{1,3}}(?!\d)"
_JOINT = r"\s*(?:[,，、;；]|-|–|—|~|～|至|到|to|and|和|及|与)?\s*"
_INSIDE = rf"\s*(?:{_NAMES}\s*[:：]?\s*)?{_NUMBER}(?:{_JOINT}{_NUMBER})*\s*"
_MARKER = re.compile(
    rf"(?P<square>\[{{1,2}}{_INSIDE}\]{{1,2}})|(?P<black>【{_INSIDE}】)|(?P<round>（{_INSIDE}）|\({_INSIDE}\))",
    re.IGNORECASE,
)
_BEGUN = re.compile(
    r"(?:\[{1,2}|【|（|\()[\s\d,，、;；:：#^~～–—\-来源來文档檔件资料資引用参考參至到和及与a-z]*\]?", re.IGNORECASE
)
"""How a marker may begin whose end has not come yet."""
_PARTS = re.compile(r"(\d{1,3})(?:\s*(?:-|–|—|~|～|至|到|\bto\b)\s*[#^]?\s*(\d{1,3}))?", re.IGNORECASE)
_SPECIAL = re.compile(r"[\[【（(`\s]")
_NAMED = re.compile(_NAMES, re.IGNORECASE)
_CLOSES = frozenset(" \t\n。，；！？、.,;!?:：[【（(”’\"'）)")
"""What may follow a number in round brackets that is a marker: after a numbered item its text follows."""
_OPENS = frozenset("\n：:；;，,、(（")
"""What stands before a numbered item in round brackets."""


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the reply."""

    text: str


@dataclass(frozen=True, slots=True)
class Marks:
    """Numbers of documents that the words before rest on, all of them known."""

    numbers: tuple[int, ...]


Part = Text | Marks


class Markers:
    """Takes a reply in pieces of any size. However it is cut, the joined words and the marks are the same.

    `unknown` counts numbers that belong to no document; `seen` says whether any marker came.
    """

    def __init__(self, known: Collection[int]) -> None:
        self._known = frozenset(known)
        self._held = ""
        self._before = "\n"
        self._code = ""
        self.unknown: Counter[int] = Counter()
        self.seen = False

    def take(self, text: str) -> list[Part]:
        """Return what is sure by now."""
        self._held += text
        return list(self._parts(last=False))

    def end(self) -> list[Part]:
        """Return what was held back."""
        return list(self._parts(last=True))

    def _parts(self, *, last: bool) -> Iterator[Part]:
        at, text = 0, self._held
        while at < len(text):
            if self._code or text[at] == "`":
                step = self._code_step(text, at, last=last)
                if step is None:
                    break
                yield from self._words(text[at : at + step])
                at += step
                continue
            found = _SPECIAL.search(text, at)
            if found is None or found.start() > at:
                stop = found.start() if found else len(text)
                yield from self._words(text[at:stop])
                at = stop
                continue
            decided = self._marker(text, at, last=last)
            if decided is None:
                break
            words, numbers, at = decided
            yield from self._words(words)
            if numbers is not None:
                yield from self._marks(numbers)
        self._held = text[at:]

    def _words(self, words: str) -> Iterator[Part]:
        if words:
            self._before = words[-1]
            yield Text(words)

    def _marks(self, numbers: list[int]) -> Iterator[Part]:
        self.seen = True
        for number in numbers:
            if number not in self._known:
                self.unknown[number] += 1
        known = tuple(dict.fromkeys(number for number in numbers if number in self._known))
        if known:
            yield Marks(known)

    def _code_step(self, text: str, at: int, *, last: bool) -> int | None:
        """Return how many characters of code, or of its marks, are sure; None where more must come."""
        run = len(text[at:]) - len(text[at:].lstrip("`"))
        if run:
            if at + run == len(text) and not last:
                return None
            mark = "```" if run >= 3 else "`" * run
            if not self._code:
                self._code = mark
            elif (self._code == "```") == (run >= 3) and (run >= 3 or len(self._code) == run):
                self._code = ""
            return run
        if self._code != "```" and text[at] == "\n":
            self._code = ""  # code within a line ends with it
            return 1
        stop = next((place for place in range(at, len(text)) if text[place] in "`\n"), len(text))
        return max(stop - at, 1)

    def _marker(self, text: str, at: int, *, last: bool) -> tuple[str, list[int] | None, int] | None:
        """Decide about blanks or a bracket at `at`: the words there, the numbers, and where to go on; None to wait."""
        blank = at
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return (text[blank:], None, at) if last else None
        blanks = text[blank:at]
        if text[at] not in "[【（(":
            return blanks, None, at
        return self._bracket(text, at, blanks, last=last)

    def _bracket(self, text: str, at: int, blanks: str, *, last: bool) -> tuple[str, list[int] | None, int] | None:
        """Decide about the bracket at `at`, which has these blanks before it; as `_marker`."""
        found = _MARKER.match(text, at)
        if found is not None and len(found.group()) <= LONGEST + 4:
            if not last and found.end() == len(text):
                return None  # a second bracket, or what tells a number from a marker, may follow
            if found.group("round") is None or self._cites(found.group(), blanks, text[found.end() : found.end() + 1]):
                kept = blanks if "\n" in blanks else ""
                return kept, _numbers(found.group()), found.end()
            return blanks + found.group(), None, found.end()
        begun = _BEGUN.match(text, at)
        waiting = begun is not None and begun.end() == len(text) and len(text) - at <= LONGEST + 4
        return None if waiting and not last else (blanks + text[at], None, at + 1)

    def _cites(self, marker: str, blanks: str, after: str) -> bool:
        """Say whether a number in round brackets is a marker and not the number of an item."""
        if _NAMED.search(marker):
            return True
        if marker.startswith("("):
            return False
        before = blanks[-1:] if "\n" in blanks else self._before
        return before not in _OPENS and (not after or after in _CLOSES)


def _numbers(marker: str) -> list[int]:
    numbers: list[int] = []
    for part in _PARTS.finditer(marker):
        first = int(part[1])
        until = int(part[2]) if part[2] else first
        numbers.extend(range(first, until + 1) if first <= until < first + _MOST_IN_RANGE else (first, until))
    return numbers
