"""What a reader may see is read once, whoever stops waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any, cast

import pytest

from kaijuan.errors import StoreError
from kaijuan.index.catalog import CatalogReader, KnowledgeBase
from kaijuan.retrieve.holdings import HoldingsShelf

READERS = frozenset({"all"})


class SlowCatalog:
    """A catalog that answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = asyncio.Event()
        self.broken = False

    async def versions(self, *_: object, **__: object) -> list[Any]:
        self.asked += 1
        await self.go_on.wait()
        if self.broken:
            raise StoreError("The catalog is broken.")
        return []

    async def principals_of(self, kb: object, documents: Collection[object]) -> dict[object, frozenset[str]]:
        return dict.fromkeys(documents, READERS)


KB = cast(KnowledgeBase, type("Kb", (), {"id": "k", "policy_version": 1})())


async def _read(shelf: HoldingsShelf, catalog: SlowCatalog) -> object:
    return await shelf.read(cast(CatalogReader, catalog), KB, 1, READERS)


async def test_who_stops_waiting_does_not_end_the_reading() -> None:
    shelf, catalog = HoldingsShelf(), SlowCatalog()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(_read(shelf, catalog), 0.01)
    second = asyncio.create_task(_read(shelf, catalog))
    await asyncio.sleep(0)
    catalog.go_on.set()
    assert await second == await _read(shelf, catalog)
    assert catalog.asked == 1


async def test_a_failure_is_not_kept() -> None:
    shelf, catalog = HoldingsShelf(), SlowCatalog()
    catalog.go_on.set()
    catalog.broken = True
    with pytest.raises(StoreError):
        await _read(shelf, catalog)
    catalog.broken = False
    await _read(shelf, catalog)
    assert catalog.asked == 2


async def test_closing_ends_what_is_being_read() -> None:
    shelf, catalog = HoldingsShelf(), SlowCatalog()
    waiting = asyncio.create_task(_read(shelf, catalog))
    await asyncio.sleep(0)
    await shelf.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
