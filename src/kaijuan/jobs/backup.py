"""A whole home copied to a folder while it serves, and a home made from such a folder.

Catalog, index spaces and blobs are copied while the leases of all bases are held, so that they fit together; readers
notice nothing. The copy is a home of its own: nothing has to be built or embedded again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from kaijuan.errors import CorruptStoreError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.ports import BlobStore, CopiesSpaces
from kaijuan.index.sparse_copy import copy_tree
from kaijuan.ingest.ports import WrittenShelf
from kaijuan.jobs.health import bytes_of
from kaijuan.jobs.lease import held
from kaijuan.jobs.run import Ingest

FORMAT = "kaijuan-home"
VERSION = 1
MANIFEST = "backup.json"
_CATALOG, _CONFIG = "catalog.db", "config.toml"
_MANY = 64
_PIECE = 2**20
Told = Callable[[int, int], None]
BlobsIn = Callable[[Path], BlobStore]
"""Opens the blob store of a home."""
ShelfIn = Callable[[Path], WrittenShelf]
"""Opens what language models wrote, of a home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoresIn:
    """What opens the stores of a home that are copied entry by entry."""

    blobs: BlobsIn
    shelf: ShelfIn


@dataclass(frozen=True, slots=True, kw_only=True)
class BackUp:
    """What a backup says of itself."""

    made_at: float
    bases: int
    blobs: int
    spaces: tuple[str, ...]
    """Index spaces that are in it; those that are not are built by `kaijuan rebuild`."""
    catalog_hash: str
    """BLAKE2b-256 of the copied catalog file."""
    format: str = FORMAT
    version: int = VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """What was written or read, and where."""

    path: str
    bytes: int
    backup: BackUp


async def back_up(ingest: Ingest, home: Path, target: Path, stores: StoresIn, told: Told) -> BackedUp:
    """Copy a home to a folder that is not there; it appears whole or not at all. BusyError while a run is under way."""
    if await asyncio.to_thread(target.exists):
        raise UsageError(f"{target} is there already.", hint="Choose a folder that is not.")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        await asyncio.to_thread(part.mkdir, mode=0o700, parents=True)
        async with AsyncExitStack() as leases:
            bases = await ingest.catalog.every_kb()
            for kb in bases:
                lease = held(
                    ingest.catalog, kb.id, ingest.owner(), clock=ingest.clock, seconds=ingest.settings.lease_seconds
                )
                await leases.enter_async_context(lease)
            backup = await _copied(ingest, home, part, bases, stores, told)
        await asyncio.to_thread(_finish, part, target, backup)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
    return BackedUp(path=str(target), bytes=await asyncio.to_thread(bytes_of, target), backup=backup)


async def _copied(
    ingest: Ingest, home: Path, part: Path, bases: list[KnowledgeBase], stores: StoresIn, told: Told
) -> BackUp:
    await ingest.catalog.copy_to(part / _CATALOG)
    ingest.reached("copy_catalog")
    spaces = []
    if isinstance(ingest.indexes, CopiesSpaces):
        wanted = {kb.space for kb in bases if kb.space}
        for kb in bases:
            wanted |= {row.space for row in await ingest.catalog.spaces_of_models(kb.id) if row.is_followed}
        for name in sorted(wanted & set(await ingest.indexes.spaces())):
            await ingest.indexes.copy_space(name, part / "index")
            spaces.append(name)
            ingest.reached("copy_space")
    await asyncio.to_thread(_copy_shelf, stores.shelf(home), stores.shelf(part))
    count = await _copy_blobs(ingest.blobs, stores.blobs(part), sorted(await ingest.catalog.referenced_blobs()), told)
    with suppress(FileNotFoundError):
        await asyncio.to_thread(shutil.copy2, home / _CONFIG, part / _CONFIG)
    return BackUp(
        made_at=ingest.clock(),
        bases=len(bases),
        blobs=count,
        spaces=tuple(spaces),
        catalog_hash=await asyncio.to_thread(_hash_of, part / _CATALOG),
    )


def _copy_shelf(source: WrittenShelf, target: WrittenShelf) -> None:
    """Copy what was paid for: texts that are kept are used when documents are next cut."""
    for owner in source.owners():
        target.keep(owner, source.of(owner))
    for shelf in (source, target):
        shelf.close()


async def _copy_blobs(source: BlobStore, target: BlobStore, names: list[str], told: Told) -> int:
    for at in range(0, len(names), _MANY):
        page = names[at : at + _MANY]
        found = await source.get_each(page)
        for data in found:
            if not isinstance(data, bytes):
                raise data  # a backup that cannot be read back is worth nothing
        await target.put_each([data for data in found if isinstance(data, bytes)])
        told(min(at + _MANY, len(names)), len(names))
    return len(names)


def _finish(part: Path, target: Path, backup: BackUp) -> None:
    with (part / MANIFEST).open("w", encoding="utf-8") as file:
        json.dump(asdict(backup), file, indent=1)
    for place in part.rglob("*"):
        if place.is_file():
            with place.open("rb") as file_:
                os.fsync(file_.fileno())
    os.replace(part, target)


def _hash_of(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=32)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def read_backup(source: Path) -> BackUp:
    """Return what a backup says of itself; UsageError where the folder is none, CorruptStoreError where it is hurt."""
    try:
        told = json.loads((source / MANIFEST).read_text("utf-8"))
        found = BackUp(**{**told, "spaces": tuple(told["spaces"])})
    except FileNotFoundError:
        raise NotFoundError(f"{source} is no backup of a home.", hint="`kaijuan backup DIR` makes one.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorruptStoreError(f"The backup {source} cannot be read: {error}.") from error
    if found.format != FORMAT or found.version > VERSION:
        raise UsageError("The backup was made by another program or a newer version.")
    return found


async def restore(source: Path, home: Path, stores: StoresIn, told: Told) -> BackedUp:
    """Make a home from a backup, all of it or none: every hash is compared. UsageError where there is one already."""
    backup = read_backup(source)
    if await asyncio.to_thread(_is_taken, home):
        raise UsageError(f"{home} is not empty.", hint="Choose another home with --home.")
    if await asyncio.to_thread(_hash_of, source / _CATALOG) != backup.catalog_hash:
        raise CorruptStoreError("The catalog in the backup is damaged.", hint="Use an earlier backup.")
    part = home.with_name(f".{home.name}.{os.getpid()}.part")
    try:
        await asyncio.to_thread(part.mkdir, mode=0o700, parents=True)
        await asyncio.to_thread(shutil.copyfile, source / _CATALOG, part / _CATALOG)
        with suppress(FileNotFoundError):
            await asyncio.to_thread(shutil.copy2, source / _CONFIG, part / _CONFIG)
        if (source / "index").is_dir():
            await asyncio.to_thread(copy_tree, source / "index", part / "index")
        stored = stores.blobs(source)
        names = [name async for name in stored.names()]
        if len(names) < backup.blobs:
            raise CorruptStoreError(f"The backup lacks {backup.blobs - len(names)} blobs.", hint="Use an earlier one.")
        await _copy_blobs(stored, stores.blobs(part), names, told)
        await asyncio.to_thread(_copy_shelf, stores.shelf(source), stores.shelf(part))
        await asyncio.to_thread(_put_in_place, part, home)
    except OSError as error:
        raise StoreError(f"{home} cannot be written: {error.strerror or error}.") from error
    finally:
        await asyncio.to_thread(shutil.rmtree, part, ignore_errors=True)
    return BackedUp(path=str(home), bytes=await asyncio.to_thread(bytes_of, home), backup=backup)


async def verify(source: Path, blobs_in: BlobsIn, told: Told) -> BackedUp:
    """Compare every hash of a backup, as restoring it would, without writing anything; CorruptStoreError names what is
    wrong first. What an index holds is not compared: it can be built again."""
    backup = read_backup(source)
    if await asyncio.to_thread(_hash_of, source / _CATALOG) != backup.catalog_hash:
        raise CorruptStoreError("The catalog in the backup is damaged.", hint="Use an earlier backup.")
    lost = [name for name in backup.spaces if not (source / "index" / name).is_dir()]
    if lost:
        raise CorruptStoreError(f"The backup lacks the index {lost[0]}.", hint="Use an earlier one.")
    stored = blobs_in(source)
    names = [name async for name in stored.names()]
    if len(names) < backup.blobs:
        raise CorruptStoreError(f"The backup lacks {backup.blobs - len(names)} blobs.", hint="Use an earlier one.")
    for at in range(0, len(names), _MANY):
        faults = await stored.check_each(names[at : at + _MANY])
        fault = next((fault for fault in faults if fault is not None), None)
        if fault is not None:
            raise fault
        told(min(at + _MANY, len(names)), len(names))
    return BackedUp(path=str(source), bytes=await asyncio.to_thread(bytes_of, source), backup=backup)


def _is_taken(home: Path) -> bool:
    return home.exists() and any(home.iterdir())


def _put_in_place(part: Path, home: Path) -> None:
    with suppress(FileNotFoundError):
        home.rmdir()
    os.replace(part, home)
