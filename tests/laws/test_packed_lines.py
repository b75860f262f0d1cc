"""Lines that are kept small are the lines that were given, to a hundredth of a point."""

from __future__ import annotations

import sys
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.documents import PageBox, TextLine
from kaijuan.core.packed_lines import PackedLines, packed
from kaijuan.core.spans import Span

HUNDREDTHS = st.integers(-200, 500_000)


@st.composite
def lines(draw: st.DrawFn) -> TextLine:
    """Draw a printed line, with or without places of its characters."""
    start, length = draw(st.integers(0, 10_000_000)), draw(st.integers(1, 60))
    x0, y0, x1, y1 = (place / 100 for place in draw(st.tuples(HUNDREDTHS, HUNDREDTHS, HUNDREDTHS, HUNDREDTHS)))
    steps = draw(st.lists(st.integers(0, 3_000), min_size=length, max_size=length))
    edges = tuple(place / 100 for place in accumulate(steps, initial=draw(HUNDREDTHS)))
    return TextLine(
        span=Span(start, start + length),
        box=PageBox(page=draw(st.integers(1, 20_000)), x0=x0, y0=y0, x1=x1, y1=y1),
        edges=edges if draw(st.booleans()) else (),
    )


@given(st.lists(lines(), max_size=8), st.integers(0, 1_000_000))
def test_what_was_packed_comes_out_and_spans_are_moved(given_lines: list[TextLine], shift: int) -> None:
    small = packed(given_lines, shift)
    moved = [TextLine(span=line.span.shift(shift), box=line.box, edges=line.edges) for line in given_lines]
    assert list(small) == moved
    assert small == tuple(moved)
    assert tuple(moved) == small
    assert len(small) == len(moved)
    assert bool(small) == bool(moved)
    if moved:
        assert small[0] == moved[0]
        assert small[-1:] == tuple(moved[-1:])
        assert hash(small) == hash(tuple(moved))
        assert small != tuple(moved[:-1])


@given(st.lists(lines(), min_size=1, max_size=4), st.data())
def test_what_is_damaged_is_told(given_lines: list[TextLine], data: st.DataObject) -> None:
    small = packed(given_lines)
    assert isinstance(small, PackedLines)
    small.check()
    cut = data.draw(st.integers(0, len(small.packed) - 1))
    for damaged in (
        PackedLines(small.packed[:cut], small.number),
        PackedLines(small.packed, small.number + data.draw(st.integers(1, 9))),
        PackedLines(small.packed, 0),
        PackedLines(small.packed, small.number, -20_000_000),
    ):
        with pytest.raises(ValueError, match=r"break off|damaged|not a span"):
            damaged.check()


@pytest.mark.parametrize("place", [float("nan"), float("inf"), float("-inf"), 1e300])
def test_places_that_are_none_do_not_end_the_reading(place: float) -> None:
    box = PageBox(page=1, x0=place, y0=place, x1=place, y1=place)
    (line,) = packed([TextLine(span=Span(0, 1), box=box, edges=(place, place))])
    assert abs(line.box.x0) == abs(line.edges[1]) == 1e9


def test_a_printed_page_takes_a_few_bytes_a_character() -> None:
    page = [
        TextLine(
            span=Span(80 * at, 80 * at + 80),
            box=PageBox(page=1, x0=72.0, y0=14.0 * at, x1=540.0, y1=14.0 * at + 10),
            edges=tuple(72 + 5.2 * place + 0.1 * (place * place % 7) for place in range(81)),
        )
        for at in range(50)
    ]
    small = packed(page)
    assert isinstance(small, PackedLines)
    assert sys.getsizeof(small.packed) + sys.getsizeof(small) < 3 * 80 * 50
