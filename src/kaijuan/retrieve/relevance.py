"""A calibrated estimate, 0 to 1, of whether a chunk speaks to the question, from its routes' raw scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kaijuan.index.ports import Hit
from kaijuan.retrieve.ports import Query
from kaijuan.retrieve.results import RouteScore

# Logistic weights fitted by bench/fit_relevance.py: cosine, BM25 per unit of query weight, constant.
COSINE, DENSITY, CONSTANT = 22.0, 0.35, -19.5


def floors(lists: Mapping[str, Sequence[Hit]]) -> dict[str, float]:
    """Return the lowest score each route gave: what a chunk it did not list has at most."""
    return {name: min((hit.score for hit in hits), default=0.0) for name, hits in lists.items()}


def relevance(query: Query, routes: Mapping[str, RouteScore], lowest: Mapping[str, float]) -> float:
    """Return the probability that the chunk is relevant. A route that did not list it counts with its floor."""
    cosine = routes["dense"].score if "dense" in routes else lowest.get("dense", 0.0)
    lexical = routes["lexical"].score if "lexical" in routes else 0.0
    weight = sum(query.weights.values()) or 1.0
    logit = COSINE * cosine + DENSITY * lexical / weight + CONSTANT
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit)))), 6)
