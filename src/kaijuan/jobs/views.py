"""What people ask about a knowledge base besides questions: its state, and one document seen whole."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.core.documents import Block, Chunk, Version
from kaijuan.core.filters import EVERYTHING
from kaijuan.core.snapshots import Snapshot
from kaijuan.index.catalog import Catalog, Counts, KnowledgeBase, Run
from kaijuan.index.ports import Embedder, Index


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
    history: tuple[Version, ...]


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
    return DocumentView(
        version=version,
        text=text,
        blocks=tuple(await catalog.blocks_of(version.id)),
        chunks=tuple(await catalog.chunks_of(version.id)),
        history=tuple(await catalog.history(version.document_id)),
    )
