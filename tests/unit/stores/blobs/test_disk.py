"""What only blobs on a disk can suffer: damage, no room, and a process that died while writing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kaijuan.core.ids import content_hash
from kaijuan.errors import CorruptStoreError, DiskFullError, StoreError
from kaijuan.stores.blobs.disk import DiskBlobStore


def _file(root: Path, name: str) -> Path:
    return root / name[:2] / name[2:4] / name


def _files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


async def test_damage_is_seen_at_reading(tmp_path: Path) -> None:
    blobs = DiskBlobStore(tmp_path)
    name = await blobs.put(b"right bytes")
    _file(tmp_path, name).write_bytes(b"wrong bytes")
    with pytest.raises(CorruptStoreError, match=name):
        await blobs.get(name)


async def test_a_file_cut_short_is_written_anew(tmp_path: Path) -> None:
    blobs = DiskBlobStore(tmp_path)
    name = await blobs.put(b"right bytes")
    _file(tmp_path, name).write_bytes(b"right")
    assert await blobs.put(b"right bytes") == name
    assert await blobs.get(name) == b"right bytes"


async def test_a_flipped_bit_is_healed_by_putting_again(tmp_path: Path) -> None:
    blobs = DiskBlobStore(tmp_path)
    name = await blobs.put(b"right bytes")
    _file(tmp_path, name).write_bytes(b"rigHt bytes")
    assert await blobs.put(b"right bytes") == name
    assert await blobs.get(name) == b"right bytes"


async def test_what_is_whole_is_not_written_again(tmp_path: Path) -> None:
    blobs = DiskBlobStore(tmp_path)
    before = _file(tmp_path, await blobs.put(b"right bytes")).stat()
    after = _file(tmp_path, await blobs.put(b"right bytes")).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


async def test_what_a_dying_writer_left_is_no_blob(tmp_path: Path) -> None:
    blobs = DiskBlobStore(tmp_path)
    name = await blobs.put(b"whole")
    _file(tmp_path, name).with_name(".partial-1-abc").write_bytes(b"who")
    (tmp_path / "stray").write_text("not ours")
    assert [found async for found in blobs.names()] == [name]


async def test_no_room_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = DiskBlobStore(tmp_path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError):
        await blobs.put(b"too much")
    assert not await blobs.exists(content_hash(b"too much"))
    assert _files(tmp_path) == []


async def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError):
        await DiskBlobStore(tmp_path / "file").put(b"data")


async def test_bytes_are_synced_before_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    sync, replace = os.fsync, os.replace

    def noted_sync(handle: int) -> None:
        order.append("sync")
        sync(handle)

    def noted_replace(path: str, to: str) -> None:
        order.append("name")
        replace(path, to)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(os, "replace", noted_replace)
    await DiskBlobStore(tmp_path).put(b"data")
    assert order == ["sync", "name", "sync"]
