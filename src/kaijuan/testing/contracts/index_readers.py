"""The part of the index contract about access: documents of 500 groups, readers in one group or many."""

from __future__ import annotations

import numpy as np
import pytest

from kaijuan.core.filters import And, Eq, In, Range, at_snapshot, matches
from kaijuan.index.ports import Index, Point
from kaijuan.testing.contracts.index import SharedTests
from kaijuan.testing.contracts.index_points import SHARES, assert_best, bm25_scores, corpus, cosine_scores, judged

GROUPS = 500
_ROWS = 3_000
_K = 10


def grouped(rows: int = _ROWS) -> list[Point]:
    """Return a corpus whose points are open to one to four of the groups, a few to none."""
    chance = np.random.default_rng(11)
    points = []
    for item in corpus(rows):
        names = tuple(
            f"g{group}" for group in sorted(chance.choice(GROUPS, size=int(chance.integers(0, 5)), replace=False))
        )
        points.append(
            Point(
                id=item.id,
                vector=item.vector,
                terms=item.terms,
                payload={**item.payload, "acl": names},
                valid_from=item.valid_from,
                valid_to=item.valid_to,
            )
        )
    return points


class Access(SharedTests):
    """What a reader's groups open is found, all of it and nothing else, at every further selectivity."""

    @pytest.mark.parametrize("groups", [1, 8, 64, GROUPS])
    async def test_readers_in_some_of_many_groups(self, index: Index, groups: int) -> None:
        points = grouped()
        await index.upsert(points)
        chance = np.random.default_rng(groups)
        mine = tuple(f"g{group}" for group in sorted(chance.choice(GROUPS, size=groups, replace=False)))
        query = points[0].vector
        for share in SHARES:
            where = And((In("acl", mine), Eq("tenant", "t0"), at_snapshot(3), Range(field="band", lt=share)))
            open_to_me = [item for item in points if matches(where, judged(item))]
            counted = [item for item in points if matches(at_snapshot(3), judged(item))]
            assert await index.count(where) == len(open_to_me)
            # As many as were asked for, or all there are: never short while others match.
            assert_best(await index.search_dense(query, _K, where), cosine_scores(open_to_me, query), _K)
            terms = {1: 1.0, 2: 0.5, 7: 2.0}
            assert_best(await index.search_lexical(terms, _K, where), bm25_scores(open_to_me, terms, counted), _K)

    async def test_a_reader_without_groups_finds_nothing(self, index: Index) -> None:
        points = grouped(200)
        await index.upsert(points)
        where = And((In("acl", ()), at_snapshot(3)))
        assert await index.count(where) == 0
        assert await index.search_dense(points[0].vector, _K, where) == []
        assert await index.search_lexical({1: 1.0}, _K, where) == []
