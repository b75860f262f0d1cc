"""Snapshots that nobody needs go, and with them versions, points, blobs and old lines of reports.

The catalog first, in one transaction: what is then too much in the index and among the blobs serves no reader, and is
found by looking, so that a run that dies anywhere leaves nothing that the next one does not finish.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from kaijuan.core.documents import Version
from kaijuan.core.filters import Range
from kaijuan.core.ids import ChunkId, DocumentId
from kaijuan.core.snapshots import OPEN, Snapshot
from kaijuan.errors import BusyError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.history import Dropped
from kaijuan.index.ports import BlobStore, Index
from kaijuan.index.write import IndexWriter, follow
from kaijuan.jobs.lease import held
from kaijuan.jobs.run import Ingest
from kaijuan.jobs.settings import RetentionSettings

DAY = 86_400.0
_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class GcReport:
    """What was dropped, or would be."""

    kept: tuple[int, ...]
    """Snapshots that can be read on."""
    dropped: tuple[int, ...]
    versions: int = 0
    chunks: int = 0
    points: int = 0
    """Points that left the index."""
    blobs: int = 0
    bytes: int = 0
    reports: int = 0
    """Runs whose lines were dropped; that they ran is kept."""
    dry: bool = False
    busy: str = ""
    """Why blobs that nothing needs were left: another base of the home was being written."""


def wanted(snapshots: Sequence[Snapshot], settings: RetentionSettings, now: float) -> list[int]:
    """Return the numbers of those snapshots that stay, ascending. `snapshots` are all that are kept, oldest first."""
    newest = {one.number for one in snapshots[-settings.keep_snapshots :]}
    followed = [*(after.created_at for after in snapshots[1:]), None]
    stay = []
    for one, until in zip(snapshots, followed, strict=False):
        age = 0.0 if until is None else now - until
        # A clock that went backwards must not make anything look old.
        young = age <= max(settings.keep_days * DAY, settings.grace_seconds)
        if until is None or young or one.tags or one.number in newest:
            stay.append(one.number)
    return stay


async def plan(catalog: Catalog, kb: KnowledgeBase, settings: RetentionSettings, now: float) -> GcReport:
    """Say what `collect` would drop, without changing anything."""
    snapshots = await catalog.snapshots(kb.id)
    stay = wanted(snapshots, settings, now)
    unseen = [
        version
        for version in await catalog.all_versions(kb.id)
        if version.valid_to <= kb.head and not _seen(stay, version.valid_from, version.valid_to)
    ]
    counts = await catalog.child_counts([version.id for version in unseen])
    return GcReport(
        kept=tuple(stay),
        dropped=tuple(one.number for one in snapshots if one.number not in set(stay)),
        versions=len(unseen),
        chunks=sum(counts.values()),
        points=sum(counts.values()),
        dry=True,
    )


async def collect(ingest: Ingest, kb: KnowledgeBase, settings: RetentionSettings) -> GcReport:
    """Drop what the settings do not keep. Repeatable; readers of kept snapshots notice nothing."""
    catalog = ingest.catalog
    async with ingest.opened(kb) as (writer, _):
        stay = wanted(await catalog.snapshots(kb.id), settings, ingest.clock())
        gone = await catalog.drop_snapshots(kb.id, stay, now=ingest.clock())
        ingest.reached("drop_snapshots")
        points = await drop_points(writer.index, writer.kb.head, stay)
        await follow(writer, lambda side: drop_points(side.index, side.kb.head, stay))
        ingest.reached("drop_points")
        before = ingest.clock() - settings.report_days * DAY
        reports = await catalog.drop_run_lines(kb.id, before=before)
        blobs, freed, busy = await drop_blobs(ingest, writer)
        ingest.reached("drop_blobs")
    return GcReport(
        kept=tuple(stay),
        dropped=gone.snapshots,
        versions=gone.versions,
        chunks=gone.chunks,
        points=points,
        blobs=blobs,
        bytes=freed,
        reports=reports,
        busy=busy,
    )


async def former_places(catalog: Catalog, kb: KnowledgeBase, versions: Sequence[Version]) -> list[Version]:
    """Return versions of documents that are gone and held what these documents hold in any version: a document that
    was moved, and perhaps changed and moved again, stands in earlier snapshots at each of its places."""
    known = {version.document_id for version in versions}
    found: list[Version] = []
    waiting = list(known)
    while waiting:
        kept = [version for document in waiting for version in await catalog.history(document)]
        alike = await catalog.versions_by_content(kb.id, None, {version.content_hash for version in kept})
        live = {version.document_id for version in alike if version.valid_to > kb.head}
        came = [version for version in alike if version.document_id not in known | live]
        waiting = list(dict.fromkeys(version.document_id for version in came))
        known |= set(waiting)
        found += came
    return found


async def purge(ingest: Ingest, kb: KnowledgeBase, documents: Collection[DocumentId]) -> tuple[Dropped, GcReport]:
    """Remove documents that head no longer shows from every snapshot, index, blob and report."""
    catalog = ingest.catalog
    async with ingest.opened(kb) as (writer, _):
        gone = await catalog.purge_documents(kb.id, documents)
        ingest.reached("purge_documents")
        points = await drop_unknown(writer)
        await follow(writer, drop_unknown)
        blobs, freed, busy = await drop_blobs(ingest, writer)
    kept = tuple(one.number for one in await catalog.snapshots(kb.id))
    return gone, GcReport(kept=kept, dropped=(), points=points, blobs=blobs, bytes=freed, busy=busy)


async def drop_points(index: Index, head: int, kept: Sequence[int]) -> int:
    """Delete the points that none of the kept snapshots shows; return how many."""
    unseen = [
        header.id
        async for header in index.scan(Range(field="valid_to", lte=head))
        if not _seen(kept, header.valid_from, header.valid_to)
    ]
    return await _delete(index, unseen)


async def drop_unknown(writer: IndexWriter) -> int:
    """Delete the points whose chunk the catalog does not know; return how many."""
    known = {id async for id, _, _ in writer.catalog.chunk_ids(writer.kb.id)}
    extra = [
        header.id async for header in writer.index.scan(Range(field="valid_to", lte=OPEN)) if header.id not in known
    ]
    return await _delete(writer.index, extra)


async def _delete(index: Index, ids: Sequence[ChunkId]) -> int:
    for at in range(0, len(ids), _BATCH):
        await index.delete(ids[at : at + _BATCH])
    if ids:
        await index.flush()
    return len(ids)


async def drop_blobs(ingest: Ingest, writer: IndexWriter) -> tuple[int, int, str]:
    """Delete the blobs that nothing in the home needs; return how many, their bytes, and why some were left."""
    try:
        async with _all_quiet(ingest, writer.kb) as bases:
            return *await _drop_orphans(ingest.catalog, writer.blobs, bases), ""
    except BusyError as error:
        # A run of another base may have stored blobs that it has not staged yet.
        return 0, 0, error.message


@asynccontextmanager
async def _all_quiet(ingest: Ingest, mine: KnowledgeBase) -> AsyncIterator[set[str]]:
    """Hold the leases of all other bases, which share the blobs; BusyError when one of them is being written."""
    bases = {kb.id for kb in await ingest.catalog.every_kb()}
    async with AsyncExitStack() as leases:
        for id in sorted(bases - {mine.id}):
            lease = held(ingest.catalog, id, ingest.owner(), clock=ingest.clock, seconds=ingest.settings.lease_seconds)
            await leases.enter_async_context(lease)
        yield {str(id) for id in bases}


async def _drop_orphans(catalog: Catalog, blobs: BlobStore, bases: Collection[str]) -> tuple[int, int]:
    needed = await catalog.referenced_blobs()
    orphans = [name async for name in blobs.names() if name not in needed]
    removed = size = 0
    for at in range(0, len(orphans), _BATCH):
        if {str(kb.id) for kb in await catalog.every_kb()} != set(bases):
            raise BusyError("A knowledge base was made meanwhile.")
        for name in orphans[at : at + _BATCH]:
            size += await blobs.size(name)
            await blobs.delete(name)
            removed += 1
    return removed, size


def _seen(numbers: Sequence[int], valid_from: int, valid_to: int) -> bool:
    at = bisect_left(numbers, valid_from)
    return at < len(numbers) and numbers[at] < valid_to
