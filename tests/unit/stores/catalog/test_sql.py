"""What only the SQL catalog has: pragmas, several processes on one file, and the database's errors as ours."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from kaijuan.errors import BusyError, DiskFullError, StoreError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.stores.catalog import connection as connections
from kaijuan.stores.catalog.sql import SqlCatalog
from kaijuan.testing.contracts.catalog_samples import NOW, publish, published, sample, stage


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[SqlCatalog]:
    catalog = SqlCatalog(tmp_path / "catalog.db")
    yield catalog
    await catalog.close()


@pytest.fixture
async def kb(catalog: SqlCatalog) -> KnowledgeBase:
    return await catalog.create_kb("acme", "handbook", now=NOW)


def _pragma(connection: Connection, name: str) -> object:
    return connection.exec_driver_sql(f"PRAGMA {name}").scalar()


async def test_connections_keep_the_promises(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    assert await catalog._read(_pragma, "journal_mode") == "wal"
    assert await catalog._read(_pragma, "foreign_keys") == 1
    assert await catalog._write(_pragma, "synchronous", durable=False) == 1
    # What publishes is on the disk when the call returns.
    assert await catalog._write(_pragma, "synchronous", durable=True) == 2


async def test_another_process_sees_what_is_published(catalog: SqlCatalog, kb: KnowledgeBase, tmp_path: Path) -> None:
    other = SqlCatalog(tmp_path / "catalog.db")
    run = await catalog.begin_run(kb.id, "add", now=NOW)
    await stage(catalog, run, sample(kb.id, "file:///a", "text"))
    assert (await other.kb("acme", "handbook")).head == 0
    await publish(catalog, run)
    assert (await other.kb("acme", "handbook")).head == 1
    assert len(await other.versions(kb.id, 1)) == 1
    await other.close()


async def test_the_stream_of_ids_is_of_one_moment(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    await published(catalog, kb, sample(kb.id, "file:///a", "\n".join(str(number) for number in range(9000))))
    stream = catalog.chunk_ids(kb.id)
    seen = [await anext(stream)]
    await published(catalog, kb, sample(kb.id, "file:///b", "\n".join(str(number) for number in range(100))))
    seen += [row async for row in stream]
    assert len(seen) == 9000


async def test_a_writer_that_waits_too_long_is_busy(
    catalog: SqlCatalog, kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.05)
    hasty = SqlCatalog(tmp_path / "catalog.db")
    await hasty.kbs("acme")
    blocker = sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(BusyError):
        await hasty.set_space(kb.id, "space")
    assert await hasty.kbs("acme") == [kb]  # readers never wait
    blocker.execute("ROLLBACK")
    blocker.close()
    await hasty.set_space(kb.id, "space")
    await hasty.close()


def _limit_pages(connection: Connection) -> None:
    pages = _pragma(connection, "page_count")
    _pragma(connection, f"max_page_count = {pages}")


async def test_no_room_left(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    await published(catalog, kb, sample(kb.id, "file:///a", "text"))
    run = await catalog.begin_run(kb.id, "add", now=NOW)
    await catalog._write(_limit_pages)
    big = sample(kb.id, "file:///b", "\n".join(f"line {number}" for number in range(5000)))
    with pytest.raises(DiskFullError):
        await stage(catalog, run, big)
    assert await catalog.pending(kb.id, limit=10) == []
    assert [one.source for one in await catalog.versions(kb.id, 1)] == ["file:///a"]
    await catalog.roll_back(run, now=NOW)


async def test_a_file_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = SqlCatalog(tmp_path / "catalog.db")
    await first.create_kb("acme", "handbook", now=NOW)
    await first.close()
    readonly = SqlCatalog(f"sqlite:///file:{tmp_path / 'catalog.db'}?mode=ro&uri=true")
    with pytest.raises(StoreError) as caught:
        await readonly.create_kb("acme", "other", now=NOW)
    assert "permission" in str(caught.value)
    await readonly.close()
    assert not (tmp_path / "file:").exists()  # the address is no path


@pytest.fixture
def closed_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a catalog, in which nobody may write; root is kept out by the file system's own mark."""
    folder = tmp_path / "closed"
    folder.mkdir()
    asyncio.run(_made(folder / "catalog.db"))
    folder.chmod(0o500)
    marked = os.access(folder, os.W_OK) and shutil.which("chattr")
    if marked:
        subprocess.run(["chattr", "+i", str(folder)], check=False, capture_output=True)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("this user may write everywhere")
        yield folder
    finally:
        if marked:
            subprocess.run(["chattr", "-i", str(folder)], check=False, capture_output=True)
        folder.chmod(0o700)


async def _made(place: Path) -> None:
    catalog = SqlCatalog(place)
    await catalog.create_kb("acme", "handbook", now=NOW)
    await catalog.close()


def test_a_folder_that_may_not_be_written_is_named(closed_folder: Path) -> None:
    async def look() -> None:
        catalog = SqlCatalog(closed_folder / "catalog.db")
        try:
            await catalog.kb("acme", "handbook")
        finally:
            await catalog.close()

    with pytest.raises(StoreError) as caught:
        asyncio.run(look())
    assert f"The folder {closed_folder} cannot be written." in str(caught.value)
    assert "--home" in caught.value.hint


async def test_a_cancelled_call_happens_wholly_or_not_at_all(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    run = await catalog.begin_run(kb.id, "add", now=NOW)
    made = sample(kb.id, "file:///a", "\n".join(f"line {number}" for number in range(3000)))
    call = asyncio.create_task(stage(catalog, run, made))
    await asyncio.sleep(0.005)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await stage(catalog, run, sample(kb.id, "file:///b", "after"))
    stored = await catalog.chunks_of(made.version.id)
    assert len(stored) in (0, len(made.chunks))
    await publish(catalog, run)
    assert (await catalog.counts(kb.id, 1)).chunks == (1 if not stored else 3001)


async def test_many_tasks_at_once(catalog: SqlCatalog, kb: KnowledgeBase) -> None:
    made = [sample(kb.id, f"file:///{at}", f"text {at}") for at in range(40)]
    run = await catalog.begin_run(kb.id, "add", now=NOW)
    await asyncio.gather(*(stage(catalog, run, one) for one in made))
    await publish(catalog, run)
    found = await asyncio.gather(*(catalog.version_of(kb.id, one.version.source, 1) for one in made))
    assert [one.id for one in found if one is not None] == [one.version.id for one in made]
