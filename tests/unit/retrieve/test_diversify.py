"""Maximal marginal relevance and quotas."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.retrieve.diversify import diversified, overlaps, within_quota


def test_what_says_the_same_again_comes_later() -> None:
    texts = [np.array(words, dtype=np.uint32) for words in ([1, 2, 3], [1, 2, 3], [7, 8])]
    assert diversified([1.0, 0.9, 0.8], overlaps(texts), 0.5) == [0, 2, 1]
    assert diversified([1.0, 0.9, 0.8], overlaps(texts), 0.0) == [0, 1, 2]


def test_overlap_is_the_share_of_terms_of_both() -> None:
    alike = overlaps([np.array(words, dtype=np.uint32) for words in ([1, 2], [2, 3], [])])
    assert alike[0, 1] == alike[1, 0] == 1 / 3
    assert alike[0, 2] == 0.0


def test_a_document_fills_no_more_places_than_its_quota() -> None:
    assert within_quota([0, 1, 2, 3], ["a", "a", "a", "b"], 2) == ([0, 1, 3], [2])
    assert within_quota([2, 0, 1], ["a", "a", "b"], 0) == ([2, 0, 1], [])


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0, 1), st.integers(0, 3))
def test_every_place_comes_once(relevance: list[float], weight: float, quota: int) -> None:
    count = len(relevance)
    alike = np.full((count, count), 0.5)
    order = diversified(relevance, alike, weight)
    kept, beyond = within_quota(order, [place % 2 for place in range(count)], quota)
    assert sorted(order) == sorted(kept + beyond) == list(range(count))
    assert order == diversified(relevance, alike, weight)
