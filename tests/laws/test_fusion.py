"""Laws of fusion: deterministic, complete, monotone, and tied by id."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId
from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import FUSIONS, Fused, Fusion, cascade, distribution, minmax, rrf, zscore

WEIGHTS = {"dense": 0.5, "lexical": 0.5}

ids = st.integers(0, 30).map(lambda n: ChunkId(f"{n:032x}"))


def _ranked(scores: dict[ChunkId, float]) -> list[Hit]:
    return [Hit(id, score) for id, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]


# Engines round their scores; differences below that are noise, which fusion may tie.
lists = st.dictionaries(ids, st.integers(-1000, 1000).map(lambda n: n / 100), max_size=20).map(_ranked)
routes = st.fixed_dictionaries({"dense": lists, "lexical": lists})


def _all(found: dict[str, list[Hit]]) -> list[list[Fused]]:
    return [fuse(found, WEIGHTS) for fuse in FUSIONS.values()]


@given(routes)
def test_every_hit_comes_out_once(found: dict[str, list[Hit]]) -> None:
    expected = {hit.id for hits in found.values() for hit in hits}
    for fused in _all(found):
        assert sorted(item.id for item in fused) == sorted(expected)


@given(routes)
def test_order_is_by_score_then_id(found: dict[str, list[Hit]]) -> None:
    for fused in _all(found):
        keys = [(-round(item.score, 12), item.id) for item in fused]
        assert keys == sorted(keys)


@given(routes, st.randoms(use_true_random=False))
def test_the_order_of_routes_does_not_matter(found: dict[str, list[Hit]], chance: random.Random) -> None:
    names = list(found)
    chance.shuffle(names)
    shuffled = {name: found[name] for name in names}
    for left, right in zip(_all(found), _all(shuffled), strict=True):
        assert [item.id for item in left] == [item.id for item in right]


@given(lists)
def test_one_route_alone_keeps_its_order(hits: list[Hit]) -> None:
    for fused in _all({"dense": hits}):
        assert [item.id for item in fused] == [hit.id for hit in hits]


@given(routes)
def test_standings_tell_rank_and_score_of_each_route(found: dict[str, list[Hit]]) -> None:
    for fused in _all(found):
        for item in fused:
            for name, standing in item.routes.items():
                hit = found[name][standing.rank - 1]
                assert (hit.id, hit.score) == (item.id, standing.score)


@pytest.mark.parametrize("fuse", [minmax, zscore, distribution])
@given(found=routes, scale=st.floats(0.1, 50), shift=st.floats(-50, 50))
def test_scaled_sums_do_not_care_about_scale_and_origin(
    fuse: Fusion, found: dict[str, list[Hit]], scale: float, shift: float
) -> None:
    moved = {**found, "dense": [Hit(hit.id, hit.score * scale + shift) for hit in found["dense"]]}
    before, after = fuse(found, WEIGHTS), fuse(moved, WEIGHTS)
    scores = {item.id: item.score for item in after}
    assert all(abs(scores[item.id] - item.score) < 1e-6 for item in before)


def test_rrf_is_the_published_sum() -> None:
    a, b = ChunkId("a" * 32), ChunkId("b" * 32)
    fused = rrf({"dense": [Hit(a, 0.9), Hit(b, 0.8)], "lexical": [Hit(b, 7.0)]}, {"dense": 1.0, "lexical": 1.0}, k=60)
    assert [(item.id, round(item.score, 9)) for item in fused] == [
        (b, round(1 / 62 + 1 / 61, 9)),
        (a, round(1 / 61, 9)),
    ]


@given(routes)
def test_a_cascade_leaves_the_first_list_alone_and_adds_the_rest(found: dict[str, list[Hit]]) -> None:
    order = [item.id for item in cascade(found, {"dense": 0.3, "lexical": 0.7})]
    first = [hit.id for hit in found["lexical"]]
    assert order[: len(first)] == first
    assert order[len(first) :] == [hit.id for hit in found["dense"] if hit.id not in set(first)]


@given(routes)
def test_a_hit_in_both_lists_never_stands_below_one_that_is_worse_in_both(found: dict[str, list[Hit]]) -> None:
    for fused in _all(found):
        place = {item.id: at for at, item in enumerate(fused)}
        both = [item for item in fused if len(item.routes) == 2]
        for better in both:
            for worse in both:
                if all(better.routes[name].score > worse.routes[name].score for name in WEIGHTS):
                    assert place[better.id] < place[worse.id]
