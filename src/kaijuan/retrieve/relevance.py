"""A calibrated estimate, 0 to 1, of whether a chunk speaks to the question, from its routes' raw scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kaijuan.index.ports import Hit
from kaijuan.retrieve.languages import is_foreign
from kaijuan.retrieve.ports import Query
from kaijuan.retrieve.results import RouteScore

UNKNOWN = 0.5
"""What is said of a chunk when nothing was fitted for the model: its cosines could mean anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Weights of a logistic regression over cosine and BM25 per unit of query weight."""

    cosine: float
    density: float
    constant: float


FITS = MappingProxyType({"multilingual-e5-small": Fit(cosine=22.0, density=0.35, constant=-19.5)})
"""By model name; cosines of different models are not comparable. Set by hand: bench/fit_relevance.py prints what a fit
would be, but the judge of sufficiency was fitted on these values, so both must change together."""


def floors(lists: Mapping[str, Sequence[Hit]]) -> dict[str, float]:
    """Return the lowest score each route gave: what a chunk it did not list has at most."""
    return {name: min((hit.score for hit in hits), default=0.0) for name, hits in lists.items()}


def relevance(query: Query, routes: Mapping[str, RouteScore], lowest: Mapping[str, float], fit: Fit | None) -> float:
    """Return the probability that the chunk is relevant. A route that did not list it counts with its floor."""
    return relevances(query, [routes], lowest, fit)[0]


def relevances(
    query: Query, several: Sequence[Mapping[str, RouteScore]], lowest: Mapping[str, float], fit: Fit | None
) -> list[float]:
    """Return `relevance` for each of several chunks of one search."""
    if fit is None:
        return [UNKNOWN] * len(several)
    # Where all documents are in other languages, the list in the question's own is empty and has no floor.
    floor = lowest.get("dense", 0.0) or max((score for name, score in lowest.items() if is_foreign(name)), default=0.0)
    weight = sum(query.weights.values()) or 1.0
    return [_relevance(routes, floor, weight, fit) for routes in several]


def _relevance(routes: Mapping[str, RouteScore], floor: float, weight: float, fit: Fit) -> float:
    found = [standing.score for name, standing in routes.items() if name == "dense" or is_foreign(name)]
    cosine = max(found, default=floor)
    lexical = routes["lexical"].score if "lexical" in routes else 0.0
    logit = fit.cosine * cosine + fit.density * lexical / weight + fit.constant
    return round(1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit)))), 6)
