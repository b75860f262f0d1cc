"""Chunks of the catalog to points of the index: what a point holds, and following the outbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby

from kaijuan import telemetry
from kaijuan.core.documents import INDEXED, Chunk, ChunkLevel, Version
from kaijuan.core.filters import FIELD, LEVEL, TONGUE, Range, Value
from kaijuan.core.ids import ChunkId, VersionId
from kaijuan.core.text.bm25 import document_weights
from kaijuan.core.text.language import tongue_of
from kaijuan.errors import KaijuanError, NotFoundError, StoreError
from kaijuan.index.catalog import Catalog, IndexChange, KnowledgeBase, OutboxEntry
from kaijuan.index.embed import Passages, embedded
from kaijuan.index.ports import BlobStore, Embedder, Index, Point
from kaijuan.index.settings import IndexSettings

_PAGE = 1000
_HELD_CHUNKS = 256
"""Chunks whose texts are read together; of a document with more, its own."""
_NOT_PAYLOAD = frozenset({"valid_from", "valid_to"})
"""Fields of the interval; a document's own metadata may not pretend to them."""
TAG_FIELDS = ("keywords", "tags", "aliases")
DESCRIPTION_FIELDS = ("description", "summary", "subject")
_LONGEST_SAID = 2000
"""Characters of tags or of a description that are searched: they are in every chunk of the document."""
UNREADABLE = (NotFoundError, StoreError)
"""What a blob store raises for a text that is missing, damaged, or on a failing disk."""
Skipped = Callable[[Version], None]
"""Told of every version that was left out because its text cannot be read."""
# Term analysis is pure Python work of tens of milliseconds a batch, which must not hold up the event loop.
_POOL = ThreadPoolExecutor(1, thread_name_prefix="kaijuan-index")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexWriter:
    """Everything that writing the points of one knowledge base needs."""

    kb: KnowledgeBase
    catalog: Catalog
    blobs: BlobStore
    embedder: Embedder
    index: Index
    settings: IndexSettings = field(default_factory=IndexSettings)
    measured: bool = True
    """Whether the tokens that chunks were measured in are this embedder's."""
    beside: list[Beside] = field(default_factory=list)
    """Spaces of other models, which follow. One that fails is left behind and never stops the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The space of a model that does not serve readers and is kept up to date."""

    writer: IndexWriter
    fall_behind: Callable[[KaijuanError], Awaitable[None]]
    """Called when it cannot follow; raises where it has begun to serve readers meanwhile."""


async def follow(writer: IndexWriter, work: Callable[[IndexWriter], Awaitable[object]]) -> None:
    """Do the same to the spaces beside this one."""
    for side in list(writer.beside):
        try:
            await work(side.writer)
        except KaijuanError as error:
            await side.fall_behind(error)
            telemetry.event("index.fell_behind", space=side.writer.index.spec.name, code=error.code)
            writer.beside.remove(side)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A chunk on its way to a point."""

    version: Version
    chunk: Chunk
    body: str
    """What it is found by: its own text, unless somebody or the summary says otherwise."""
    readers: frozenset[str]


async def write_versions(writer: IndexWriter, versions: Collection[VersionId], skipped: Skipped | None = None) -> int:
    """Upsert the points of the versions' chunks; return how many. Doing it again changes nothing.

    With `skipped`, a version whose text cannot be read is left out and told; otherwise it is an error.
    """
    written = await _write(writer, _pieces(writer, versions, None, skipped))
    await follow(writer, lambda side: write_versions(side, versions, skipped))
    return written


async def write_chunks(writer: IndexWriter, ids: Collection[ChunkId], skipped: Skipped | None = None) -> int:
    """Upsert the points of these chunks alone, in this space alone; return how many. `skipped` as in
    `write_versions`."""
    chunks = await writer.catalog.chunks(ids)
    versions = dict.fromkeys(chunk.version_id for chunk in chunks.values())
    return await _write(writer, _pieces(writer, versions, frozenset(chunks), skipped))


async def complete_points(writer: IndexWriter, versions: Sequence[VersionId], head: int) -> int:
    """Let the points that begin beyond head be those of these versions' chunks, in this space alone; return how many
    were missing. For the holder of the lease, while nothing else is staged."""
    later = writer.index.scan(Range(field="valid_from", gt=head))
    there = {header.id async for header in later}
    extra, written = set(there), 0
    async for part in _parts(writer.catalog, versions):
        chunks = await writer.catalog.chunks_of_each(part, *INDEXED)
        wanted = frozenset(chunk.id for of_version in chunks.values() for chunk in of_version)
        missing = wanted - there
        extra -= wanted
        if missing:
            incomplete = [version for version in part if any(chunk.id in missing for chunk in chunks[version])]
            written += await _write(writer, _pieces(writer, incomplete, missing, None))
    for at in range(0, len(extra), _PAGE):
        await writer.index.delete(sorted(extra)[at : at + _PAGE])
    return written


async def close_versions(writer: IndexWriter, versions: Sequence[VersionId], snapshot: int) -> None:
    """Set `valid_to` of the versions' points."""
    async for part in _parts(writer.catalog, versions):
        chunks = await writer.catalog.chunks_of_each(part, *INDEXED)
        ids = [chunk.id for of_version in chunks.values() for chunk in of_version]
        for at in range(0, len(ids), _PAGE):
            await writer.index.close_interval(ids[at : at + _PAGE], snapshot)
    await follow(writer, lambda side: close_versions(side, versions, snapshot))


async def flush(writer: IndexWriter) -> None:
    """Make what was written survive a power cut."""
    await writer.index.flush()
    await follow(writer, flush)


async def _parts(catalog: Catalog, versions: Sequence[VersionId]) -> AsyncIterator[list[VersionId]]:
    """Yield the versions in parts with at most so many chunks as are held at once, a longer one alone."""
    for at in range(0, len(versions), _PAGE):
        page = versions[at : at + _PAGE]
        counts = await catalog.child_counts(page)
        part: list[VersionId] = []
        chunks = 0
        for version in page:
            count = counts.get(version, 0)
            if part and chunks + count > _HELD_CHUNKS:
                yield part
                part, chunks = [], 0
            part.append(version)
            chunks += count
        yield part


async def _pieces(
    writer: IndexWriter, versions: Collection[VersionId], only: frozenset[ChunkId] | None, skipped: Skipped | None
) -> AsyncIterator[_Piece]:
    async for part in _parts(writer.catalog, list(versions)):
        # The catalog's interval and readers, not the outbox entry's: so any order and any repetition end alike.
        found = await writer.catalog.versions_by_id(part)
        there = [found[id] for id in part if id in found]  # the others were rolled back since
        readers = await writer.catalog.principals_of(writer.kb.id, {version.document_id for version in there})
        chunks = await writer.catalog.chunks_of_each([version.id for version in there], *INDEXED)
        for version, text in zip(there, await _texts(writer.blobs, there, skipped), strict=True):
            if text is None:
                continue
            for chunk in chunks[version.id]:
                if only is None or chunk.id in only:
                    body = chunk.search_text or chunk.span.of(text)
                    yield _Piece(version=version, chunk=chunk, body=body, readers=readers[version.document_id])


async def _texts(blobs: BlobStore, versions: Sequence[Version], skipped: Skipped | None) -> list[str | None]:
    found = await blobs.get_each([version.text_hash for version in versions])
    return [_text(version, data, skipped) for version, data in zip(versions, found, strict=True)]


def _text(version: Version, found: bytes | StoreError | NotFoundError, skipped: Skipped | None) -> str | None:
    if isinstance(found, bytes):
        return found.decode()
    if skipped is None:
        raise found
    telemetry.count("index.unreadable")
    telemetry.event("index.unreadable", version=version.id, source=version.source, code=found.code)
    skipped(version)
    return None


async def _write(writer: IndexWriter, pieces: AsyncIterator[_Piece]) -> int:
    passages = Passages(writer.embedder, writer.settings.prefix_tokens, measured=writer.measured)
    group: list[_Piece] = []
    written = 0
    async for piece in pieces:
        group.append(piece)
        if len(group) == writer.settings.group_chunks:
            written += await _write_group(writer, passages, group)
            group = []
    if group:
        written += await _write_group(writer, passages, group)
    return written


async def _write_group(writer: IndexWriter, passages: Passages, group: Sequence[_Piece]) -> int:
    settings = writer.settings

    def analysed() -> tuple[list[str], list[dict[int, float]]]:
        texts = [passages.text(piece.version, piece.chunk, piece.body) for piece in group]
        return texts, [document_weights(_fields(piece, settings)) for piece in group]

    texts, terms = await asyncio.get_running_loop().run_in_executor(_POOL, analysed)
    vectors = await embedded(writer.embedder, texts, settings.embed_batch)
    points = [
        Point(
            id=piece.chunk.id,
            vector=vector,
            terms=weights,
            payload=payload_of(writer.kb, piece.version, piece.readers, piece.chunk.level, tongue_of(piece.body)),
            valid_from=piece.version.valid_from,
            valid_to=piece.version.valid_to,
        )
        for piece, vector, weights in zip(group, vectors, terms, strict=True)
    ]
    await writer.index.upsert(points)
    return len(points)


def _fields(piece: _Piece, settings: IndexSettings) -> list[tuple[str, float]]:
    fields = [
        (piece.body, 1.0),
        (" ".join(piece.chunk.title_path), settings.path_weight),
        (piece.version.title, settings.title_weight),
        (_said(piece.version, TAG_FIELDS), settings.tags_weight),
        (_said(piece.version, DESCRIPTION_FIELDS), settings.description_weight),
        (piece.chunk.context, settings.context_weight),
    ]
    return [(text, weight) for text, weight in fields if text and weight]


def _said(version: Version, names: Iterable[str]) -> str:
    """Return what the metadata says under these names; a blank line apart, so that no two words join to a term."""
    values = (version.metadata.get(name) for name in names)
    parts = (part for value in values for part in (value if isinstance(value, tuple) else (value,)))
    return "\n\n".join(part for part in parts if isinstance(part, str))[:_LONGEST_SAID]


def payload_of(
    kb: KnowledgeBase,
    version: Version,
    readers: Collection[str],
    level: ChunkLevel = ChunkLevel.CHILD,
    tongue: str = "",
) -> Mapping[str, Value | tuple[str, ...]]:
    """Return what filters may ask of a point: the document's own metadata, and our fields, which win."""
    own = {name: value for name, value in version.metadata.items() if FIELD.fullmatch(name)}
    ours: dict[str, Value | tuple[str, ...]] = {
        "tenant": kb.tenant,
        "kb": kb.id,
        "acl": tuple(sorted(readers)),
        "document_id": version.document_id,
        "version_id": version.id,
        "source": version.source,
        "title": version.title,
        "kind": version.kind,
        "language": version.language,
        "created": version.created_at,
        LEVEL: level.value,
        TONGUE: tongue,
    }
    return {name: value for name, value in (own | ours).items() if name not in _NOT_PAYLOAD}


async def pending_entries(
    catalog: Catalog, kb: KnowledgeBase, *, change: IndexChange | None = None, after: int = 0
) -> AsyncIterator[list[OutboxEntry]]:
    """Yield the outbox's entries page by page, all or those of one kind."""
    while page := await catalog.pending(kb.id, limit=_PAGE, after=after):
        after = page[-1].sequence
        if wanted := [entry for entry in page if change is None or entry.change is change]:
            yield wanted


class Outbox:
    """Follows the outbox of one run: new points as they are staged, the rest when the run is published."""

    def __init__(self, writer: IndexWriter) -> None:
        self.writer = writer
        self.written = 0
        """Points written so far."""
        self._after = 0

    async def write_points(self) -> None:
        """Write the points of versions that were staged since the last call."""
        async for page in self._pages(IndexChange.UPSERT, self._after):
            self.written += await write_versions(self.writer, [entry.version_id for entry in page])
            self._after = page[-1].sequence

    async def skip_points(self) -> None:
        """Take the points of all that is staged for written."""
        async for page in self._pages(IndexChange.UPSERT, self._after):
            self._after = page[-1].sequence

    async def close_replaced(self) -> None:
        """End the interval of every point that the run replaces or removes."""
        async for page in self._pages(IndexChange.CLOSE):
            for snapshot, entries in groupby(page, key=lambda entry: entry.snapshot):
                await close_versions(self.writer, [entry.version_id for entry in entries], snapshot)

    async def settle(self) -> None:
        """Mark everything as applied. To be called after the index was flushed."""
        async for page in self._pages(None):
            await self.writer.catalog.mark_applied([entry.sequence for entry in page])

    def _pages(self, change: IndexChange | None, after: int = 0) -> AsyncIterator[list[OutboxEntry]]:
        return pending_entries(self.writer.catalog, self.writer.kb, change=change, after=after)
