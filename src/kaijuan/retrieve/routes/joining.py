"""Side routes: what they bring is added to the fused order, and never takes anything from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import Fused
from kaijuan.retrieve.results import RouteScore

SIDE_ROUTES = ("exact", "document", "faq", "tags", "graph", "memory")
PART = "part"
VARIANT_ROUTES = ("rewrite", "hyde", "step_back", PART)
"""Routes of the question in other words; several of a kind are numbered."""


def is_side(route: str) -> bool:
    """Say whether a route is one of these, by its name."""
    return route in SIDE_ROUTES or route.rpartition("_")[0] in VARIANT_ROUTES


def with_side_routes(
    fused: Sequence[Fused], lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]
) -> list[Fused]:
    """Add to each chunk its share of every side route's best score, times the route's weight.

    The weights are relative to the best fused score, so that they mean the same for every method of fusion.
    """
    known = {item.id: item for item in fused}
    top = max((item.score for item in fused), default=1.0)
    for name, hits in lists.items():
        best = hits[0].score if hits else 0.0
        for rank, hit in enumerate(hits, start=1):
            before = known.get(hit.id, Fused(id=hit.id, score=0.0, routes={}))
            share = hit.score / best if best > 0 else 1.0
            score = before.score + top * weights[name] * share
            known[hit.id] = Fused(id=hit.id, score=score, routes={**before.routes, name: RouteScore(rank, hit.score)})
    # Of equals, what holds an identifier of the question comes first: it may owe all of its score to that.
    return sorted(known.values(), key=lambda item: (-round(item.score, 12), "exact" not in item.routes, item.id))
