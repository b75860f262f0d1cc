"""The order of hits and the rarity of terms, written once so that every engine ranks alike.

Engines add up in single precision and in different orders, so scores are rounded before they are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from kaijuan.core.filters import LEVEL, And, Eq, Filter, Not, Range, all_of, at_snapshot
from kaijuan.index.ports import Hit


def dense_score(raw: float) -> float:
    """Return a cosine similarity at six decimals; single precision is good for a little more."""
    return round(raw, 6) + 0.0  # no negative zero


def lexical_score(raw: float) -> float:
    """Return a BM25 sum at six significant digits."""
    return float(f"{raw:.6g}")


def in_order(hits: Iterable[Hit], k: int) -> list[Hit]:
    """Return the best k, equal scores by ascending id."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]


def inverse_document_frequency(points: int, holders: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)), the form of Lucene's BM25; never negative."""
    return math.log1p((points - holders + 0.5) / (holders + 0.5))


def pinned_snapshot(where: Filter) -> int | None:
    """Return S when the filter demands valid_from <= S < valid_to as `at_snapshot` writes it, else None.

    Term frequencies are counted in that snapshot, so that what a running publication writes for a later one
    cannot move the scores of readers.
    """
    started: set[float] = set()
    ended: set[float] = set()
    for item in _conjuncts(where):
        if isinstance(item, Range) and item.field == "valid_from" and item.lte is not None:
            started.add(item.lte)
        if isinstance(item, Range) and item.field == "valid_to" and item.gt is not None:
            ended.add(item.gt)
    both = started & ended
    return math.floor(min(both)) if both else None


def corpus_of(where: Filter) -> Filter:
    """Return which points the rarity of terms is counted among: those of the pinned snapshot and the level demanded.

    So the summaries of documents move no score of a search for passages.
    """
    snapshot = pinned_snapshot(where)
    levels = [item for item in _conjuncts(where) if _of_level(item)]
    return all_of([*([] if snapshot is None else [at_snapshot(snapshot)]), *levels])


def _of_level(item: Filter) -> bool:
    bare = item.item if isinstance(item, Not) else item
    return isinstance(bare, Eq) and bare.field == LEVEL


def _conjuncts(where: Filter) -> Iterable[Filter]:
    if isinstance(where, And):
        for item in where.items:
            yield from _conjuncts(item)
    else:
        yield where
