"""Laws of lists in other languages: what is near by chance does not crowd out, what is truly near comes in."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId
from kaijuan.core.text.language import language_of, tongue_of
from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import Fused, minmax, with_foreign

MODEL = "multilingual-e5-small"
WEIGHTS = {"dense": 0.5, "lexical": 0.5}
DEPTH = 32
HERE, THERE, SPREAD = 0.83, 0.74, 0.019
"""Means and deviation of cosines that say nothing, as measured with the onboard model."""


def _chance(name: str, size: int, mean: float, seed: int) -> list[Hit]:
    """Return the nearest of `size` texts that have nothing to do with the question."""
    rng = random.Random(f"{name}/{seed}")
    scores = sorted((rng.gauss(mean, SPREAD) for _ in range(size)), reverse=True)
    return [Hit(ChunkId(f"{name}{place:05}"), score) for place, score in enumerate(scores[:DEPTH])]


def _fused(dense: Sequence[Hit], foreign: Sequence[Hit], sizes: dict[str, int], model: str = MODEL) -> list[Fused]:
    words = [Hit(hit.id, 10.0 - place) for place, hit in enumerate(dense[:8])]
    own = minmax({"dense": dense, "lexical": words}, WEIGHTS)
    return with_foreign(own, dense, {"dense_en": foreign}, model, sizes)


def _first_foreign(size: int, there: int, model: str) -> float:
    """Return how many of the first ten are of the other language, on average."""
    found = 0
    for seed in range(30):
        dense, foreign = _chance("a", size, HERE, seed), _chance("b", there, THERE, seed)
        fused = _fused(dense, foreign, {"dense": size, "dense_en": there}, model)
        found += sum(item.id.startswith("b") for item in fused[:10])
    return found / 30


@pytest.mark.parametrize("model", [MODEL, "another model"])
@pytest.mark.parametrize("there", [30, 300])
def test_a_few_texts_in_another_language_do_not_crowd_out(there: int, model: str) -> None:
    assert _first_foreign(10_000, there, model) < 1.0


def test_without_the_sizes_they_would() -> None:
    dense, foreign = _chance("a", 10_000, HERE, 1), _chance("b", 30, THERE, 1)
    assert sum(item.id.startswith("b") for item in _fused(dense, foreign, {})[:10]) > 4


@pytest.mark.parametrize(("size", "there"), [(10_000, 30), (300, 300), (100, 10_000), (12, 6)])
def test_what_is_truly_near_in_another_language_is_among_the_first(size: int, there: int) -> None:
    for seed in range(20):
        dense, foreign = _chance("a", size, HERE, seed), _chance("b", there, THERE, seed)
        true = Hit(ChunkId("true"), THERE + 6 * SPREAD)
        fused = _fused(dense, [true, *foreign], {"dense": size, "dense_en": there})
        assert "true" in [item.id for item in fused[:5]]


scores = st.lists(st.integers(500, 990).map(lambda n: n / 1000), max_size=40, unique=True)


@given(scores, scores, st.integers(0, 10_000), st.integers(0, 10_000))
def test_both_languages_keep_their_order(here: list[float], there: list[float], size: int, other: int) -> None:
    dense, foreign = (
        [Hit(ChunkId(f"{name}{place:03}"), score) for place, score in enumerate(sorted(found, reverse=True))]
        for name, found in (("a", here), ("b", there))
    )
    sizes = {"dense": max(size, len(dense)), "dense_en": max(other, len(foreign))}
    own = minmax({"dense": dense}, {"dense": 1.0})
    fused = with_foreign(own, dense, {"dense_en": foreign}, MODEL, sizes)
    assert [item.id for item in fused if item.id.startswith("a")] == [item.id for item in own]
    placed = [item for item in fused if item.id.startswith("b")]
    assert [item.id for item in placed if item.score > 0] == [hit.id for hit in foreign][
        : sum(i.score > 0 for i in placed)
    ]
    assert len(fused) == len(dense) + len(foreign)


@pytest.mark.parametrize(
    ("text", "tongue"),
    [
        ("员工每年有十天带薪年假。", "zh"),
        ("Every employee has ten days of paid leave a year.", "en"),
        ("使用 OpenAI 的 API 时，请先在 Settings 页面里填写密钥。", "zh"),
        ("视频{{lmnews.source}}{{lmnews.pubtime}}{{lmnews.source}}{{lmnews.pubtime}}{{lmnews.title}}热点", ""),
        ("The Kaijuan (开卷) service listens on port 8000; open the console in a browser to begin with it.", ""),
        ("Copyright 2022 by the organising committee of the games in Hangzhou, China. All rights reserved.", "en"),
        ("社員は毎年十日の有給休暇を取ることができます。", "ja"),
        ("安倍晋三遇刺案，或称安倍晋三枪击事件（日语：安倍晋三の事件），是日本前首相遇刺身亡的事件。", ""),
        ("", ""),
    ],
)
def test_a_passage_in_two_languages_is_in_neither(text: str, tongue: str) -> None:
    assert tongue_of(text) == tongue
    if tongue:
        assert language_of(text) == tongue
