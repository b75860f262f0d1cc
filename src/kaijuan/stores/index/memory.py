"""Brute-force index in this process: exact, forgotten at the end, and the judge of every other adapter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from kaijuan.core.filters import Filter, matches
from kaijuan.core.ids import ChunkId
from kaijuan.errors import ClosedError, NotFoundError, SpaceMismatchError
from kaijuan.index.ports import Abilities, Hit, Index, Point, PointHeader, SpaceSpec, Vector
from kaijuan.stores.index import checks, ranking

_Result = TypeVar("_Result")
_ROWS = 8192


@dataclass(slots=True, kw_only=True)
class _Space:
    """The points of one space; handles come and go."""

    spec: SpaceSpec
    points: dict[ChunkId, Point] = field(default_factory=dict)
    dropped: bool = False

    def matching(self, where: Filter) -> list[Point]:
        checks.check_filter(where)
        return [point for point in self.points.values() if matches(where, _fields(point))]


def _fields(point: Point) -> dict[str, str | int | float | bool | tuple[str, ...] | list[str]]:
    return {**point.payload, "valid_from": point.valid_from, "valid_to": point.valid_to}


def _upsert(space: _Space, points: Sequence[Point]) -> None:
    for point in checks.check_points(space.spec, points):
        # Engines store weights in single precision; the judge must not know better.
        terms = {term: float(np.float32(weight)) for term, weight in point.terms.items()}
        space.points[point.id] = replace(point, terms=terms)


def _close(space: _Space, ids: Sequence[ChunkId], snapshot: int) -> None:
    checks.check_snapshot(snapshot)
    for id in checks.check_ids(ids):
        if id in space.points:
            space.points[id] = replace(space.points[id], valid_to=snapshot)


def _delete(space: _Space, ids: Sequence[ChunkId]) -> None:
    for id in checks.check_ids(ids):
        space.points.pop(id, None)


def _dense(space: _Space, vector: Vector, k: int, where: Filter) -> list[Hit]:
    query = checks.unit_vector(vector, space.spec.dimensions).astype(np.float64)
    checks.check_filter(where)
    if checks.check_count(k) == 0:
        return []
    found = space.matching(where)
    hits: list[Hit] = []
    for start in range(0, len(found), _ROWS):
        batch = found[start : start + _ROWS]
        scores = np.stack([point.vector for point in batch]).astype(np.float64) @ query
        hits += [Hit(point.id, ranking.dense_score(float(score))) for point, score in zip(batch, scores, strict=True)]
    return ranking.in_order(hits, k)


def _rarity(space: _Space, terms: Mapping[int, float], corpus: Filter) -> dict[int, float]:
    counted = space.matching(corpus)
    holders = {term: sum(term in point.terms for point in counted) for term in terms}
    return {term: ranking.inverse_document_frequency(len(counted), holders[term]) for term in terms}


def _lexical(space: _Space, terms: Mapping[int, float], k: int, where: Filter) -> list[Hit]:
    wanted = checks.check_terms(terms)
    checks.check_filter(where)
    if checks.check_count(k) == 0 or not wanted:
        return []
    rarity = _rarity(space, wanted, ranking.corpus_of(where))
    weights = {term: weight * rarity[term] for term, weight in wanted.items()}
    hits = []
    for point in space.matching(where):
        score = sum(weight * point.terms.get(term, 0.0) for term, weight in weights.items())
        if score > 0:
            hits.append(Hit(point.id, ranking.lexical_score(score)))
    return ranking.in_order(hits, k)


def _headers(space: _Space, where: Filter) -> Iterator[PointHeader]:
    for point in sorted(space.matching(where), key=lambda point: point.id):
        yield PointHeader(
            id=point.id, valid_from=point.valid_from, valid_to=point.valid_to, payload=dict(point.payload)
        )


class MemoryIndex:
    """A handle on one space of a `MemoryIndexStore`."""

    def __init__(self, space: _Space, store: MemoryIndexStore) -> None:
        self._space = space
        self._store = store
        self._closed = False

    @property
    def spec(self) -> SpaceSpec:
        """What the space was built for."""
        return self._space.spec

    async def _run(self, work: Callable[[_Space], _Result]) -> _Result:
        if self._closed:
            raise ClosedError(f"The index space {self.spec.name!r} is closed.")
        if self._space.dropped:
            raise NotFoundError(f"The index space {self.spec.name!r} was dropped.")
        return await self._store.run(lambda: work(self._space))

    async def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace the points."""
        await self._run(lambda space: _upsert(space, points))

    async def close_interval(self, ids: Sequence[ChunkId], snapshot: int) -> None:
        """Set `valid_to` of the points."""
        await self._run(lambda space: _close(space, ids, snapshot))

    async def delete(self, ids: Sequence[ChunkId]) -> None:
        """Forget the points."""
        await self._run(lambda space: _delete(space, ids))

    async def search_dense(self, vector: Vector, k: int, where: Filter) -> list[Hit]:
        """Return the k nearest by cosine similarity."""
        return await self._run(lambda space: _dense(space, vector, k, where))

    async def search_lexical(self, terms: Mapping[int, float], k: int, where: Filter) -> list[Hit]:
        """Return the k best by BM25."""
        return await self._run(lambda space: _lexical(space, terms, k, where))

    async def scan(self, where: Filter) -> AsyncIterator[PointHeader]:
        """Yield the headers of all matching points by ascending id."""
        for header in await self._run(lambda space: list(_headers(space, where))):
            yield header

    async def count(self, where: Filter) -> int:
        """Return how many points match."""
        return await self._run(lambda space: len(space.matching(where)))

    async def optimise(self) -> None:
        """Do nothing: there is nothing faster than all of it."""
        await self._run(lambda _: None)

    async def flush(self) -> None:
        """Do nothing: there is no disk."""
        await self._run(lambda _: None)

    async def close(self) -> None:
        """Release this handle."""
        self._closed = True


class MemoryIndexStore:
    """Index spaces that live as long as this object."""

    abilities = Abilities(durable=False, approximate_above=0)

    def __init__(self) -> None:
        self._spaces: dict[str, _Space] = {}
        self._closed = False
        # One thread: calls take effect one after another, and the event loop is never held up.
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="kaijuan-memory-index")

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run work on the store's one thread."""
        if self._closed:
            raise ClosedError("The index store is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def open(self, spec: SpaceSpec, *, create: bool = True) -> Index:
        """Open a space, made now if missing and wanted."""
        if self._closed:
            raise ClosedError("The index store is closed.")
        checks.check_spec(spec)
        if spec.name not in self._spaces and not create:
            raise NotFoundError(f"There is no index space {spec.name!r}.")
        space = self._spaces.setdefault(spec.name, _Space(spec=spec))
        if space.spec != spec:
            raise SpaceMismatchError(checks.mismatch(space.spec, spec))
        return MemoryIndex(space, self)

    async def drop(self, name: str) -> None:
        """Forget a space; the missing is quiet."""
        if self._closed:
            raise ClosedError("The index store is closed.")
        space = self._spaces.pop(checks.check_space(name), None)
        if space is not None:
            space.dropped = True

    async def spaces(self) -> list[str]:
        """Return the names of all spaces, sorted."""
        if self._closed:
            raise ClosedError("The index store is closed.")
        return sorted(self._spaces)

    async def close(self) -> None:
        """Forget everything. Twice is fine."""
        self._closed = True
        self._pool.shutdown(wait=False)
