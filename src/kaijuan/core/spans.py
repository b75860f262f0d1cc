"""Half-open character ranges, and what becomes of them when text is transformed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text, counted in code points."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}..{self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:
        # Without this, an empty span would be false because of __len__, which hides bugs.
        return True

    def of(self, text: str) -> str:
        """Return the characters of `text` that the span covers."""
        return text[self.start : self.end]

    def shift(self, by: int) -> Span:
        """Return the span moved by `by` characters."""
        return Span(self.start + by, self.end + by)

    def contains(self, other: Span) -> bool:
        """Say whether `other` lies wholly inside."""
        return self.start <= other.start and other.end <= self.end

    def meets(self, other: Span) -> bool:
        """Say whether the two share a character: `intersect` for those who need no more."""
        return max(self.start, other.start) < min(self.end, other.end)

    def intersect(self, other: Span) -> Span | None:
        """Return the shared characters, or None when there is not one."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Span(start, end) if start < end else None


def trim(text: str, span: Span) -> Span:
    """Return `span` without the white space at its ends (empty at its start when there is nothing else)."""
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    # Most are trimmed already, and there are many.
    return span if (start, end) == (span.start, span.end) else Span(start, end)


def merge(spans: Iterable[Span], *, gap: int = 0) -> list[Span]:
    """Return the union of `spans` in order; neighbours at most `gap` characters apart become one."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end + gap:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def uncovered(whole: Span, spans: Iterable[Span]) -> list[Span]:
    """Return the parts of `whole` that no span covers."""
    gaps: list[Span] = []
    at = whole.start
    for span in merge(spans):
        if span.start > at and at < whole.end:
            gaps.append(Span(at, min(span.start, whole.end)))
        at = max(at, span.end)
    if at < whole.end:
        gaps.append(Span(at, whole.end))
    return gaps


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """From positions in a transformed text back to the original.

    `origins[i]` is where character i of the result begins in the original and `ends[i]` where it ends; both
    never decrease. Several result characters may share an origin (NFKC turns one ligature into three).
    """

    origins: Sequence[int]
    ends: Sequence[int]

    def back(self, span: Span) -> Span:
        """Return the smallest original span that covers `span` of the result."""
        if span.start == span.end:
            at = self.origins[span.start] if span.start < len(self.origins) else (self.ends[-1] if self.ends else 0)
            return Span(at, at)
        return Span(self.origins[span.start], self.ends[span.end - 1])

    def forward(self, span: Span) -> Span:
        """Return the result span whose characters come from inside `span` of the original."""
        start = bisect_right(self.ends, span.start)
        end = start
        while end < len(self.origins) and self.origins[end] < span.end:
            end += 1
        return Span(start, end)

    def then(self, later: OffsetMap) -> OffsetMap:
        """Return the map of this transformation followed by `later`."""
        return OffsetMap(
            [self.origins[at] for at in later.origins],
            [self.ends[end - 1] if end else 0 for end in later.ends],
        )
