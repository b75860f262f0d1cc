"""Laws of spans: union, complement, trimming and the way back through transformations."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core.spans import OffsetMap, Span, merge, trim, uncovered

spans = st.builds(lambda start, length: Span(start, start + length), st.integers(0, 60), st.integers(0, 20))
many = st.lists(spans, max_size=12)


def positions(found: list[Span]) -> set[int]:
    return {at for span in found for at in range(span.start, span.end)}


@st.composite
def maps(draw: st.DrawFn, length: int | None = None) -> tuple[OffsetMap, int]:
    """A transformation that keeps, drops, joins and splits characters, and the length of its original."""
    size = draw(st.integers(0, 30)) if length is None else length
    origins: list[int] = []
    ends: list[int] = []
    at = 0
    while at < size:
        taken = draw(st.integers(1, min(3, size - at)))
        made = draw(st.integers(0, 3))
        origins += [at] * made
        ends += [at + taken] * made
        at += taken
    return OffsetMap(origins, ends), size


@given(many)
@settings(deadline=None)
def test_merging_keeps_every_position_and_nothing_else(found: list[Span]) -> None:
    assert positions(merge(found)) == positions(found)


@given(many, st.integers(0, 5))
@settings(deadline=None)
def test_merged_spans_are_ordered_apart_and_stay_as_they_are(found: list[Span], gap: int) -> None:
    merged = merge(found, gap=gap)
    assert all(left.end + gap < right.start for left, right in pairwise(merged))
    assert merge(merged, gap=gap) == merged
    assert merge(reversed(found), gap=gap) == merged


@given(spans, many)
@settings(deadline=None)
def test_what_is_uncovered_is_the_rest(whole: Span, found: list[Span]) -> None:
    gaps = uncovered(whole, found)
    assert positions(gaps) == positions([whole]) - positions(found)
    assert all(len(gap) for gap in gaps)


@given(spans, spans)
@settings(deadline=None)
def test_intersection_is_what_both_hold(left: Span, right: Span) -> None:
    shared = left.intersect(right)
    assert positions([shared] if shared else []) == positions([left]) & positions([right])
    assert shared == right.intersect(left)
    assert shared is None or (left.contains(shared) and right.contains(shared))


@given(st.text(alphabet=" \n\u3000ab中", max_size=20), st.data())
@settings(deadline=None)
def test_trimming_takes_white_space_from_the_ends_only(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start, len(text))))
    trimmed = trim(text, span)
    assert trimmed.of(text) == span.of(text).strip()
    assert span.contains(trimmed)
    assert trim(text, trimmed) == trimmed


@given(maps(), st.data())
@settings(deadline=None)
def test_the_way_back_covers_what_each_character_came_from(made: tuple[OffsetMap, int], data: st.DataObject) -> None:
    offsets, size = made
    length = len(offsets.origins)
    start = data.draw(st.integers(0, length))
    span = Span(start, data.draw(st.integers(start, length)))
    back = offsets.back(span)
    assert back.end <= size
    for at in range(span.start, span.end):
        assert back.contains(Span(offsets.origins[at], offsets.ends[at]))


@given(maps(), st.data())
@settings(deadline=None)
def test_forward_finds_all_that_came_from_inside(made: tuple[OffsetMap, int], data: st.DataObject) -> None:
    offsets, size = made
    start = data.draw(st.integers(0, size))
    span = Span(start, data.draw(st.integers(start, size)))
    forward = offsets.forward(span)
    touching = {
        at for at in range(len(offsets.origins)) if offsets.origins[at] < span.end and offsets.ends[at] > span.start
    }
    assert set(range(forward.start, forward.end)) == touching


@given(st.data())
@settings(deadline=None)
def test_two_steps_back_are_one_step_of_both(data: st.DataObject) -> None:
    first, _ = data.draw(maps())
    second, _ = data.draw(maps(length=len(first.origins)))
    both = first.then(second)
    length = len(second.origins)
    start = data.draw(st.integers(0, length))
    span = Span(start, data.draw(st.integers(start, length)))
    if span.start < span.end:
        assert both.back(span) == first.back(second.back(span))


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 2)])
def test_what_is_no_range_is_no_span(start: int, end: int) -> None:
    with pytest.raises(ValueError, match="not a span"):
        Span(start, end)


def test_an_empty_span_is_still_something() -> None:
    assert Span(3, 3)
    assert len(Span(3, 3)) == 0
