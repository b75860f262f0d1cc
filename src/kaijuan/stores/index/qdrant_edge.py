"""One Qdrant Edge shard in this process, in our words: values in, values out, its errors made ours.

Calls hold Python's global lock and a shard is open in one process only, so nobody but the index owner
(`owner.py`) and its optimising child uses this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import numpy as np
import qdrant_edge as vendor

from kaijuan.core.filters import LEVEL, TONGUE, And, Eq, Filter, In, Not, Range, Value
from kaijuan.core.ids import ChunkId
from kaijuan.errors import BusyError, CorruptStoreError, DiskFullError, KaijuanError, StoreError
from kaijuan.index.ports import Hit, Point, PointHeader, Vector
from kaijuan.stores.index import ranking
from kaijuan.stores.index.qdrant_filters import compile_filter, path, wishes
from kaijuan.stores.index.qdrant_payloads import decode_payload, encode_payload

APPROXIMATE_ABOVE = 50_000
"""Points up to which every dense search scans; beyond, it walks the graph when the filter leaves more than `_SCAN`."""
_SCAN = 20_000
_BREADTH = 256
"""Candidates kept while walking the graph (ef)."""
_SPARE = 8
_INDEX_FROM = 2_000
_INDEXES = 32
_REMEMBERED = 1000
"""Guards of which it is remembered whether every point passes them."""

_NUMBERS = vendor.IntegerIndexParams(range=True, lookup=False, enable_hnsw=False)
_LINKED = vendor.KeywordIndexParams(enable_hnsw=True)
# Graph links for any further field make building take for ever (shared/index_engines.md, fact 6).
_INDEXED: dict[str, vendor.PayloadSchemaParams] = {
    "tenant": _LINKED,
    "acl": _LINKED,
    "valid_from": _NUMBERS,
    "valid_to": _NUMBERS,
    LEVEL: vendor.KeywordIndexParams(enable_hnsw=False),
    TONGUE: vendor.KeywordIndexParams(enable_hnsw=False),
}


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except KaijuanError:
        raise
    except Exception as error:  # the engine raises bare Exception for everything
        raise _ours(doing, str(error)) from error
    except BaseException as error:
        # A panic inside the engine derives from BaseException and would end the owner; the shard is not to be trusted.
        if type(error).__name__ != "PanicException":
            raise
        raise CorruptStoreError(f"The index engine gave up while {doing}: {error}.") from error


def _ours(doing: str, text: str) -> StoreError:
    text = text.partition("\n")[0][:500]
    if "os error 28" in text or "No space left" in text:
        return DiskFullError(f"The disk was full while {doing}.")
    if "WouldBlock" in text:
        return BusyError(f"Another process has the index open ({doing}).")
    return StoreError(f"The index engine failed while {doing}: {text}")


# Optimised segments map the terms from their file instead of holding them: about half of the memory of a chunk, and as
# fast while the system keeps the pages. What is written anew is held until the next optimising.
_SPARSE = {"lexical": vendor.EdgeSparseVectorParams(modifier=vendor.Modifier.Idf, memory=vendor.Memory.Cached)}


def _config(dimensions: int) -> vendor.EdgeConfig:
    return vendor.EdgeConfig(
        vectors={"dense": vendor.EdgeVectorParams(size=dimensions, distance=vendor.Distance.Cosine)},
        sparse_vectors=_SPARSE,
        hnsw_config=vendor.HnswIndexConfig(m=16, ef_construct=200, full_scan_threshold=10_000),
    )


def _record(point: Point) -> vendor.Point:
    payload = {**encode_payload(point.payload), "valid_from": point.valid_from, "valid_to": point.valid_to}
    terms = vendor.SparseVector(list(point.terms), list(point.terms.values()))
    return vendor.Point(UUID(point.id), {"dense": point.vector.tolist(), "lexical": terms}, payload)


def _payload(stored: Mapping[str, object] | None) -> tuple[dict[str, object], int, int]:
    payload = decode_payload(stored or {})
    start, end = payload.pop("valid_from", 0), payload.pop("valid_to", 0)
    return payload, _number(start), _number(end)


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise CorruptStoreError(f"An indexed point has {value!r} for an end of its interval.")
    return value


def _point(record: vendor.Record) -> Point:
    payload, start, end = _payload(record.payload)
    vectors = record.vector
    if not isinstance(vectors, dict) or not isinstance(vectors.get("lexical"), vendor.SparseVector):
        raise CorruptStoreError(f"The indexed point {record.id} has lost a vector.")
    terms: vendor.SparseVector = vectors["lexical"]  # type: ignore[assignment]  # checked above
    plain: dict[str, Value | tuple[str, ...]] = payload  # type: ignore[assignment]  # what `_record` stored
    return Point(
        id=_chunk(record.id),
        vector=np.asarray(vectors["dense"], dtype=np.float32),
        terms=dict(zip(terms.indices, terms.values, strict=True)),
        payload=plain,
        valid_from=start,
        valid_to=end,
    )


def _chunk(id: vendor.PointId) -> ChunkId:
    return ChunkId(id.hex if isinstance(id, UUID) else UUID(str(id)).hex)


class Shard:
    """An open shard. Every call blocks; arguments are taken as checked (`checks.py`)."""

    def __init__(self, inner: vendor.EdgeShard) -> None:
        self._inner = inner
        self._vacuous: dict[Filter, bool] = {}
        self._indexed = {name.strip('"') for name in inner.info().payload_schema}

    @classmethod
    def create(cls, folder: Path, dimensions: int) -> Shard:
        """Make an empty shard in a folder that is missing or empty."""
        with _translated("making a shard"):
            inner = vendor.EdgeShard.create(str(folder), _config(dimensions))
            for name, params in _INDEXED.items():
                inner.update(vendor.UpdateOperation.create_field_index(name, params))
            return cls(inner)

    @classmethod
    def load(cls, folder: Path, *, refit: bool = False) -> Shard:
        """Open a shard. What cannot be read is CorruptStoreError, what another process holds BusyError.

        With `refit`, one that was made with earlier settings takes those of today, for what is optimised from now on.
        """
        settings = (vendor.EdgeConfig(sparse_vectors=_SPARSE),) if refit else ()
        try:
            with _translated("opening a shard"):
                return cls(vendor.EdgeShard.load(str(folder), *settings))
        except (BusyError, DiskFullError, CorruptStoreError):
            raise
        except StoreError as error:
            raise CorruptStoreError(f"The index in {folder} cannot be read: {error.message}") from error

    def _update(self, operation: vendor.UpdateOperation) -> None:
        self._vacuous.clear()
        with _translated("writing"):
            self._inner.update(operation)

    def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace the points, all or none."""
        if points:
            self._update(vendor.UpdateOperation.upsert_points([_record(point) for point in points]))

    def close_interval(self, ids: Sequence[ChunkId], snapshot: int) -> None:
        """Set `valid_to`; the missing are skipped (by filter, since naming one would be an error)."""
        known = vendor.Filter(must=[vendor.HasIdCondition({UUID(id) for id in ids})])
        self._update(vendor.UpdateOperation.set_payload_by_filter(known, {"valid_to": snapshot}))

    def delete(self, ids: Sequence[ChunkId]) -> None:
        """Remove the points; the missing are skipped."""
        if ids:
            self._update(vendor.UpdateOperation.delete_points([UUID(id) for id in ids]))

    def index_fields(self, where: Filter) -> None:
        """Index the fields that a filter names, once there are enough points for that to pay."""
        for wish in wishes(where):
            if wish.field in self._indexed or len(self._indexed) >= _INDEXES or self.rows() < _INDEX_FROM:
                continue
            params: vendor.PayloadSchemaParams = (
                vendor.KeywordIndexParams(enable_hnsw=False)
                if wish.text
                else vendor.FloatIndexParams(enable_hnsw=False)
            )
            self._update(vendor.UpdateOperation.create_field_index(path(wish.field), params))
            self._indexed.add(wish.field)

    def _needed(self, where: Filter) -> Filter:
        """Leave out the guards that every point passes, which is remembered until the next write.

        Most often readers at head may see everything in the space, and then checking tenant, access and interval
        of each point again costs several times the search itself (12 against 2 ms for 20,000 points).
        """
        items = where.items if isinstance(where, And) else (where,)
        return And(tuple(item for item in items if not self._passes_all(item)))

    def _passes_all(self, item: Filter) -> bool:
        bare = item.item if isinstance(item, Not) else item
        if not isinstance(bare, Eq | In | Range) or bare.field not in _INDEXED:
            return False
        if item not in self._vacuous:
            if len(self._vacuous) >= _REMEMBERED:
                self._vacuous.clear()
            self._vacuous[item] = self.count(Not(item)) == 0
        return self._vacuous[item]

    def rows(self) -> int:
        """Return an upper bound for the number of points."""
        with _translated("counting"):
            return self._inner.info().points_count

    def search_dense(self, vector: Vector, k: int, where: Filter) -> list[Hit]:
        """Return the k nearest by cosine."""
        condition, rows = compile_filter(self._needed(where)), self.rows()
        query = vendor.Query.Nearest(vector.tolist(), using="dense")
        params = self._dense_params(condition, k, rows)

        def fetch(limit: int) -> list[vendor.ScoredPoint]:
            return self._inner.query(vendor.QueryRequest(limit=limit, query=query, filter=condition, params=params))

        return _best(fetch, k, rows, ranking.dense_score)

    def _dense_params(self, condition: vendor.Filter, k: int, rows: int) -> vendor.SearchParams:
        if rows > APPROXIMATE_ABOVE:
            with _translated("counting"):
                passing = self._inner.count(vendor.CountRequest(exact=False, filter=condition))
            if passing > _SCAN:
                return vendor.SearchParams(hnsw_ef=max(_BREADTH, 2 * k))
        return vendor.SearchParams(exact=True)

    def search_lexical(self, terms: Mapping[int, float], k: int, where: Filter) -> list[Hit]:
        """Return the k best by BM25; rarity is counted among the points of the pinned snapshot."""
        (found,) = self.search_lexical_each([terms], k, where)
        return found

    def search_lexical_each(self, several: Iterable[Mapping[int, float]], k: int, where: Filter) -> Iterator[list[Hit]]:
        """Yield what `search_lexical` finds for each; the filter is made ready once."""
        corpus = compile_filter(self._needed(ranking.corpus_of(where)))
        # Without a corpus the engine would count deleted points too, until the next optimise.
        params = vendor.SearchParams(idf=vendor.IdfParams(corpus=corpus))
        condition = compile_filter(self._needed(where))
        for terms in several:
            yield self._lexical(terms, k, condition, params) if terms else []

    def _lexical(
        self, terms: Mapping[int, float], k: int, condition: vendor.Filter, params: vendor.SearchParams
    ) -> list[Hit]:
        query = vendor.Query.Nearest(vendor.SparseVector(list(terms), list(terms.values())), using="lexical")

        def fetch(limit: int) -> list[vendor.ScoredPoint]:
            return self._inner.query(vendor.QueryRequest(limit=limit, query=query, filter=condition, params=params))

        return [hit for hit in _best(fetch, k, self.rows(), ranking.lexical_score) if hit.score > 0]

    def page(self, after: ChunkId | None, limit: int, where: Filter) -> tuple[list[PointHeader], ChunkId | None]:
        """Return up to `limit` headers from id `after` on (itself included), and where the next page starts."""
        request = vendor.ScrollRequest(
            offset=UUID(after) if after else None,
            limit=limit,
            filter=compile_filter(where),
            with_payload=True,
            with_vector=False,
        )
        with _translated("scanning"):
            records, following = self._inner.scroll(request)
        headers = []
        for record in records:
            payload, start, end = _payload(record.payload)
            headers.append(PointHeader(id=_chunk(record.id), valid_from=start, valid_to=end, payload=payload))
        return headers, None if following is None else _chunk(following)

    def count(self, where: Filter) -> int:
        """Return exactly how many points match."""
        with _translated("counting"):
            return self._inner.count(vendor.CountRequest(exact=True, filter=compile_filter(where)))

    def read(self, ids: Sequence[ChunkId]) -> list[Point]:
        """Return whole points; the missing are left out."""
        with _translated("reading"):
            records = self._inner.retrieve([UUID(id) for id in ids], True, ["dense", "lexical"])
        return [_point(record) for record in records]

    def flush(self) -> None:
        """Bring everything written to the disk, safe from a power cut."""
        with _translated("flushing"):
            self._inner.flush()

    def optimise(self) -> None:
        """Build graphs and merge segments; minutes for 100,000 points, during which this process does nothing else."""
        with _translated("optimising"):
            self._inner.optimize()

    def close(self) -> None:
        """Release the folder."""
        with _translated("closing"):
            self._inner.close()


def _best(
    fetch: Callable[[int], list[vendor.ScoredPoint]], k: int, rows: int, rounded: Callable[[float], float]
) -> list[Hit]:
    """Return the best k with ties by id: ask for more as long as the tie at the border may go on beyond the answer."""
    limit = min(k + _SPARE, rows)
    while limit:
        with _translated("searching"):
            hits = [Hit(_chunk(found.id), rounded(found.score)) for found in fetch(limit)]
        complete = len(hits) < limit or limit >= rows
        if complete or hits[-1].score < hits[k - 1].score:
            return ranking.in_order(hits, k)
        limit = min(limit * 4, rows)
    return []
