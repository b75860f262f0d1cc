"""What goes wrong around a base: no room, no right to write, a clock that goes back, a catalog held by a backup, a
flipped bit. Each is told clearly, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.errors import BusyError, StoreError
from kaijuan.jobs.settings import RetentionSettings
from kaijuan.stores.catalog import connection
from kaijuan.testing.embedders import HashEmbedder

DAY = 86_400.0
TEXTS = {"travel.txt": "差旅住宿上限五百元。RULE-1001。", "food.txt": "The canteen opens at eleven. RULE-2002."}


def _write(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return _write(tmp_path / "docs", TEXTS)


@pytest.fixture
async def base(tmp_path: Path, docs: Path) -> AsyncIterator[Kaijuan]:
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        await engine.add([str(docs)])
        yield engine
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process


async def _found(engine: Kaijuan, word: str) -> list[str]:
    result = await engine.search(word, k=20, cut=False)
    return sorted({passage.source.rpartition("/")[2] for passage in result.passages if word in passage.text})


# --- no room ----------------------------------------------------------------------------------------------------

FILL = """
import asyncio, os, sys
from pathlib import Path
from kaijuan import Kaijuan
from kaijuan.errors import DiskFullError
from kaijuan.testing.embedders import HashEmbedder

disk, docs = Path(sys.argv[1]), Path(sys.argv[2])

def fill(free):
    room = os.statvfs(disk)
    with open(disk / "filler", "wb") as file:
        left = room.f_bavail * room.f_frsize - free
        while left > 0:
            left -= file.write(bytes(min(left, 1 << 20)))

async def words(engine, word):
    found = await engine.search(word, cut=False)
    return any(word in passage.text for passage in found.passages)

async def main():
    async with Kaijuan(disk / "home", embedder=HashEmbedder()) as engine:
        await engine.add([str(docs)])
        for round, free in enumerate((0, 64 << 10, 600 << 10, 8 << 20)):
            text = chr(10).join(f"NEW-{round} line {at} 第 {at} 行" for at in range(4000))
            (docs / "new.txt").write_text(text, encoding="utf-8")
            fill(free)
            try:
                await engine.add([str(docs)])
            except DiskFullError as error:
                print("full", error)
            else:
                print("taken")
            assert await words(engine, "RULE-1001"), "what was there is found on a full disk"
            (disk / "filler").unlink()
            report = await engine.add([str(docs)])
            assert not report.failed, report.failed
            assert await words(engine, f"NEW-{round}") and await words(engine, "RULE-1001")
            health = await engine.doctor(deep=True)
            assert health.ok, health
        await engine.indexes.stop_owner()

asyncio.run(main())
"""


@pytest.mark.slow
def test_a_full_disk_is_named_and_loses_nothing(tmp_path: Path, docs: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=320m none {disk} && exec {sys.executable} -c '{FILL}' {disk} {docs}"
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", mount], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert sum(line.startswith("full ") for line in lines) >= 3, lines
    assert "Traceback" not in done.stderr


# --- no right to write ------------------------------------------------------------------------------------------


@pytest.fixture
def closed(tmp_path: Path, docs: Path) -> Iterator[Path]:
    """A home that may be read and not written; root is kept out by the file system's own mark."""
    home = tmp_path / "home"

    async def made() -> None:
        async with Kaijuan(home, embedder=HashEmbedder()) as engine:
            await engine.add([str(docs)])
            await engine.indexes.stop_owner()  # type: ignore[attr-defined] # nobody is at work there

    asyncio.run(made())
    home.chmod(0o500)
    marked = os.access(home, os.W_OK) and shutil.which("chattr")
    if marked:
        subprocess.run(["chattr", "+i", str(home)], check=False, capture_output=True)
    try:
        if os.access(home, os.W_OK):
            pytest.skip("this user may write everywhere")
        yield home
    finally:
        if marked:
            subprocess.run(["chattr", "-i", str(home)], check=False, capture_output=True)
        home.chmod(0o700)


def _copies() -> set[str]:
    return {place.name for place in Path(tempfile.gettempdir()).glob(f"kaijuan-copy-{os.getpid()}-*")}


def test_a_home_that_may_only_be_read_is_searched_and_asked(closed: Path) -> None:
    before = {place: place.stat().st_mtime_ns for place in closed.rglob("*") if place.is_file()}

    async def use() -> None:
        async with Kaijuan(closed, embedder=HashEmbedder()) as engine:
            assert await _found(engine, "RULE-1001") == ["travel.txt"]
            answer = await engine.ask("差旅住宿上限是多少？")
            assert "五百元" in answer.answer
            assert len(await engine.list()) == 2
            assert (await engine.doctor()).ok
            for change in (engine.remove("travel.txt"), engine.rebuild(), engine.add([str(closed)])):
                with pytest.raises(StoreError, match="cannot be written"):
                    await change
            assert len(await engine.list()) == 2

    asyncio.run(use())
    assert {place: place.stat().st_mtime_ns for place in closed.rglob("*") if place.is_file()} == before
    assert _copies() == set()


def test_a_home_where_somebody_else_is_at_work_is_not_copied(closed: Path) -> None:
    async def use() -> None:
        async with Kaijuan(closed, embedder=HashEmbedder()) as engine:
            with pytest.raises(BusyError, match="at work"):
                await engine.search("RULE-1001")

    import fcntl

    with (closed / "index" / "owner.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        asyncio.run(use())


# --- a clock that goes back -------------------------------------------------------------------------------------


class Clock:
    """Told what time it is."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


async def test_a_clock_that_goes_back_loses_and_mixes_nothing(tmp_path: Path, docs: Path) -> None:
    clock = Clock(1_800_000_000.0)
    config = Config(retention=RetentionSettings(keep_days=1, keep_snapshots=1))
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder(), clock=clock) as engine:
        await engine.add([str(docs)])
        clock.now -= 3650 * DAY
        (docs / "travel.txt").write_text("差旅住宿上限六百元。RULE-3003。", encoding="utf-8")
        os.utime(docs / "travel.txt", (clock.now, clock.now))
        second = await engine.add([str(docs)])
        assert (second.snapshot, second.updated) == (2, 1)
        assert await _found(engine, "RULE-1001") == []
        assert await _found(engine, "RULE-3003") == ["travel.txt"]
        clock.now -= DAY
        assert (await engine.add([str(docs)])).unchanged == 2
        # By their numbers, snapshots stand in the order in which they were published.
        assert [one.number for one in await engine.snapshots()] == [1, 2]
        old = await engine.search("RULE-1001", as_of=1, cut=False)
        assert any("RULE-1001" in passage.text for passage in old.passages)
        await engine.gc()
        assert await _found(engine, "RULE-3003") == ["travel.txt"]
        assert (await engine.doctor(deep=True)).ok
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's


async def test_the_lease_of_a_dead_run_is_no_obstacle_whatever_the_clock_says(tmp_path: Path, docs: Path) -> None:
    clock = Clock(1_800_000_000.0)
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder(), clock=clock) as engine:
        await engine.add([str(docs)])
        kb = await engine.catalog.kb("default", "default")
        dead = await asyncio.to_thread(subprocess.check_output, [sys.executable, "-c", _NAME], text=True)
        await engine.catalog.acquire_lease(kb.id, dead.strip(), now=clock.now, seconds=60)
        clock.now -= 3650 * DAY  # by this clock it will not expire for ten years
        (docs / "food.txt").write_text("The canteen opens at noon. RULE-4004.", encoding="utf-8")
        assert (await engine.add([str(docs)])).updated == 1
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's


_NAME = "from kaijuan.jobs.owner import new_owner; print(new_owner())"


# --- a catalog held by a backup ---------------------------------------------------------------------------------


async def test_a_catalog_locked_by_a_backup_is_busy_for_writers_and_open_to_readers(
    base: Kaijuan, docs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.2)
    (docs / "food.txt").write_text("The canteen opens at noon. RULE-4004.", encoding="utf-8")
    async with Kaijuan(base.home, embedder=HashEmbedder()) as hasty:
        await hasty.list()
        backup = sqlite3.connect(base.home / "catalog.db", isolation_level=None)
        backup.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="writing to the catalog"):
            await hasty.add([str(docs)])
        assert await _found(hasty, "RULE-2002") == ["food.txt"]
        backup.execute("ROLLBACK")
        backup.close()
        assert (await hasty.add([str(docs)])).updated == 1
        assert await _found(hasty, "RULE-4004") == ["food.txt"]


async def test_a_backup_made_while_documents_come_is_one_whole_state(base: Kaijuan, docs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()

    def back_up() -> None:
        source, target = sqlite3.connect(base.home / "catalog.db"), sqlite3.connect(copy / "catalog.db")
        source.backup(target, pages=5, sleep=0.001)
        source.close()
        target.close()

    _write(docs, {f"more{number}.txt": f"More rules. RULE-5{number:03}. 第 {number} 条。" for number in range(30)})
    _, report = await asyncio.gather(asyncio.to_thread(back_up), base.add([str(docs)]))
    assert report.added == 30
    shutil.copytree(base.home / "blobs", copy / "blobs")
    async with Kaijuan(copy, embedder=HashEmbedder()) as restored:
        # The index is derived: a backup needs catalog and blobs.
        kb = await restored.catalog.kb("default", "default")
        await restored.doctor(repair=True) if (copy / "index").exists() else await restored.rebuild()
        shown = {version.source.rpartition("/")[2] for version in await restored.list()}
        assert shown >= set(TEXTS)
        assert len(shown) in (2, 32), f"half of a snapshot: {len(shown)} at {kb.head}"
        assert (await restored.doctor(deep=True)).ok
        assert await _found(restored, "RULE-1001") == ["travel.txt"]
        await restored.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's


# --- a flipped bit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("heal", ["add", "repair"])
async def test_one_flipped_bit_is_found_named_and_healed(base: Kaijuan, docs: Path, heal: str) -> None:
    (version,) = [one for one in await base.list() if one.source.endswith("travel.txt")]
    blob = base.home / "blobs" / version.text_hash[:2] / version.text_hash[2:4] / version.text_hash
    data = bytearray(blob.read_bytes())
    data[5] ^= 1
    blob.chmod(0o600)
    blob.write_bytes(data)
    async with Kaijuan(base.home, embedder=HashEmbedder()) as fresh:
        told = await fresh.doctor(deep=True)
        assert not told.ok
        assert any("travel.txt" in check.detail for check in told.checks if not check.ok)
        assert await _found(fresh, "RULE-2002") == ["food.txt"]
        # What cannot be read is never shown, neither as it was nor as it is now.
        assert await _found(fresh, "RULE-1001") == []
        heals: dict[str, Callable[[], object]] = {
            "add": lambda: fresh.add([str(docs)], check_content=True),
            "repair": lambda: fresh.doctor(deep=True, repair=True),
        }
        await heals[heal]()  # type: ignore[misc] # both are coroutines
        assert await _found(fresh, "RULE-1001") == ["travel.txt"]
        assert (await fresh.doctor(deep=True)).ok
