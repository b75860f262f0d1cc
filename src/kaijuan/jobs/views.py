"""What people ask about a knowledge base besides questions: its state, and one document seen whole."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kaijuan.core.documents import Block, Chunk, Version, pages_of
from kaijuan.core.filters import EVERYTHING
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import Snapshot
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Catalog, Counts, KnowledgeBase, Run
from kaijuan.index.ports import BlobStore, Embedder, Index
from kaijuan.ingest.chunkers.articles import references


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A knowledge base at a glance."""

    kb: str
    head: int
    documents: int
    chunks: int
    points: int
    """In the index, those of old versions included."""
    space: str
    model: str
    dimensions: int
    published_at: float | None
    unfinished_runs: tuple[Run, ...]
    recent_runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """One version with everything in it, and the versions before and after."""

    version: Version
    text: str
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...]
    """Each above those that belong to it."""
    history: tuple[Version, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkView:
    """One chunk with what it belongs to."""

    version: Version
    chunk: Chunk
    text: str
    parent: Chunk | None
    parent_text: str
    neighbours: tuple[Chunk, ...]
    """The chunks of its level before and after it."""
    children: tuple[Chunk, ...]
    pages: tuple[int, ...]
    references: tuple[str, ...]
    """Articles and sections that its text refers to, as written."""


async def chunk_view(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, id: ChunkId, principals: Collection[str]
) -> ChunkView:
    """Gather what is shown of one chunk; NotFoundError when there is none of that id that a principal may read."""
    found = (await catalog.chunks_meant([id], kb.head)).get(id)
    version = (await catalog.versions_by_id([found.version_id])).get(found.version_id) if found else None
    readers = await catalog.principals_of(kb.id, {version.document_id}) if version and version.kb_id == kb.id else {}
    if found is None or version is None or not readers.get(version.document_id, frozenset()) & set(principals):
        raise NotFoundError(f"There is no chunk {id!r}.", hint="`kaijuan chunks list DOCUMENT` shows their ids.")
    text = (await blobs.get(version.text_hash)).decode()
    chunks = await catalog.chunks_of(version.id)
    own = next(each for each in chunks if each.id == found.id)
    parent = next((each for each in chunks if each.id == own.parent_id), None)
    alike = [each for each in chunks if each.level is own.level]
    at = alike.index(own)
    name = own.title_path[-1] if own.title_path else ""
    return ChunkView(
        version=version,
        chunk=own.shown(),
        text=own.span.of(text),
        parent=parent.shown() if parent else None,
        parent_text=parent.span.of(text) if parent else "",
        neighbours=tuple(each.shown() for each in alike[max(at - 1, 0) : at] + alike[at + 1 : at + 2]),
        children=tuple(each.shown() for each in chunks if each.parent_id == own.id),
        pages=tuple(pages_of(await catalog.blocks_of(version.id, [own.span]), own.span)),
        references=tuple(references(own.span.of(text), name)),
    )


async def status_of(catalog: Catalog, kb: KnowledgeBase, index: Index | None, embedder: Embedder) -> Status:
    """Return the state of a knowledge base at its head."""
    counts: Counts = await catalog.counts(kb.id, kb.head)
    snapshots: list[Snapshot] = await catalog.snapshots(kb.id)
    return Status(
        kb=kb.name,
        head=kb.head,
        documents=counts.documents,
        chunks=counts.chunks,
        points=await index.count(EVERYTHING) if index else 0,
        space=kb.space,
        model=embedder.info.name,
        dimensions=embedder.info.dimensions,
        published_at=snapshots[-1].created_at if snapshots else None,
        unfinished_runs=tuple(await catalog.unfinished_runs(kb.id)),
        recent_runs=tuple(await catalog.runs(kb.id, limit=5)),
    )


async def view_of(catalog: Catalog, version: Version, text: str) -> DocumentView:
    """Return a version with its blocks, chunks and history."""
    chunks = await catalog.chunks_of(version.id)
    return DocumentView(
        version=version,
        text=text,
        blocks=tuple(await catalog.blocks_of(version.id)),
        chunks=tuple(each.shown() for each in sorted(chunks, key=lambda chunk: chunk.ordinal)),
        history=tuple(await catalog.history(version.document_id)),
    )
