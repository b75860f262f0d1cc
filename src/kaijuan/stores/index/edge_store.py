"""The embedded default: index spaces of a home folder, served by its index owner process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kaijuan.core.filters import Filter
from kaijuan.core.ids import ChunkId
from kaijuan.errors import ClosedError
from kaijuan.index.ports import Abilities, Hit, Index, Point, PointHeader, SpaceSpec, Vector
from kaijuan.stores.index import checks, protocol
from kaijuan.stores.index.client import OwnerClient

_APPROXIMATE_ABOVE = 50_000
"""Kept equal to `qdrant_edge.APPROXIMATE_ABOVE` by a test; clients do not load the engine."""
_Item = TypeVar("_Item")


class EdgeIndex:
    """A handle on one space of an `EdgeIndexStore`."""

    def __init__(self, client: OwnerClient, spec: SpaceSpec, token: str) -> None:
        self._client = client
        self._spec = spec
        self._token = token
        self._closed = False

    @property
    def spec(self) -> SpaceSpec:
        """What the space was built for."""
        return self._spec

    async def _ask(self, verb: str, *arguments: Any) -> Any:
        self._check_open()
        return await self._client.ask(verb, self._spec.name, self._token, *arguments)

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"The index space {self._spec.name!r} is closed.")

    async def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace the points: all are checked first, then written batch by batch, each whole or not."""
        self._check_open()
        clean = await asyncio.to_thread(checks.check_points, self._spec, points)
        batches = protocol.pack_points(clean)
        while batch := await asyncio.to_thread(next, batches, None):
            await self._ask("upsert", batch)

    async def close_interval(self, ids: Sequence[ChunkId], snapshot: int) -> None:
        """Set `valid_to` of the points."""
        self._check_open()
        checks.check_snapshot(snapshot)
        for batch in _batches(checks.check_ids(ids)):
            await self._ask("close_interval", batch, snapshot)

    async def delete(self, ids: Sequence[ChunkId]) -> None:
        """Remove the points."""
        self._check_open()
        for batch in _batches(checks.check_ids(ids)):
            await self._ask("delete", batch)

    async def search_dense(self, vector: Vector, k: int, where: Filter) -> list[Hit]:
        """Return the k nearest by cosine similarity."""
        query = checks.unit_vector(vector, self._spec.dimensions)
        condition = protocol.pack_filter(checks.check_filter(where))
        if checks.check_count(k) == 0:
            self._check_open()
            return []
        return protocol.unpack_hits(await self._ask("dense", protocol.pack_vector(query), k, condition))

    async def search_lexical(self, terms: Mapping[int, float], k: int, where: Filter) -> list[Hit]:
        """Return the k best by BM25."""
        wanted = checks.check_terms(terms)
        condition = protocol.pack_filter(checks.check_filter(where))
        if checks.check_count(k) == 0 or not wanted:
            self._check_open()
            return []
        return protocol.unpack_hits(await self._ask("lexical", protocol.pack_terms(wanted), k, condition))

    async def search_lexical_each(
        self, several: Sequence[Mapping[int, float]], k: int, where: Filter
    ) -> list[list[Hit]]:
        """Return the k best for each, in one round trip."""
        wanted = [checks.check_terms(terms) for terms in several]
        condition = protocol.pack_filter(checks.check_filter(where))
        if checks.check_count(k) == 0 or not any(wanted):
            self._check_open()
            return [[] for _ in several]
        packed = [protocol.pack_terms(terms) for terms in wanted]
        return [protocol.unpack_hits(hits) for hits in await self._ask("lexical_each", packed, k, condition)]

    async def scan(self, where: Filter) -> AsyncIterator[PointHeader]:
        """Yield the headers of all matching points by ascending id."""
        condition = protocol.pack_filter(checks.check_filter(where))
        following: ChunkId | None = None
        while True:
            headers, following = await self._ask("page", following, condition)
            for header in headers:
                yield protocol.unpack_header(header)
            if following is None:
                return

    async def count(self, where: Filter) -> int:
        """Return how many points match."""
        return int(await self._ask("count", protocol.pack_filter(checks.check_filter(where))))

    async def optimise(self) -> None:
        """Build the next generation beside this one and let it take over."""
        await self._ask("optimise")

    async def flush(self) -> None:
        """Bring all writes to the disk."""
        await self._ask("flush")

    async def close(self) -> None:
        """Release this handle."""
        self._closed = True


class EdgeIndexStore:
    """Index spaces under `home/index`. Any number of processes may hold one of these for the same home.

    `idle_seconds` is how long an owner started here waits for work before it leaves, `patience` how many seconds
    without a sign of life make a BusyError. Must be used on one event loop.
    """

    abilities = Abilities(durable=True, approximate_above=_APPROXIMATE_ABOVE)

    def __init__(self, home: Path, idle_seconds: float = 300.0, *, patience: float = 30.0) -> None:
        self._client = OwnerClient(home, idle_seconds=idle_seconds, patience=patience)

    async def open(self, spec: SpaceSpec, *, create: bool = True) -> Index:
        """Open a space, made now if missing and wanted. A damaged one is CorruptStoreError: drop and rebuild it."""
        token = await self._client.ask("open", protocol.pack_spec(checks.check_spec(spec)), create)
        return EdgeIndex(self._client, spec, token)

    async def drop(self, name: str) -> None:
        """Remove a space; the missing is quiet."""
        await self._client.ask("drop", checks.check_space(name))

    async def copy_space(self, name: str, folder: Path) -> None:
        """Write a flushed copy of a space to another folder of spaces."""
        place = await asyncio.to_thread(folder.absolute)  # the owner stands in another folder
        await self._client.ask("copy_out", checks.check_space(name), str(place))

    async def spaces(self) -> list[str]:
        """Return the names of all spaces, sorted."""
        return list(await self._client.ask("spaces"))

    async def owner_pid(self) -> int | None:
        """Return the owner's process if one answers now; none is started."""
        return await self._client.owner_pid()

    async def stop_owner(self) -> None:
        """Ask the owner to flush and leave, and wait for it. The next call starts another."""
        await self._client.stop_owner()

    async def close(self) -> None:
        """Disconnect; the owner stays until it is idle."""
        await self._client.close()


def _batches(items: Sequence[_Item]) -> Iterable[Sequence[_Item]]:
    for start in range(0, len(items), protocol.IDS_A_FRAME):
        yield items[start : start + protocol.IDS_A_FRAME]
