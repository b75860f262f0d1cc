"""Token counts of any span of a text by bisection, after one call of the tokenizer; and safe places to cut."""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kaijuan.core.spans import Span
from kaijuan.ingest.ports import Tokenizer, spans_of_each

if TYPE_CHECKING:  # loading numpy takes a tenth of a second, which `import kaijuan` must not cost
    import numpy as np
    import numpy.typing as npt

_LOOK_BACK = 32
_FLAG_LOOK_BACK = 4096
"""Flags are pairs of letters, so that which letters belong together is known only from where their row begins."""
_WITHIN_NUMBERS = frozenset(",.:，．：")
_ZERO_WIDTH_JOINER = "\u200d"


@runtime_checkable
class _Rows(Protocol):
    """Spans kept as two rows of 64-bit numbers."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


class Foreseen:
    """A tokenizer with the tokens of some texts found beforehand; the others it finds when it is asked."""

    def __init__(self, tokenizer: Tokenizer, texts: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._known = dict(zip(texts, spans_of_each(tokenizer, texts), strict=True))

    def token_spans(self, text: str) -> Sequence[Span]:
        """Return the span of each token."""
        known = self._known.get(text)
        return self._tokenizer.token_spans(text) if known is None else known


class Ruler:
    """Counts the tokens of spans inside one window of a text. Positions count in the whole text."""

    def __init__(self, text: str, window: Span, tokenizer: Tokenizer) -> None:
        spans = tokenizer.token_spans(window.of(text))
        if isinstance(spans, _Rows):
            # As the onboard tokenizer has them: no object for each token, which took as long as finding it.
            self._starts = array("q", (spans.starts + window.start).tobytes())
            self._ends = array("q", (spans.ends + window.start).tobytes())
        else:
            self._starts = array("q", (span.start + window.start for span in spans))
            self._ends = array("q", (span.end + window.start for span in spans))

    def count(self, start: int, end: int) -> int:
        """Return how many tokens have a character in `start` to `end`; a token on the border counts on both sides."""
        first, stop = self.place(start, end)
        return max(0, stop - first)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the first of these tokens and the one after the last, by which spans are measured without looking
        them up again."""
        starts, ends = self._starts, self._ends
        first = bisect_left(starts, start)
        while first > 0 and ends[first - 1] > start:
            first -= 1
        return first, bisect_left(starts, end, first)

    def after(self, start: int, tokens: int) -> int | None:
        """Return the first position with at least `tokens` tokens between it and `start`, or None past the end."""
        at = self._first(start) + tokens
        return self._starts[at] if at < len(self._starts) else None

    def before(self, end: int, tokens: int) -> int:
        """Return the earliest token start with at most `tokens` tokens between it and `end`."""
        stop = bisect_left(self._starts, end)
        if tokens <= 0 or stop == 0:
            return end
        start = self._starts[max(0, stop - tokens)]
        # Several tokens may share one character (byte fallback); all of them or none.
        while self.count(start, end) > tokens:
            at = bisect_right(self._starts, start)
            if at >= stop:
                return end
            start = self._starts[at]
        return start

    def _first(self, start: int) -> int:
        at = bisect_left(self._starts, start)
        while at > 0 and self._ends[at - 1] > start:
            at -= 1
        return at


class Rulers:
    """Rulers for spans that follow each other: one for as many as a window holds, since a call of the tokenizer costs
    more than what it does for a short text."""

    def __init__(self, text: str, spans: Sequence[Span], tokenizer: Tokenizer, limit: int) -> None:
        self._text, self._spans, self._tokenizer, self._limit = text, spans, tokenizer, limit
        self._next = 0
        self._end = -1
        self._ruler: Ruler | None = None

    def over(self, span: Span) -> Ruler:
        """Return a ruler over the next of the spans."""
        if self._ruler is None or span.end > self._end:
            while self._spans[self._next].end <= span.start:
                self._next += 1
            at = self._next
            while at + 1 < len(self._spans) and self._spans[at + 1].end - span.start <= self._limit:
                at += 1
            self._end = max(span.end, self._spans[at].end)
            self._ruler = Ruler(self._text, Span(span.start, self._end), self._tokenizer)
        return self._ruler


def safe_cut(text: str, at: int, floor: int) -> int:
    """Move a cut back so that it does not part a base character from its marks, joiners or surrogate half.

    Looks back at most 32 characters and never to `floor` or below; a longer cluster is cut where asked.
    """
    best = at
    while best > max(floor, at - _LOOK_BACK) and _joins(text, best):
        best -= 1
    return best if best > max(floor, at - _LOOK_BACK) else at


def before_number(text: str, at: int, floor: int) -> int:
    """Move a cut inside a number (1,497|,216) back to its first digit, as far as `safe_cut` would go."""
    best = at
    while best > max(floor, at - _LOOK_BACK) and in_number(text, best):
        best -= 1
    return best if best > max(floor, at - _LOOK_BACK) else at


def after_number(text: str, at: int) -> int:
    """Move a cut inside a number forward to its end, by at most 32 characters."""
    end = at
    while end < at + _LOOK_BACK and in_number(text, end):
        end += 1
    return end


def in_number(text: str, at: int) -> bool:
    """Say whether a place lies between digits, or beside a comma, point or colon that stands between digits."""
    if not 0 < at < len(text):
        return False
    if text[at].isdecimal():
        return text[at - 1].isdecimal() or (text[at - 1] in _WITHIN_NUMBERS and text[max(0, at - 2)].isdecimal())
    return text[at] in _WITHIN_NUMBERS and text[at - 1].isdecimal() and text[at + 1 : at + 2].isdecimal()


def _joins(text: str, at: int) -> bool:
    """Say whether the characters on both sides of `at` belong to one cluster (the common part of UAX 29)."""
    if not 0 < at < len(text):
        return False
    left, right = text[at - 1], text[at]
    if right < "\u0300":
        return left == "\r" and right == "\n"
    if _ZERO_WIDTH_JOINER in (left, right) or "\U0001f3fb" <= right <= "\U0001f3ff":
        return True
    if "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff":
        return True
    if _is_flag_letter(left) and _is_flag_letter(right):
        return _flag_letters_before(text, at) % 2 == 1
    return unicodedata.category(right) in ("Mn", "Me", "Mc")


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while count < _FLAG_LOOK_BACK and at - count > 0 and _is_flag_letter(text[at - count - 1]):
        count += 1
    return count
