"""Points for the index contract and a judge of rankings that shares no code with any adapter."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN
from kaijuan.index.ports import Hit, Point, SpaceSpec, Vector

DIMENSIONS = 16
Fields = Mapping[str, str | int | float | bool | tuple[str, ...]]
SHARES = (50.0, 10.0, 5.0, 2.0, 0.5, 0.1, 0.05)
"""Per cent of the points that a filter on `band` leaves."""


def spec(name: str = "main", *, dimensions: int = DIMENSIONS, model: str = "m1", analyser: str = "a1") -> SpaceSpec:
    """Return a specification."""
    return SpaceSpec(name=name, dimensions=dimensions, model=model, analyser=analyser)


def chunk(number: int) -> ChunkId:
    """Return an id that sorts as its number does."""
    return ChunkId(f"{number:032x}")


def vector(*values: float, dimensions: int = DIMENSIONS) -> Vector:
    """Return a unit vector that starts with the values."""
    row = np.zeros(dimensions, dtype=np.float32)
    row[: len(values)] = values
    return (row / np.linalg.norm(row)).astype(np.float32)


def point(
    number: int,
    *,
    at: Vector | None = None,
    terms: Mapping[int, float] | None = None,
    valid_from: int = 0,
    valid_to: int = OPEN,
    fields: Fields | None = None,
    **payload: str | int | float | bool | tuple[str, ...],
) -> Point:
    """Return a point; without more said, all of them lie in one place and hold term 1."""
    return Point(
        id=chunk(number),
        vector=vector(1.0) if at is None else at,
        terms={1: 1.0} if terms is None else terms,
        payload={**payload, **(fields or {})},
        valid_from=valid_from,
        valid_to=valid_to,
    )


def corpus(rows: int, *, dimensions: int = DIMENSIONS, seed: int = 7) -> list[Point]:
    """Return points in random places, with zipfian terms, bands for every selectivity, tenants, groups, intervals."""
    chance = np.random.default_rng(seed)
    places = chance.normal(size=(rows, dimensions)).astype(np.float32)
    places /= np.linalg.norm(places, axis=1, keepdims=True)
    words = np.minimum(chance.zipf(1.3, size=(rows, 12)), 2_000)
    weights = chance.uniform(0.2, 2.2, size=(rows, 12)).astype(np.float32)
    order = chance.permutation(rows)
    return [
        Point(
            id=chunk(int(order[row]) * 7 + 3),
            vector=places[row],
            terms=dict(zip(words[row].tolist(), weights[row].tolist(), strict=True)),
            payload={
                "tenant": f"t{row % 2}",
                "acl": (f"g{row % 5}", f"g{row % 7}"),
                "band": row / rows * 100,
                "kind": ("pdf", "html", "md")[row % 3],
            },
            valid_from=row % 4,
            valid_to=OPEN if row % 6 else 5,
        )
        for row in range(rows)
    ]


def judged(item: Point) -> dict[str, str | int | float | bool | tuple[str, ...] | list[str]]:
    """Return what filters see of a point."""
    return {**item.payload, "valid_from": item.valid_from, "valid_to": item.valid_to}


def cosine_scores(points: Sequence[Point], query: Vector) -> dict[ChunkId, float]:
    """Return the exact similarity of every point, in double precision."""
    if not points:
        return {}
    rows = np.stack([item.vector for item in points]).astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sought = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
    return {item.id: float(score) for item, score in zip(points, np.einsum("ij,j->i", rows, sought), strict=True)}


def bm25_scores(
    points: Sequence[Point], terms: Mapping[int, float], counted: Collection[Point]
) -> dict[ChunkId, float]:
    """Return the exact score of every point that has one; rarity is counted among `counted`."""
    rarity = {}
    for term in terms:
        holders = sum(term in item.terms for item in counted)
        rarity[term] = math.log(1 + (len(counted) - holders + 0.5) / (holders + 0.5))
    scores = {}
    for item in points:
        score = sum(weight * rarity[term] * item.terms.get(term, 0.0) for term, weight in terms.items())
        if score > 0:
            scores[item.id] = score
    return scores


def assert_best(hits: Sequence[Hit], scores: Mapping[ChunkId, float], k: int) -> None:
    """Fail unless `hits` are the best k of `scores`, in order, but for the noise of single precision."""
    assert len(hits) == min(k, len(scores))
    assert [(-hit.score, hit.id) for hit in hits] == sorted((-hit.score, hit.id) for hit in hits)
    for hit in hits:
        assert math.isclose(hit.score, scores[hit.id], rel_tol=2e-5, abs_tol=2e-6), (hit, scores[hit.id])
    if hits:
        chosen = {hit.id for hit in hits}
        left_out = [score for id, score in scores.items() if id not in chosen]
        border = hits[-1].score
        assert not left_out or max(left_out) <= border + max(2e-6, 2e-5 * abs(border))
