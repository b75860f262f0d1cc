"""What the index owner does when asked: every verb of the protocol over the shards of one home.

Engine calls run on the event loop on purpose: they hold the global lock, so a thread would free nobody, and one
after another is the order that callers are promised. Copying and optimising run elsewhere.
"""

from __future__ import annotations

import asyncio
import ctypes
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgpack

from kaijuan.core.filters import Filter
from kaijuan.core.ids import ChunkId
from kaijuan.errors import BusyError, KaijuanError, NotFoundError, StoreError
from kaijuan.index.ports import Point
from kaijuan.stores.index import protocol
from kaijuan.stores.index.qdrant_edge import Shard
from kaijuan.stores.index.spaces import Card, SpaceFolder

_PAGE = 256
_PAGE_BYTES = 4 * 2**20
_CATCH_UP = 500
FLUSH_AFTER = 10_000
"""Points after which a space is flushed while it is written. Until then the engine keeps them a second time in its log,
which it reads again whole at the next start: many times the work of opening what was flushed."""

Verb = Callable[..., Awaitable[Any]]


@dataclass(slots=True, kw_only=True)
class OpenSpace:
    """A space whose serving shard is open."""

    card: Card
    shard: Shard
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by every write, and while a shard is copied or replaced."""
    unflushed: int = 0
    """Points written since the last flush."""
    changed: dict[ChunkId, None] | None = None
    """While the next generation is being built: ids written to this one since it was copied."""

    def note(self, ids: Sequence[ChunkId]) -> None:
        """Remember ids that the next generation must still learn about."""
        if self.changed is not None:
            self.changed.update(dict.fromkeys(ids))


class Service:
    """The verbs. One instance holds all open shards of a home."""

    def __init__(self, root: Path) -> None:
        self._folder = SpaceFolder(root)
        self._folder.sweep()
        self._open: dict[str, OpenSpace] = {}
        self._optimising: dict[str, asyncio.Task[None]] = {}
        self.verbs: dict[str, Verb] = {
            "open": self._open_space,
            "drop": self._drop,
            "spaces": self._spaces,
            "upsert": self._upsert,
            "close_interval": self._close_interval,
            "delete": self._delete,
            "dense": self._dense,
            "lexical": self._lexical,
            "lexical_each": self._lexical_each,
            "page": self._page,
            "count": self._count,
            "flush": self._flush,
            "optimise": self._optimise,
            "copy_out": self._copy_out,
        }

    def _space(self, name: str, token: str) -> OpenSpace:
        space = self._open.get(name)
        if space is None:
            card = self._folder.card(name)
            space = OpenSpace(card=card, shard=Shard.load(self._folder.generation(card)))
            self._open[name] = space
        if space.card.token != token:
            raise NotFoundError(f"The index space {name!r} was dropped.")
        return space

    async def _open_space(self, packed: protocol.Message, create: bool) -> str:
        spec = protocol.unpack_spec(packed)
        try:
            card = self._folder.verified(spec)
        except NotFoundError:
            if not create:
                raise
            self._folder.check_room()
            card = self._folder.prepare(spec)
            shard = Shard.create(self._folder.generation(card), spec.dimensions)
            shard.flush()
            self._folder.commit(card)
            self._open[spec.name] = OpenSpace(card=card, shard=shard)
        return self._space(spec.name, card.token).card.token

    async def _drop(self, name: str) -> None:
        await self._stop_optimising(name)
        space = self._open.pop(name, None)
        if space is not None:
            async with space.writing:
                space.shard.close()
        self._folder.drop(name)

    async def _spaces(self) -> list[str]:
        return self._folder.names()

    async def _upsert(self, name: str, token: str, batch: list[bytes]) -> None:
        self._folder.check_room()
        points = protocol.unpack_points(batch)
        await self._write(name, token, [point.id for point in points], lambda shard: shard.upsert(points))
        space = self._space(name, token)
        space.unflushed += len(points)
        if space.unflushed >= FLUSH_AFTER:
            await self._flush(name, token)

    async def _close_interval(self, name: str, token: str, ids: list[ChunkId], snapshot: int) -> None:
        await self._write(name, token, ids, lambda shard: shard.close_interval(ids, snapshot))

    async def _delete(self, name: str, token: str, ids: list[ChunkId]) -> None:
        await self._write(name, token, ids, lambda shard: shard.delete(ids))

    async def _write(self, name: str, token: str, ids: list[ChunkId], write: Callable[[Shard], None]) -> None:
        space = self._space(name, token)
        async with space.writing:
            space.note(ids)
            write(space.shard)

    def _reader(self, name: str, token: str, where: Filter) -> Shard:
        space = self._space(name, token)
        if not space.writing.locked():  # making a field index is a write: not while the shard is being copied
            space.shard.index_fields(where)
        return space.shard

    async def _dense(self, name: str, token: str, vector: bytes, k: int, packed: protocol.Message) -> protocol.Message:
        where = protocol.unpack_filter(packed)
        shard = self._reader(name, token, where)
        return protocol.pack_hits(shard.search_dense(protocol.unpack_vector(vector), k, where))

    async def _lexical(
        self, name: str, token: str, terms: protocol.Message, k: int, packed: protocol.Message
    ) -> protocol.Message:
        where = protocol.unpack_filter(packed)
        shard = self._reader(name, token, where)
        return protocol.pack_hits(shard.search_lexical(protocol.unpack_terms(terms), k, where))

    async def _lexical_each(
        self, name: str, token: str, several: list[protocol.Message], k: int, packed: protocol.Message
    ) -> list[protocol.Message]:
        where = protocol.unpack_filter(packed)
        found = self._reader(name, token, where).search_lexical_each(map(protocol.unpack_terms, several), k, where)
        return [protocol.pack_hits(hits) for hits in found]

    async def _page(self, name: str, token: str, after: ChunkId | None, packed: protocol.Message) -> protocol.Message:
        """Return [headers, id to go on from]; cut short when payloads are large."""
        where = protocol.unpack_filter(packed)
        headers, following = self._reader(name, token, where).page(after, _PAGE, where)
        answer: list[protocol.Message] = []
        size = 0
        for header in headers:
            item = protocol.pack_header(header)
            size += len(msgpack.packb(item))
            if answer and size > _PAGE_BYTES:
                return [answer, header.id]
            answer.append(item)
        return [answer, following]

    async def _count(self, name: str, token: str, packed: protocol.Message) -> int:
        where = protocol.unpack_filter(packed)
        return self._reader(name, token, where).count(where)

    async def _flush(self, name: str, token: str) -> None:
        space = self._space(name, token)
        space.shard.flush()
        space.unflushed = 0

    async def _copy_out(self, name: str, folder: str) -> None:
        """Write a flushed copy of a space to another folder. Writers wait, readers do not."""
        space = self._space(name, self._folder.card(name).token)
        async with space.writing:
            space.shard.flush()
            space.unflushed = 0
            await _to_the_end(asyncio.to_thread(self._folder.copy_out, space.card, Path(folder)))

    async def _optimise(self, name: str, token: str) -> None:
        """Join the run that is going on, or start one."""
        self._space(name, token)
        task = self._optimising.get(name)
        if task is None:
            task = asyncio.create_task(self._next_generation(self._open[name]))
            self._optimising[name] = task
            task.add_done_callback(lambda _: self._optimising.pop(name, None))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            if task.cancelled():
                raise BusyError(f"Optimising {name!r} was stopped: the space was dropped or its owner left.") from error
            raise

    async def _stop_optimising(self, name: str) -> None:
        task = self._optimising.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _next_generation(self, space: OpenSpace) -> None:
        """Build the next generation from a copy while this one serves, then let it take over.

        Until the card is renamed into place this generation holds every write; afterwards the next one does,
        because whatever changed meanwhile was read from this one and written to it, flushed, first.
        """
        self._folder.check_room(copying=space.card)
        following = self._folder.successor(space.card)
        try:
            async with space.writing:
                space.shard.flush()
                space.changed = {}
                await _to_the_end(asyncio.to_thread(self._folder.copy, space.card, following))
            await _optimise_apart(self._folder.generation(following))
            async with space.writing:
                await self._take_over(space, following)
        except BaseException:
            if space.card is not following:
                await _to_the_end(asyncio.to_thread(self._folder.remove_generation, following))
            raise
        finally:
            space.changed = None

    async def _take_over(self, space: OpenSpace, following: Card) -> None:
        successor = Shard.load(self._folder.generation(following))
        try:
            changed = list(space.changed or ())
            for start in range(0, len(changed), _CATCH_UP):
                _catch_up(space.shard, successor, changed[start : start + _CATCH_UP])
                await asyncio.sleep(0)
            successor.flush()
            self._folder.commit(following)
        except BaseException:
            successor.close()
            raise
        retired, former = space.shard, space.card
        space.shard, space.card = successor, following
        retired.close()
        del retired
        _give_back_memory()
        await asyncio.to_thread(self._folder.remove_generation, former)

    async def close(self) -> None:
        """Stop optimising, flush and close every shard."""
        for name in list(self._optimising):
            await self._stop_optimising(name)
        failures: list[KaijuanError] = []
        for space in self._open.values():
            try:
                space.shard.flush()
                space.shard.close()
            except KaijuanError as error:
                failures.append(error)  # the other shards are flushed all the same
        self._open.clear()
        if failures:
            raise failures[0]


def _give_back_memory() -> None:
    """Let the system have what the former shard held: glibc keeps freed memory for itself otherwise."""
    with suppress(OSError, AttributeError):  # other C libraries have no such call
        ctypes.CDLL(None).malloc_trim(0)


def _catch_up(source: Shard, target: Shard, ids: list[ChunkId]) -> None:
    """Make the target hold exactly what the source holds of these ids."""
    points: list[Point] = source.read(ids)
    present = {point.id for point in points}
    target.delete([id for id in ids if id not in present])
    target.upsert(points)


async def _to_the_end(work: Awaitable[None]) -> None:
    """Wait for work in a thread even when cancelled: nothing may remove a folder that is still being copied to."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _optimise_apart(folder: Path) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "kaijuan.stores.index.optimising", str(folder), stdin=asyncio.subprocess.DEVNULL
    )
    try:
        code = await child.wait()
    except BaseException:
        child.kill()
        await child.wait()
        raise
    if code != 0:
        raise StoreError(
            f"Optimising the index ended with code {code}; the former one goes on serving.",
            hint="See index/owner.log in the home folder.",
        )
