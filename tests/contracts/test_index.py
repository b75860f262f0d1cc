"""Every index engine keeps the promises of the port, the embedded one through its owner process."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from kaijuan.index.ports import IndexStore
from kaijuan.stores.index.edge_store import EdgeIndexStore
from kaijuan.stores.index.memory import MemoryIndexStore
from kaijuan.testing.contracts.index import Make, SharedTests, Writing
from kaijuan.testing.contracts.index_spaces import IndexContract


class TestMemoryIndex(IndexContract):
    @pytest.fixture
    async def make(self) -> AsyncIterator[Make]:
        stores: list[IndexStore] = []

        async def another() -> IndexStore:
            stores.append(MemoryIndexStore())
            return stores[-1]

        yield another
        for store in stores:
            await store.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for all tests here, so that not every one of them waits for an owner to start."""
    home = tmp_path_factory.mktemp("home")
    yield home
    asyncio.run(_stop(home))
    shutil.rmtree(home)


async def _stop(home: Path) -> None:
    store = EdgeIndexStore(home)
    await store.stop_owner()
    await store.close()


class TestEdgeIndex(IndexContract):
    @pytest.fixture
    async def make(self, home: Path) -> AsyncIterator[Make]:
        async def another() -> IndexStore:
            return EdgeIndexStore(home, idle_seconds=60)

        yield another
        cleaner = EdgeIndexStore(home, idle_seconds=60)
        for name in await cleaner.spaces():
            await cleaner.drop(name)
        assert await cleaner.spaces() == []
        assert not [place for place in (home / "index").iterdir() if place.is_dir()]
        await cleaner.close()


def test_a_shared_test_cannot_be_replaced_in_silence() -> None:
    with pytest.raises(TypeError, match="test_starts_empty"):
        type("Cheat", (Writing,), {"test_starts_empty": lambda self: None})

    @pytest.mark.xfail(reason="known")
    def excused(self: object) -> None: ...

    assert issubclass(type("Honest", (Writing,), {"test_starts_empty": excused}), SharedTests)
