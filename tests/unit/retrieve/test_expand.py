"""Found chunks grow to their parents; no character is given to a reader twice; spans stay exact."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.documents import Chunk, ChunkLevel
from kaijuan.core.ids import ChunkId, DocumentId, VersionId
from kaijuan.core.spans import Span
from kaijuan.retrieve.expand import areas
from kaijuan.retrieve.results import Candidate, RouteScore


def chunk(id: str, start: int, end: int, *, version: str = "v", parent: str | None = None) -> Chunk:
    return Chunk(
        id=ChunkId(id),
        version_id=VersionId(version),
        document_id=DocumentId("d"),
        ordinal=0,
        level=ChunkLevel.CHILD,
        span=Span(start, end),
        parent_id=ChunkId(parent) if parent else None,
    )


def candidate(id: str, rank: int) -> Candidate:
    return Candidate(chunk_id=ChunkId(id), routes={}, fused=RouteScore(rank, 1 / rank), relevance=0.5, fate="used")


def test_children_of_one_parent_are_one_area_led_by_the_best() -> None:
    chunks = {c.id: c for c in (chunk("b", 50, 80, parent="p"), chunk("a", 10, 40, parent="p"))}
    parents = {ChunkId("p"): chunk("p", 0, 100)}
    (area,) = areas([candidate("b", 1), candidate("a", 2)], chunks, parents)
    assert (area.span, area.best.chunk_id, area.spans) == (Span(0, 100), "b", [Span(50, 80), Span(10, 40)])


def test_equal_spans_of_two_versions_stay_apart() -> None:
    chunks = {c.id: c for c in (chunk("a", 0, 10, version="v1"), chunk("b", 0, 10, version="v2"))}
    assert len(areas([candidate("a", 1), candidate("b", 2)], chunks, {})) == 2


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), min_size=1, max_size=12))
def test_areas_never_overlap_and_cover_what_was_found(places: list[tuple[int, int]]) -> None:
    chunks = {ChunkId(str(n)): chunk(str(n), at, at + size) for n, (at, size) in enumerate(places)}
    found = areas([candidate(str(n), n + 1) for n in range(len(places))], chunks, {})
    spans = sorted(area.span for area in found)
    assert all(left.end <= right.start for left, right in pairwise(spans))
    for item in chunks.values():
        assert sum(area.span.contains(item.span) for area in found) == 1
    ranks = [area.best.fused.rank for area in found]
    assert ranks == sorted(ranks)
