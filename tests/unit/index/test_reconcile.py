"""Every way an index can differ from the catalog is found and mended; a rebuild interrupts no reader."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kaijuan.core.filters import EVERYTHING, Eq, Value, at_snapshot
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import CorruptStoreError, SpaceMismatchError
from kaijuan.index.ports import Index, Point
from kaijuan.index.rebuild import open_space
from kaijuan.index.reconcile import Fault, clear_unpublished
from kaijuan.index.settings import IndexSettings
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.testing.workshop import Workshop, offered

TEXTS: dict[str, str | None] = {name: "\n".join(f"{name} line {at} 第{at}行" for at in range(8)) for name in "abcd"}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    await shop.add(TEXTS)
    await shop.add({"a": "changed", "e": "new"})
    yield shop
    await shop.close()


@pytest.fixture
async def index(shop: Workshop) -> Index:
    return await shop.index()


async def _some(index: Index) -> list[ChunkId]:
    return [header.id async for header in index.scan(at_snapshot(2))][::3]


def _stranger(index: Index, number: int, **interval: int) -> Point:
    vector = np.zeros(index.spec.dimensions, dtype=np.float32)
    vector[0] = 1.0
    payload: dict[str, Value | tuple[str, ...]] = {"document_id": "none", "acl": ("all",)}
    return Point(id=ChunkId(f"{number:032x}"), vector=vector, terms={}, payload=payload, **interval)


async def _lost(index: Index) -> int:
    ids = await _some(index)
    await index.delete(ids)
    return len(ids)


async def _added(index: Index) -> int:
    await index.upsert([_stranger(index, number, valid_from=1) for number in range(3)])
    return 3


async def _closed(index: Index) -> int:
    ids = await _some(index)
    await index.close_interval(ids, 2)
    return len(ids)


async def _opened(index: Index) -> int:
    ids = [header.id async for header in index.scan(at_snapshot(1)) if header.valid_to == 2]
    await index.close_interval(ids, OPEN)
    return len(ids)


async def _shifted(index: Index) -> int:
    ids = await _some(index)
    await index.upsert([replace(_stranger(index, int(id, 16)), valid_from=7) for id in ids])
    return len(ids)


async def _published(index: Index) -> int:
    ids = [header.id async for header in index.scan(at_snapshot(2))]
    chosen = ids[:2]
    found = [header async for header in index.scan(EVERYTHING) if header.id in chosen]
    for header in found:
        payload: dict[str, Value | tuple[str, ...]] = {
            "document_id": str(header.payload["document_id"]),
            "acl": ("all", "spy"),
        }
        await index.upsert(
            [replace(_stranger(index, int(header.id, 16), valid_from=header.valid_from), payload=payload)]
        )
    return 2


Damage = Callable[[Index], Awaitable[int]]
DAMAGES: dict[Damage, Fault] = {
    _lost: Fault.MISSING,
    _added: Fault.EXTRA,
    _closed: Fault.INTERVAL,
    _opened: Fault.INTERVAL,
    _shifted: Fault.INTERVAL,
    _published: Fault.READERS,
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__.strip("_"))
async def test_damage_is_found_and_mended(shop: Workshop, index: Index, damage: Damage) -> None:
    kb = await shop.kb()
    whole = [await shop.points(snapshot) for snapshot in (1, 2)]
    before = [header async for header in index.scan(EVERYTHING)]
    count = await damage(index)
    assert count > 0
    found = await shop.ingest.check(kb)
    assert (dict(found.faults), found.repaired) == ({DAMAGES[damage]: count}, False)
    mended = await shop.ingest.reconcile(kb)
    # What begins beyond head is swept away at the start already, and then counts as missing.
    expected = {Fault.MISSING: count} if damage is _shifted else {DAMAGES[damage]: count}
    assert (dict(mended.faults), mended.repaired) == (expected, True)
    assert (await shop.ingest.check(kb)).problems == 0
    assert [await shop.points(snapshot) for snapshot in (1, 2)] == whole
    assert [header async for header in index.scan(EVERYTHING)] == before


async def test_a_whole_index_is_left_alone(shop: Workshop, index: Index) -> None:
    before = [header async for header in index.scan(EVERYTHING)]
    assert (await shop.ingest.reconcile(await shop.kb())).problems == 0
    assert [header async for header in index.scan(EVERYTHING)] == before


async def test_a_run_under_way_is_no_fault(shop: Workshop) -> None:
    reports = []

    async def walk() -> AsyncIterator[object]:
        async for item in offered({"a": "third", "f": str(TEXTS["b"]), "g": str(TEXTS["c"])}):
            yield item
        await asyncio.sleep(0.2)
        reports.append(await shop.ingest.check(await shop.kb()))

    await shop.ingest.add(await shop.kb(), walk(), mirror_scope="file:///shelf/")  # type: ignore[arg-type] # items
    assert [report.problems for report in reports] == [0]
    assert (await shop.ingest.check(await shop.kb())).problems == 0


async def test_clearing_what_lies_beyond_head(index: Index) -> None:
    before = [header async for header in index.scan(EVERYTHING)]
    await index.upsert([_stranger(index, number, valid_from=3) for number in range(3)])
    await index.close_interval([header.id for header in before if header.valid_to == OPEN], 3)
    assert await clear_unpublished(index, 2) == 3 + sum(header.valid_to == OPEN for header in before)
    assert [header async for header in index.scan(EVERYTHING)] == before
    assert await clear_unpublished(index, 2) == 0


async def test_a_rebuild_keeps_every_snapshot_and_drops_the_old_space(shop: Workshop, index: Index) -> None:
    kb = await shop.kb()
    whole = [await shop.points(snapshot) for snapshot in (1, 2)]
    rebuilt = await shop.ingest.rebuild(kb)
    assert rebuilt.space == f"{kb.id}-g2" != kb.space
    assert await shop.kb() == rebuilt
    assert [await shop.points(snapshot) for snapshot in (1, 2)] == whole
    assert await shop.indexes.spaces() == [rebuilt.space]
    assert (await shop.ingest.check(rebuilt)).problems == 0
    assert (await shop.ingest.rebuild(rebuilt)).space == f"{kb.id}-g3"


async def test_readers_search_on_while_it_is_rebuilt(shop: Workshop, index: Index) -> None:
    shop.ingest = replace(shop.ingest, index_settings=IndexSettings(grace_seconds=0.3))
    kb = await shop.kb()
    whole = await shop.points(2)
    rebuilding = asyncio.create_task(shop.ingest.rebuild(kb))
    searches = 0
    while (await shop.kb()).space == kb.space:
        assert [header.id async for header in index.scan(at_snapshot(2))] == whole
        searches += 1
    # Searches that began in the old space may end there.
    assert [header.id async for header in index.scan(at_snapshot(2))] == whole
    assert searches > 0
    await rebuilding
    assert await shop.points(2) == whole


async def test_another_model_needs_a_rebuild_and_gets_it(shop: Workshop) -> None:
    kb = await shop.kb()
    other = replace(shop.ingest, embedder=HashEmbedder(dimensions=32))
    with pytest.raises(SpaceMismatchError):
        await other.add(kb, offered({"z": "text"}))
    assert (await shop.kb()).head == 2
    rebuilt = await other.rebuild(kb)
    found = await open_space(shop.catalog, shop.indexes, rebuilt, other.embedder)
    assert found.spec.dimensions == 32
    assert await found.count(Eq("tenant", "acme")) > 0


async def test_a_lost_index_is_said_and_not_made_empty(shop: Workshop) -> None:
    kb = await shop.kb()
    await shop.indexes.drop(kb.space)
    with pytest.raises(CorruptStoreError, match="gone"):
        await shop.add({"z": "text"})
    with pytest.raises(CorruptStoreError):
        await shop.ingest.check(kb)
    await shop.ingest.rebuild(kb)
    assert await shop.points(2) == await shop.chunks(2)
