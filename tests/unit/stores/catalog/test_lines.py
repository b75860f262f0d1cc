"""Printed lines survive packing to 0.01 point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.documents import PageBox, TextLine
from kaijuan.core.spans import Span
from kaijuan.stores.catalog.lines import pack_lines, unpack_lines

PLACE = st.integers(-500_000, 2_000_000).map(lambda hundredths: hundredths / 100)


@st.composite
def lines(draw: st.DrawFn) -> TextLine:
    start = draw(st.integers(0, 10_000_000))
    length = draw(st.integers(1, 30))
    x0, y0, x1, y1 = (draw(PLACE) for _ in range(4))
    box = PageBox(page=draw(st.integers(1, 5000)), x0=x0, y0=y0, x1=x1, y1=y1)
    edges = draw(st.one_of(st.just([]), st.lists(PLACE, min_size=length + 1, max_size=length + 1)))
    return TextLine(span=Span(start, start + length), box=box, edges=tuple(sorted(edges)))


@given(st.lists(lines(), max_size=8))
def test_places_in_hundredths_come_back_exactly(given_lines: list[TextLine]) -> None:
    assert list(unpack_lines(pack_lines(given_lines))) == given_lines


def test_finer_places_are_rounded_and_never_drift() -> None:
    edges = tuple(at / 3 for at in range(1000))
    box = PageBox(page=1, x0=1 / 3, y0=2 / 3, x1=1000 / 3, y1=1.0)
    (line,) = unpack_lines(pack_lines([TextLine(span=Span(0, 999), box=box, edges=edges)]))
    assert line.edges == pytest.approx(edges, abs=0.0051)
    assert (line.box.x0, line.box.x1) == pytest.approx((0.33, 333.33))


def test_no_lines_take_no_room() -> None:
    assert pack_lines([]) is None
    assert unpack_lines(None) == ()


def test_a_page_of_text_is_small() -> None:
    box = PageBox(page=3, x0=72, y0=100, x1=500, y1=112)
    page = [
        TextLine(span=Span(at * 80, at * 80 + 80), box=box, edges=tuple(72 + 5.35 * n for n in range(81)))
        for at in range(50)
    ]
    packed = pack_lines(page)
    assert packed is not None
    assert len(packed) < 4000  # one byte a character at most
