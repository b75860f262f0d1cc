"""Join the routes' lists into one order. Deterministic: equal scores are ordered by id."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from types import MappingProxyType

from kaijuan.core.ids import ChunkId
from kaijuan.index.ports import Hit
from kaijuan.retrieve.results import RouteScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """A chunk after fusion, with its standing in every route that found it."""

    id: ChunkId
    score: float
    routes: Mapping[str, RouteScore]


def rrf(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float], *, k: int = 60) -> list[Fused]:
    """Reciprocal rank fusion: the sum of weight / (k + rank) (Cormack, Clarke, Buettcher, SIGIR 2009)."""
    return _order(
        lists, {name: [weights[name] / (k + rank) for rank in range(1, len(hits) + 1)] for name, hits in lists.items()}
    )


def minmax(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Fused]:
    """Weighted sum of scores scaled to 0-1 within each list; a chunk that a route did not find has 0 there.

    A list whose scores are all equal counts as 1 throughout: being found says more than not being found.
    """
    return _order(lists, {name: _scaled(hits, weights[name]) for name, hits in lists.items()})


_DEVIATIONS = 3.0
"""Standard deviations above and below the mean that distribution-based fusion takes for the whole range."""


def zscore(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Fused]:
    """Weighted sum of standard scores within each list, moved so that the worst listed has 0, as the unlisted do."""
    return _order(lists, {name: _standard(hits, weights[name]) for name, hits in lists.items()})


def distribution(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Fused]:
    """Weighted sum of scores scaled by mean and three standard deviations of each list (Mazzeschi, 2023)."""
    return _order(lists, {name: _spread(hits, weights[name]) for name, hits in lists.items()})


def cascade(lists: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> list[Fused]:
    """The list with the highest weight as it is; each further one only adds what those before it did not find."""
    names = sorted(lists, key=lambda name: (-weights[name], name))
    order = list(dict.fromkeys(hit.id for name in names for hit in lists[name]))
    places = {id: 1.0 - place / len(order) for place, id in enumerate(order)}
    standings: dict[ChunkId, dict[str, RouteScore]] = {id: {} for id in order}
    for name, hits in lists.items():
        for rank, hit in enumerate(hits, start=1):
            standings[hit.id][name] = RouteScore(rank, hit.score)
    return [Fused(id=id, score=places[id], routes=standings[id]) for id in order]


Fusion = Callable[[Mapping[str, Sequence[Hit]], Mapping[str, float]], list[Fused]]
FUSIONS: Mapping[str, Fusion] = MappingProxyType(
    {"minmax": minmax, "rrf": rrf, "zscore": zscore, "distribution": distribution, "cascade": cascade}
)
"""Ways to join lists, by the word of the setting."""


def _standard(hits: Sequence[Hit], weight: float) -> list[float]:
    _, deviation = _moments(hits)
    if not deviation:
        return [weight] * len(hits)
    lowest = min(hit.score for hit in hits)
    return [weight * (hit.score - lowest) / deviation for hit in hits]


def _spread(hits: Sequence[Hit], weight: float) -> list[float]:
    mean, deviation = _moments(hits)
    if not deviation:
        return [weight] * len(hits)
    low, width = mean - _DEVIATIONS * deviation, 2 * _DEVIATIONS * deviation
    return [weight * min(1.0, max(0.0, (hit.score - low) / width)) for hit in hits]


def _moments(hits: Sequence[Hit]) -> tuple[float, float]:
    """Return mean and standard deviation of the scores, a deviation of 0 where they are all equal."""
    if not hits:
        return 0.0, 0.0
    scores = [hit.score for hit in hits]
    if max(scores) <= min(scores):
        return scores[0], 0.0
    mean = sum(scores) / len(scores)
    return mean, (sum((score - mean) ** 2 for score in scores) / len(scores)) ** 0.5


_NORMAL = NormalDist()
_FLOOR = slice(10, 30)
"""Places of a dense list that are taken for its noise: mostly what is near the question by chance."""
_FEWEST = 5
"""Hits there by which noise can be told."""
FOREIGN_COSINES = MappingProxyType({"multilingual-e5-small": 0.06})
"""By model: how much lower cosines in another language are, for lists too short to tell; see bench/languages.py."""
NOISE_DEVIATIONS = MappingProxyType({"multilingual-e5-small": 0.019})
"""By model: standard deviation of a question's cosines to texts that have nothing to do with it, in any language; see
bench/languages.py. Of another model it is read off the fall of the list."""
FOREIGN_SHARE = 0.9
"""Of the best fused score, what the best of another language can reach: among equals the question's own comes first."""


def with_foreign(
    own: Sequence[Fused],
    dense: Sequence[Hit],
    foreign: Mapping[str, Sequence[Hit]],
    model: str,
    sizes: Mapping[str, int] = MappingProxyType({}),
) -> list[Fused]:
    """Add the lists of other languages to the fused one; a chunk in both counts by what is more.

    Words count within one language only, so that there the cosine alone has to say what both say here. Cosines across
    languages are lower throughout: each list is lifted so that its noise lies level with that of the `dense` list of
    the question's own language, and then scaled as that one. `sizes` has how many chunks each list was chosen from, by
    the names of the lists and "dense": the twentieth of ten thousand chunks is far nearer by chance than the twentieth
    of thirty. Without them all are taken to be chosen from equally many.
    """
    known = {item.id: item for item in own}
    top = FOREIGN_SHARE * max((item.score for item in own), default=1.0)
    for name, hits in foreign.items():
        lift = _lift(dense, hits, model, (sizes.get("dense", 0), sizes.get(name, 0)))
        lifted = [hit.score + lift for hit in hits]
        low = min((hit.score for hit in dense), default=min(lifted, default=0.0))
        # Where the better text is in the other language it sets the scale, or all above the best here would be equal.
        high = max((*(hit.score for hit in dense), *lifted), default=0.0)
        for rank, (hit, score) in enumerate(zip(hits, lifted, strict=True), start=1):
            share = max(0.0, (score - low) / (high - low)) if high > low else 1.0
            before = known.get(hit.id, Fused(id=hit.id, score=0.0, routes={}))
            routes = {**before.routes, name: RouteScore(rank, hit.score)}
            known[hit.id] = Fused(id=hit.id, score=max(before.score, top * share), routes=routes)
    return sorted(known.values(), key=lambda item: (-round(item.score, 12), item.id))


def _lift(dense: Sequence[Hit], foreign: Sequence[Hit], model: str, sizes: tuple[int, int]) -> float:
    """Return how much the noise of one list lies above that of the other, were both chosen from equally many."""
    if not dense:
        return 0.0
    here, there = ([hit.score for hit in hits[_FLOOR]] for hits in (dense, foreign))
    if min(len(here), len(there)) < _FEWEST:
        return FOREIGN_COSINES.get(model, 0.0)
    level = sum(here) / len(here) - sum(there) / len(there)
    if not all(sizes):
        return level
    many, few = (max(size, len(hits)) for hits, size in zip((dense, foreign), sizes, strict=True))
    deviation = NOISE_DEVIATIONS.get(model) or _fall(here, len(dense), many)
    return level - deviation * (_deviations(len(dense), many) - _deviations(len(foreign), few))


@lru_cache(maxsize=1024)
def _deviations(found: int, size: int) -> float:
    """Return by how many standard deviations chance lifts the places of the floor over the mean of `size` texts.

    Expected order statistics of the normal distribution (Blom, 1958), averaged over the places of a list of `found`.
    """
    places = range(*_FLOOR.indices(found))
    return sum(_blom(place + 1, size) for place in places) / len(places)


def _blom(rank: int, size: int) -> float:
    return _NORMAL.inv_cdf(1.0 - (rank - 0.375) / (size + 0.25))


def _fall(floor: Sequence[float], found: int, size: int) -> float:
    """Return the standard deviation of noise of which the floor of a list falls as it does."""
    first, last = _FLOOR.start + 1, min(_FLOOR.stop, found)
    return max(0.0, floor[0] - floor[-1]) / (_blom(first, size) - _blom(last, size))


def weighed(fused: list[Fused], marked: Collection[ChunkId], weight: float) -> list[Fused]:
    """Multiply the scores of marked chunks with `weight` and order anew; of equals the unmarked come first."""
    if not marked:
        return fused
    changed = [replace(item, score=item.score * weight) if item.id in marked else item for item in fused]
    return sorted(changed, key=lambda item: (-round(item.score, 12), item.id in marked, item.id))


def _scaled(hits: Sequence[Hit], weight: float) -> list[float]:
    if not hits:
        return []
    low, high = min(hit.score for hit in hits), max(hit.score for hit in hits)
    if high <= low:
        return [weight] * len(hits)
    return [weight * (hit.score - low) / (high - low) for hit in hits]


def _order(lists: Mapping[str, Sequence[Hit]], shares: Mapping[str, Sequence[float]]) -> list[Fused]:
    totals: dict[ChunkId, float] = {}
    standings: dict[ChunkId, dict[str, RouteScore]] = {}
    for name, hits in lists.items():
        for rank, (hit, share) in enumerate(zip(hits, shares[name], strict=True), start=1):
            totals[hit.id] = totals.get(hit.id, 0.0) + share
            standings.setdefault(hit.id, {})[name] = RouteScore(rank, hit.score)
    # Twelve digits: sums that differ only in the order of addition must tie, and ties go by id.
    ordered = sorted(totals, key=lambda id: (-round(totals[id], 12), id))
    return [Fused(id=id, score=totals[id], routes=standings[id]) for id in ordered]
