"""Not the same thing twice: maximal marginal relevance, and a quota for each document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def overlaps(texts: Sequence[npt.NDArray[np.uint32]]) -> Floats:
    """Return how alike texts are, as the Jaccard share of their distinct terms; shape (texts, texts)."""
    sets = [frozenset(text.tolist()) for text in texts]
    alike = np.eye(len(sets))
    for one in range(len(sets)):
        for other in range(one):
            both = len(sets[one] & sets[other])
            either = len(sets[one]) + len(sets[other]) - both
            alike[one, other] = alike[other, one] = both / either if either else 1.0
    return alike


def diversified(relevance: Sequence[float], alike: Floats, weight: float) -> list[int]:
    """Return all places in a new order: next comes what is most relevant beside what was chosen already.

    Maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): relevance - weight * likeness to the most like
    one chosen. `relevance` lies between 0 and 1. Ties go to the earlier place, so that the order repeats exactly.
    """
    left = list(range(len(relevance)))
    if not weight:
        return sorted(left, key=lambda place: (-relevance[place], place))
    order: list[int] = []
    nearest = np.zeros(len(relevance))
    while left:
        best = max(left, key=lambda place: (round(relevance[place] - weight * float(nearest[place]), 12), -place))
        left.remove(best)
        order.append(best)
        nearest = np.maximum(nearest, alike[:, best])
    return order


def within_quota(order: Sequence[int], owners: Sequence[Hashable], quota: int) -> tuple[list[int], list[int]]:
    """Return the places that are within the quota of their owner, in order, and those beyond it; 0 is no quota."""
    held: Counter[Hashable] = Counter()
    kept: list[int] = []
    beyond: list[int] = []
    for place in order:
        held[owners[place]] += 1
        (beyond if quota and held[owners[place]] > quota else kept).append(place)
    return kept, beyond
