"""Rounding, order, rarity, and which snapshot a filter pins."""

from __future__ import annotations

import math

import pytest

from kaijuan.core.filters import EVERYTHING, And, Eq, Filter, Not, Or, Range, all_of, at_snapshot
from kaijuan.index.ports import Hit
from kaijuan.stores.index import ranking
from kaijuan.testing.contracts.index_points import chunk


@pytest.mark.parametrize(
    ("where", "snapshot"),
    [
        (EVERYTHING, None),
        (at_snapshot(0), 0),
        (at_snapshot(7), 7),
        (all_of([Eq("kind", "pdf"), at_snapshot(7)]), 7),
        (And((Eq("a", 1), And((at_snapshot(7), Eq("b", 2))))), 7),
        (Not(at_snapshot(7)), None),
        (Or((at_snapshot(7), Eq("a", 1))), None),
        (Range(field="valid_from", lte=7), None),
        (And((Range(field="valid_from", lte=7), Range(field="valid_to", gt=6))), None),
        (And((Range(field="valid_from", gte=7), Range(field="valid_to", gt=7))), None),
        (And((at_snapshot(3), at_snapshot(7))), 3),
    ],
)
def test_only_a_demanded_snapshot_is_pinned(where: Filter, snapshot: int | None) -> None:
    assert ranking.pinned_snapshot(where) == snapshot


def test_rarity_never_turns_negative_and_falls_with_holders() -> None:
    values = [ranking.inverse_document_frequency(100, holders) for holders in range(101)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert values[10] == pytest.approx(math.log(1 + 90.5 / 10.5))


def test_noise_of_single_precision_is_rounded_away_and_ties_go_by_id() -> None:
    hits = [Hit(chunk(2), ranking.dense_score(0.70000001)), Hit(chunk(1), ranking.dense_score(0.7))]
    assert [hit.id for hit in ranking.in_order(hits, 5)] == [chunk(1), chunk(2)]
    assert math.copysign(1, ranking.dense_score(-1e-9)) == 1
    assert ranking.lexical_score(123.45649) == 123.456
    assert ranking.lexical_score(0.000012345678) == 0.0000123457
