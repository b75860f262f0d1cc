"""Two snapshots compared, and an old one published anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kaijuan.core.documents import Block, Chunk, ChunkLevel, Version
from kaijuan.core.ids import ChunkId, DocumentId, VersionId, block_id, chunk_id, piece_of, version_id
from kaijuan.core.reviews import ReviewState
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Catalog, ItemState, KnowledgeBase, RunItem, Staged, Standing
from kaijuan.index.ports import BlobStore
from kaijuan.index.write import UNREADABLE
from kaijuan.jobs.change import Change, Tell
from kaijuan.jobs.duplicates import find_duplicates
from kaijuan.jobs.report import RunReport, Stage, Tally
from kaijuan.jobs.run import Ingest

_GROUP = 64
_EXCERPT = 80
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentChange:
    """One document that two snapshots show differently. Chunks are compared by their words."""

    source: str
    title: str
    document_id: DocumentId
    before: VersionId | None
    """None where the earlier snapshot does not show it."""
    after: VersionId | None
    chunks_kept: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    added_texts: tuple[str, ...] = ()
    """The beginnings of the first new chunks."""
    removed_texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotDiff:
    """What a reader sees differently in the snapshot `after`, by source."""

    before: int
    after: int
    added: tuple[DocumentChange, ...]
    removed: tuple[DocumentChange, ...]
    changed: tuple[DocumentChange, ...]
    unchanged: int

    @property
    def chunks_added(self) -> int:
        """New chunks in all documents."""
        return sum(one.chunks_added for one in (*self.added, *self.changed))

    @property
    def chunks_removed(self) -> int:
        """Chunks that are no longer there, in all documents."""
        return sum(one.chunks_removed for one in (*self.removed, *self.changed))


async def versions_at(catalog: Catalog, kb: KnowledgeBase, snapshot: int) -> list[Version]:
    """Return all versions that a snapshot shows, by source."""
    found: list[Version] = []
    while page := await catalog.versions(kb.id, snapshot, after=found[-1].source if found else ""):
        found.extend(page)
    return found


async def compare(
    catalog: Catalog, blobs: BlobStore, before: tuple[int, Sequence[Version]], after: tuple[int, Sequence[Version]]
) -> SnapshotDiff:
    """Compare what two snapshots show; each is given as its number and its versions."""
    old = {version.document_id: version for version in before[1]}
    new = {version.document_id: version for version in after[1]}
    both = [(old[id], new[id]) for id in new if id in old]
    differing = [(one, other) for one, other in both if one.id != other.id]
    alone = [old[id] for id in old if id not in new] + [new[id] for id in new if id not in old]
    counts = await catalog.child_counts([version.id for version in alone])
    return SnapshotDiff(
        before=before[0],
        after=after[0],
        added=tuple(_alone(version, counts, came=True) for id, version in new.items() if id not in old),
        removed=tuple(_alone(version, counts, came=False) for id, version in old.items() if id not in new),
        changed=tuple([await _changed(catalog, blobs, one, other) for one, other in differing]),
        unchanged=len(both) - len(differing),
    )


def _alone(version: Version, counts: dict[VersionId, int], *, came: bool) -> DocumentChange:
    chunks = counts.get(version.id, 0)
    return DocumentChange(
        source=version.source,
        title=version.title,
        document_id=version.document_id,
        before=None if came else version.id,
        after=version.id if came else None,
        chunks_added=chunks if came else 0,
        chunks_removed=0 if came else chunks,
    )


async def _changed(catalog: Catalog, blobs: BlobStore, before: Version, after: Version) -> DocumentChange:
    old = Counter(await _texts(catalog, blobs, before))
    new = Counter(await _texts(catalog, blobs, after))
    fresh, gone = new - old, old - new
    return DocumentChange(
        source=after.source,
        title=after.title,
        document_id=after.document_id,
        before=before.id,
        after=after.id,
        chunks_kept=(old & new).total(),
        chunks_added=fresh.total(),
        chunks_removed=gone.total(),
        added_texts=_beginnings(fresh),
        removed_texts=_beginnings(gone),
    )


async def _texts(catalog: Catalog, blobs: BlobStore, version: Version) -> list[str]:
    chunks = await catalog.chunks_of(version.id, ChunkLevel.CHILD)
    try:
        text = (await blobs.get(version.text_hash)).decode()
    except UNREADABLE:
        return [chunk.id for chunk in chunks]  # not comparable: they count, and differ
    return [" ".join(chunk.span.of(text).split()) for chunk in chunks]


def _beginnings(texts: Counter[str]) -> tuple[str, ...]:
    return tuple(text[:_EXCERPT] for text in list(texts)[:_SHOWN])


# --- an old snapshot published anew ---------------------------------------------------------------------------------


async def publish_again(ingest: Ingest, kb: KnowledgeBase, snapshot: int, progress: Tell | None = None) -> RunReport:
    """Publish a snapshot that shows what an earlier one shows; those between stay readable. Atomic, as every run.

    Who may read what is as it is now, and a content that somebody rejected since stays out. Nothing is read or embedded
    again: versions are copied under new numbers.
    """
    catalog = ingest.catalog
    async with ingest.changing(kb, "rollback", Tally(), progress) as change:
        if snapshot not in {one.number for one in await catalog.snapshots(kb.id)} | {0}:
            raise NotFoundError(f"Snapshot {snapshot} is not kept.", hint="`kaijuan snapshots` lists those that are.")
        wanted = {version.document_id: version for version in await versions_at(catalog, kb, snapshot)}
        present = {version.document_id: version for version in await versions_at(catalog, kb, change.head)}
        back = [version for id, version in wanted.items() if not _is_same(version, present.get(id))]
        back = await _permitted(catalog, change, back)
        gone = [version for id, version in present.items() if id not in wanted]
        for at in range(0, len(gone), _GROUP):
            await change.retire(gone[at : at + _GROUP])
        ingest.reached("retire")
        for at in range(0, len(back), _GROUP):
            await _stage_again(catalog, change, back[at : at + _GROUP], ingest.settings.find_duplicates)
            ingest.reached("stage")
            await change.outbox.write_points()
            change.tell(Stage.READING)
        if back and ingest.settings.find_duplicates:
            await find_duplicates(catalog, ingest.blobs, change.run, ingest.clock())
    return change.report


def _is_same(wanted: Version, present: Version | None) -> bool:
    if present is None:
        return False
    same = (wanted.content_hash, wanted.fingerprint, wanted.metadata)
    return wanted.id == present.id or same == (present.content_hash, present.fingerprint, present.metadata)


async def _permitted(catalog: Catalog, change: Change, back: Iterable[Version]) -> list[Version]:
    """Leave out contents that somebody decided to keep out."""
    refused = {
        (review.source, review.content_hash)
        for review in await catalog.reviews(change.run.kb_id, [ReviewState.REJECTED])
    }
    kept, lines = [], []
    for version in back:
        if (version.source, version.content_hash) in refused:
            message = "This content was rejected since."
            lines.append(RunItem(source=version.source, state=ItemState.REJECTED, message=message))
        else:
            kept.append(version)
    if lines:
        await catalog.record_items(change.run.id, lines)
        change.tally.note(lines)
    return kept


async def _stage_again(catalog: Catalog, change: Change, versions: Sequence[Version], signed: bool) -> None:
    standing = await catalog.standing([version.document_id for version in versions], change.head)
    copies = [await _copy(catalog, version, standing[version.document_id], signed) for version in versions]
    await catalog.stage(change.run, copies)
    lines = [
        RunItem(
            source=one.version.source,
            state=ItemState.UPDATED if standing[one.version.document_id].live else ItemState.ADDED,
            version_id=one.version.id,
        )
        for one in copies
    ]
    await catalog.record_items(change.run.id, lines)
    change.tally.note(lines)
    change.tally.chunks += sum(chunk.level is ChunkLevel.CHILD for one in copies for chunk in one.chunks)


async def _copy(catalog: Catalog, version: Version, standing: Standing, signed: bool) -> Staged:
    number = standing.last_number + 1
    id = version_id(version.document_id, number, version.content_hash, version.fingerprint)
    blocks = [_block(block, id) for block in await catalog.blocks_of(version.id)]
    chunks = _chunks(await catalog.chunks_of(version.id), id, number)
    copy = replace(version, id=id, number=number, signature=version.signature if signed else b"")
    return Staged(version=copy, blocks=blocks, chunks=chunks)


def _block(block: Block, version: VersionId) -> Block:
    return replace(block, id=block_id(version, block.ordinal, block.span.start, block.span.end))


def _chunks(chunks: Sequence[Chunk], version: VersionId, number: int) -> list[Chunk]:
    def again(id: ChunkId) -> ChunkId:
        return chunk_id(piece_of(id), number)

    return [
        replace(
            chunk,
            id=again(chunk.id),
            version_id=version,
            parent_id=None if chunk.parent_id is None else again(chunk.parent_id),
        )
        for chunk in chunks
    ]
