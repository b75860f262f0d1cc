"""Laws of fusion: deterministic, complete, monotone, and tied by id."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId
from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import Fused, minmax, rrf

WEIGHTS = {"dense": 0.5, "lexical": 0.5}

ids = st.integers(0, 30).map(lambda n: ChunkId(f"{n:032x}"))


def _ranked(scores: dict[ChunkId, float]) -> list[Hit]:
    return [Hit(id, score) for id, score in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))]


# Engines round their scores; differences below that are noise, which fusion may tie.
lists = st.dictionaries(ids, st.integers(-1000, 1000).map(lambda n: n / 100), max_size=20).map(_ranked)
routes = st.fixed_dictionaries({"dense": lists, "lexical": lists})


def _both(found: dict[str, list[Hit]]) -> list[list[Fused]]:
    return [rrf(found, WEIGHTS), minmax(found, WEIGHTS)]


@given(routes)
def test_every_hit_comes_out_once(found: dict[str, list[Hit]]) -> None:
    expected = {hit.id for hits in found.values() for hit in hits}
    for fused in _both(found):
        assert sorted(item.id for item in fused) == sorted(expected)


@given(routes)
def test_order_is_by_score_then_id(found: dict[str, list[Hit]]) -> None:
    for fused in _both(found):
        keys = [(-round(item.score, 12), item.id) for item in fused]
        assert keys == sorted(keys)


@given(routes, st.randoms(use_true_random=False))
def test_the_order_of_routes_does_not_matter(found: dict[str, list[Hit]], chance: random.Random) -> None:
    names = list(found)
    chance.shuffle(names)
    shuffled = {name: found[name] for name in names}
    for left, right in zip(_both(found), _both(shuffled), strict=True):
        assert [item.id for item in left] == [item.id for item in right]


@given(lists)
def test_one_route_alone_keeps_its_order(hits: list[Hit]) -> None:
    for fused in _both({"dense": hits}):
        assert [item.id for item in fused] == [hit.id for hit in hits]


@given(routes)
def test_standings_tell_rank_and_score_of_each_route(found: dict[str, list[Hit]]) -> None:
    for fused in _both(found):
        for item in fused:
            for name, standing in item.routes.items():
                hit = found[name][standing.rank - 1]
                assert (hit.id, hit.score) == (item.id, standing.score)


@given(routes, st.floats(0.1, 50), st.floats(-50, 50))
def test_minmax_does_not_care_about_scale_and_origin(found: dict[str, list[Hit]], scale: float, shift: float) -> None:
    moved = {**found, "dense": [Hit(hit.id, hit.score * scale + shift) for hit in found["dense"]]}
    before, after = minmax(found, WEIGHTS), minmax(moved, WEIGHTS)
    scores = {item.id: item.score for item in after}
    assert all(abs(scores[item.id] - item.score) < 1e-6 for item in before)


def test_rrf_is_the_published_sum() -> None:
    a, b = ChunkId("a" * 32), ChunkId("b" * 32)
    fused = rrf({"dense": [Hit(a, 0.9), Hit(b, 0.8)], "lexical": [Hit(b, 7.0)]}, {"dense": 1.0, "lexical": 1.0}, k=60)
    assert [(item.id, round(item.score, 9)) for item in fused] == [
        (b, round(1 / 62 + 1 / 61, 9)),
        (a, round(1 / 61, 9)),
    ]
