"""Printed lines of a block kept small: a long document has millions of characters, each with a place of its own."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

from kaijuan.core.documents import PageBox, TextLine
from kaijuan.core.spans import Span

_SCALE = 100
"""Places are kept to a hundredth of a point, as the catalog keeps them."""
_FIELDS = 8
_FARTHEST = 1e9
"""Of a place, in points: beyond it, in files that are spoiled, all places are this one."""
_MOST_BYTES = 1 << 28
_FAST = 1


@dataclass(frozen=True, slots=True, eq=False)
class PackedLines(Sequence[TextLine]):
    """Lines that are made anew whenever they are walked over: two bytes a character in place of fifteen.

    Equal to every sequence of the same lines. Walk over it; asking for single lines makes all of them each time.
    """

    packed: bytes
    """Compressed 64-bit numbers: eight a line (start, end, page, x0, y0, x1, y1, number of edges), then the steps from
    one edge to the next, places in hundredths of a point."""
    number: int
    shift: int = 0
    """Added to the spans."""

    def __len__(self) -> int:
        return self.number

    def __iter__(self) -> Iterator[TextLine]:
        numbers = _numbers(self.packed)
        heads = self.number * _FIELDS
        edges = [step / _SCALE for step in accumulate(numbers[heads:])]
        at = 0
        for head in range(0, heads, _FIELDS):
            start, end, page, x0, y0, x1, y1, length = numbers[head : head + _FIELDS]
            box = PageBox(page=page, x0=x0 / _SCALE, y0=y0 / _SCALE, x1=x1 / _SCALE, y1=y1 / _SCALE)
            span = Span(start + self.shift, end + self.shift)
            yield TextLine(span=span, box=box, edges=tuple(edges[at : at + length]))
            at += length

    @overload
    def __getitem__(self, at: int) -> TextLine: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[TextLine]: ...
    def __getitem__(self, at: int | slice) -> TextLine | Sequence[TextLine]:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and len(self) == len(other)
            and all(a == b for a, b in zip(self, other, strict=True))
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def check(self) -> None:
        """Raise ValueError when the bytes, which came from elsewhere, hold no lines of this number."""
        numbers = _numbers(self.packed)
        heads = self.number * _FIELDS
        lengths = numbers[_FIELDS - 1 : heads : _FIELDS]
        if self.number < 1 or len(lengths) != self.number or min(lengths) < 0 or sum(lengths) != len(numbers) - heads:
            raise ValueError("lines that break off")
        for start, end in zip(numbers[0:heads:_FIELDS], numbers[1:heads:_FIELDS], strict=True):
            Span(start + self.shift, end + self.shift)


def packed(lines: Iterable[TextLine], shift: int = 0) -> Sequence[TextLine]:
    """Return lines kept small, their spans moved by `shift` characters."""
    heads, edges = array("q"), array("q")
    count = before = 0
    for line in lines:
        box = line.box
        heads.extend((line.span.start, line.span.end, box.page))
        heads.extend(_whole(place) for place in (box.x0, box.y0, box.x1, box.y1))
        heads.append(len(line.edges))
        for edge in line.edges:
            place = _whole(edge)
            edges.append(place - before)
            before = place
        count += 1
    return PackedLines(zlib.compress(heads.tobytes() + edges.tobytes(), _FAST), count, shift) if count else ()


def _whole(place: float) -> int:
    # In this order, what is no number becomes the least.
    return round(min(_FARTHEST, max(-_FARTHEST, place)) * _SCALE)


def _numbers(packed: bytes) -> array[int]:
    opened = zlib.decompressobj()
    try:
        data = opened.decompress(packed, _MOST_BYTES)
    except zlib.error as error:
        raise ValueError(f"lines that are damaged: {error}") from error
    if not opened.eof:
        raise ValueError("lines that break off or are too many")
    return array("q", data)
