"""A whole knowledge base in one file: out of a home, and into another.

A zip archive with `manifest.json`, `catalog.jsonl` (a line a row: [table, row]) and `blobs/HASH`. The index is not in
it, for it is made from the rest. Nothing is ever unpacked to a path that the archive names.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from kaijuan.core.ids import content_hash
from kaijuan.errors import CorruptStoreError, DiskFullError, KaijuanError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.history import Row
from kaijuan.index.rebuild import Plan, rebuild
from kaijuan.jobs.run import Ingest

FORMAT = "kaijuan-base"
VERSION = 1
_MANIFEST, _CATALOG, _BLOBS = "manifest.json", "catalog.jsonl", "blobs/"
_NAME = re.compile(r"manifest\.json|catalog\.jsonl|blobs/[0-9a-f]{64}")
_LONGEST_LINE = 64 * 2**20
_LARGEST_BLOB = 2**31
_PIECE = 2**20
_RESERVE = 200 * 2**20
"""Bytes of disk that an import leaves free."""
_MANY = 32
Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an archive says of itself."""

    kb: str
    kb_id: str
    tenant: str
    head: int
    documents: int
    snapshots: int
    rows: int
    blobs: int
    catalog_hash: str
    """BLAKE2b-256 of `catalog.jsonl`."""
    made_at: float
    format: str = FORMAT
    version: int = VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Archived:
    """What was exported or imported."""

    path: str
    manifest: Manifest
    bytes: int


# --- out ---------------------------------------------------------------------------------------------------------


async def export(ingest: Ingest, kb: KnowledgeBase, path: Path, told: Told = lambda _done, _total: None) -> Archived:
    """Write a base with all snapshots that are kept to a file. It appears whole or not at all.

    For readers nothing changes; who publishes waits. NotFoundError or CorruptStoreError for a damaged blob: an archive
    that cannot be read back is worth nothing.
    """
    async with ingest.holding(kb) as (fresh, _):
        await ingest.end_dead_runs(fresh)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            manifest = await _written(ingest, fresh, part, told)
            await asyncio.to_thread(os.replace, part, path)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
        finally:
            with suppress(OSError):
                part.unlink()
    return Archived(path=str(path), manifest=manifest, bytes=await asyncio.to_thread(os.path.getsize, path))


async def _written(ingest: Ingest, kb: KnowledgeBase, part: Path, told: Told) -> Manifest:
    archive = await asyncio.to_thread(zipfile.ZipFile, part, "x", zipfile.ZIP_DEFLATED, allowZip64=True)
    try:
        rows, digest, needed = await asyncio.to_thread(_write_rows, archive, ingest.catalog.dump(kb.id))
        names = sorted(needed)
        for at in range(0, len(names), _MANY):
            page = names[at : at + _MANY]
            found = await ingest.blobs.get_each(page)
            for name, data in zip(page, found, strict=True):
                if not isinstance(data, bytes):
                    raise data
                await asyncio.to_thread(archive.writestr, _BLOBS + name, data)
            told(min(at + _MANY, len(names)), len(names))
        manifest = Manifest(
            kb=kb.name,
            kb_id=kb.id,
            tenant=kb.tenant,
            head=kb.head,
            documents=(await ingest.catalog.counts(kb.id, kb.head)).documents,
            snapshots=len(await ingest.catalog.snapshots(kb.id)),
            rows=rows,
            blobs=len(names),
            catalog_hash=digest,
            made_at=ingest.clock(),
        )
        archive.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=1))
    finally:
        await asyncio.to_thread(archive.close)
    await asyncio.to_thread(_sync, part)
    return manifest


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _write_rows(archive: zipfile.ZipFile, rows: Iterator[tuple[str, Row]]) -> tuple[int, str, set[str]]:
    digest = hashlib.blake2b(digest_size=32)
    count = 0
    needed: set[str] = set()
    with archive.open(_CATALOG, "w", force_zip64=True) as file:
        for table, row in rows:
            line = (json.dumps([table, {name: _plain(value) for name, value in row.items()}]) + "\n").encode()
            digest.update(line)
            file.write(line)
            count += 1
            needed.update(str(value) for name, value in row.items() if value and _names_blob(name))
    return count, digest.hexdigest(), needed


def _names_blob(column: str) -> bool:
    return column.endswith("_hash") and column != "content_hash"


def _plain(value: object) -> object:
    return {"bytes": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _value(given: object) -> object:
    return base64.b64decode(str(given["bytes"])) if isinstance(given, Mapping) else given


# --- in ----------------------------------------------------------------------------------------------------------


def read_manifest(path: Path) -> Manifest:
    """Return what an archive says of itself; UsageError where it is none, CorruptStoreError where it is damaged."""
    with _opened(path) as archive:
        return _manifest(archive)


def verify(path: Path, room: int | None = None) -> Manifest:
    """Read an archive in full and compare every hash; nothing is written. `room` limits what it may unpack to."""
    with _opened(path) as archive:
        manifest = _manifest(archive)
        names = [info for info in archive.infolist() if info.filename.startswith(_BLOBS)]
        if len(names) != manifest.blobs:
            raise _damaged(f"it has {len(names)} blobs, not {manifest.blobs}")
        total = sum(info.file_size for info in archive.infolist())
        if room is not None and total > room:
            raise DiskFullError(f"The archive unpacks to {total:,} bytes; there is room for {max(room, 0):,}.")
        needed: set[str] = set()
        for _, row in _rows(archive, manifest):
            needed.update(str(value) for name, value in row.items() if value and _names_blob(name))
        if lacking := needed - {info.filename.removeprefix(_BLOBS) for info in names}:
            raise _damaged(f"{len(lacking)} blobs are missing")
        for info in names:
            _blob(archive, info)
        return manifest


async def load(
    ingest: Ingest, kb: KnowledgeBase, path: Path, manifest: Manifest, told: Told = lambda _done, _total: None
) -> Archived:
    """Fill an empty base with what a verified archive holds, in full or not at all.

    Readers see an empty base until the index is built; a run that dies is undone by the next.
    """
    if (manifest.kb_id, manifest.tenant) != (kb.id, kb.tenant):
        raise UsageError(
            f"The archive holds the knowledge base {manifest.kb!r}.", hint=f"Import it as that: --kb {manifest.kb}."
        )
    async with ingest.holding(kb) as (fresh, _):
        await ingest.end_dead_runs(fresh)
        with _opened(path) as archive:
            await _store_blobs(ingest, archive, told)
            ingest.reached("store_blobs")
            run = await ingest.catalog.load(kb.id, _rows(archive, manifest), now=ingest.clock())
            ingest.reached("load")
        try:
            spaces = ingest.spaces()
            model = spaces.model_of(None)
            plan = Plan(
                kb=fresh,
                store=ingest.indexes,
                embedder=model.embedder,
                writer_of=lambda index: spaces.writer(fresh, index, model),
            )
            space = await rebuild(plan, told, lambda _version: None)
            await ingest.catalog.finish_import(run, manifest.head, space, now=ingest.clock())
        # Whatever stops it, Ctrl-C and cancelling too: half an import must not stay, and the cause goes on.
        except BaseException:
            await asyncio.shield(ingest.end_dead_runs(fresh, reason="The import was stopped."))
            raise
    return Archived(path=str(path), manifest=manifest, bytes=await asyncio.to_thread(os.path.getsize, path))


def room_in(home: Path) -> int:
    """Return how many bytes an import may add to a home."""
    return shutil.disk_usage(home).free - _RESERVE


async def _store_blobs(ingest: Ingest, archive: zipfile.ZipFile, told: Told) -> None:
    names = [info for info in archive.infolist() if info.filename.startswith(_BLOBS)]
    for at, info in enumerate(names, 1):
        await ingest.blobs.put(await asyncio.to_thread(_blob, archive, info))
        told(at, len(names))


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path} is no archive of a knowledge base: {error}.") from error
    names = [info.filename for info in archive.infolist()]
    strange = next((info for info in archive.infolist() if not _is_plain(info)), None)
    if strange is not None or len(set(names)) != len(names) or _MANIFEST not in names or _CATALOG not in names:
        archive.close()
        raise UsageError(f"{path} is no archive of a knowledge base.", hint="`kaijuan export` makes one.")
    return archive


def _is_plain(info: zipfile.ZipInfo) -> bool:
    # Names are only compared, never used as paths. A locked member could not be checked.
    return bool(_NAME.fullmatch(info.filename)) and not info.flag_bits & 1


def _manifest(archive: zipfile.ZipFile) -> Manifest:
    try:
        told = json.loads(_read(archive, archive.getinfo(_MANIFEST), 2**20))
        manifest = Manifest(**told)
    except (TypeError, ValueError) as error:
        raise _damaged(f"its manifest cannot be read: {error}") from error
    if manifest.format != FORMAT:
        raise UsageError("The archive is of another program.")
    if manifest.version > VERSION:
        raise UsageError("The archive was made by a newer version.", hint="Install the newest kaijuan.")
    return manifest


def _rows(archive: zipfile.ZipFile, manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows; CorruptStoreError at the end when they are not those that were written."""
    digest = hashlib.blake2b(digest_size=32)
    count = 0
    try:
        with archive.open(_CATALOG) as file:
            while line := file.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise _damaged("a row is too long")
                digest.update(line)
                count += 1
                table, row = json.loads(line)
                yield str(table), {str(name): _value(value) for name, value in row.items()}
    except KaijuanError:
        raise
    except (zipfile.BadZipFile, ValueError, TypeError, KeyError, AttributeError, OSError, EOFError) as error:
        raise _damaged(f"its rows cannot be read: {error}") from error
    if (count, digest.hexdigest()) != (manifest.rows, manifest.catalog_hash):
        raise _damaged("its rows are not those that were written")


def _blob(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    data = _read(archive, info, _LARGEST_BLOB)
    if content_hash(data) != info.filename.removeprefix(_BLOBS):
        raise _damaged(f"the blob {info.filename.removeprefix(_BLOBS)} is damaged")
    return data


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Return a member; never more bytes than it declares, nor more than `most`."""
    if info.file_size > most:
        raise _damaged(f"{info.filename} is larger than {most:,} bytes")
    try:
        with archive.open(info) as file:
            return _at_most(file, info)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
        raise _damaged(f"{info.filename} cannot be read: {error}") from error


def _at_most(file: IO[bytes], info: zipfile.ZipInfo) -> bytes:
    data = bytearray()
    while piece := file.read(_PIECE):
        data += piece
        if len(data) > info.file_size:
            raise _damaged(f"{info.filename} is larger than it says")
    return bytes(data)


def _damaged(why: str) -> CorruptStoreError:
    return CorruptStoreError(f"The archive is damaged: {why}.", hint="Export the knowledge base again.")
