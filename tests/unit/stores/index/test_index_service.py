"""The owner's verbs in this process: room on the disk, failed optimising, what survives it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kaijuan.core.filters import EVERYTHING
from kaijuan.errors import DiskFullError, StoreError
from kaijuan.stores.index import protocol, service
from kaijuan.stores.index.qdrant_edge import Shard
from kaijuan.stores.index.service import Service
from kaijuan.testing.contracts.index_points import corpus, point, spec


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.fixture
async def owner(tmp_path: Path) -> AsyncIterator[Service]:
    owner = Service(tmp_path)
    yield owner
    await owner.close()


async def ask(owner: Service, verb: str, *arguments: object) -> object:
    return await owner.verbs[verb](*arguments)


async def opened(owner: Service) -> tuple[str, str]:
    return "main", str(await ask(owner, "open", protocol.pack_spec(spec()), True))


async def count(owner: Service, space: tuple[str, str]) -> object:
    return await ask(owner, "count", *space, protocol.pack_filter(EVERYTHING))


async def test_a_full_disk_is_noticed_before_anything_is_written(
    owner: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await opened(owner)
    (batch,) = protocol.pack_points([point(1)])
    await ask(owner, "upsert", *space, batch)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: Usage(10**9, 10**9, 10**6))
    (more,) = protocol.pack_points([point(2)])
    with pytest.raises(DiskFullError, match="MiB"):
        await ask(owner, "upsert", *space, more)
    with pytest.raises(DiskFullError):
        await ask(owner, "open", protocol.pack_spec(spec("second")), True)
    with pytest.raises(DiskFullError):
        await ask(owner, "optimise", *space)
    assert await count(owner, space) == 1
    assert await ask(owner, "spaces") == ["main"]
    await ask(owner, "delete", *space, [point(1).id])
    assert await count(owner, space) == 0


async def test_writing_much_flushes_on_the_way(owner: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed = 0
    flush = Shard.flush

    def counted(shard: Shard) -> None:
        nonlocal flushed
        flushed += 1
        flush(shard)

    space = await opened(owner)
    monkeypatch.setattr(Shard, "flush", counted)
    monkeypatch.setattr(service, "FLUSH_AFTER", 250)
    for _ in range(5):
        (batch,) = protocol.pack_points(corpus(100))
        await ask(owner, "upsert", *space, batch)
    assert flushed == 1  # after the third, and two more are waiting
    await ask(owner, "flush", *space)
    await ask(owner, "upsert", *space, batch)
    assert flushed == 2


async def test_failed_optimising_leaves_the_former_generation_serving(
    owner: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = await opened(owner)
    (batch,) = protocol.pack_points(corpus(300))
    await ask(owner, "upsert", *space, batch)
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(StoreError, match="goes on serving"):
        await ask(owner, "optimise", *space)
    assert [place.name for place in (tmp_path / "main").iterdir() if place.is_dir()] == ["g000001"]
    await ask(owner, "upsert", *space, next(protocol.pack_points([point(10**6)])))
    assert await count(owner, space) == 301


async def test_optimising_twice_at_once_is_optimising_once(owner: Service, tmp_path: Path) -> None:
    space = await opened(owner)
    (batch,) = protocol.pack_points(corpus(300))
    await ask(owner, "upsert", *space, batch)
    await asyncio.gather(ask(owner, "optimise", *space), ask(owner, "optimise", *space))
    assert [place.name for place in (tmp_path / "main").iterdir() if place.is_dir()] == ["g000002"]
    assert await count(owner, space) == 300


async def test_dropping_a_space_stops_its_optimising(owner: Service, tmp_path: Path) -> None:
    space = await opened(owner)
    (batch,) = protocol.pack_points(corpus(300))
    await ask(owner, "upsert", *space, batch)
    running = asyncio.ensure_future(ask(owner, "optimise", *space))
    await asyncio.sleep(0.05)
    await ask(owner, "drop", "main")
    with pytest.raises(StoreError, match="stopped"):
        await running
    assert os.listdir(tmp_path) == []
