"""Small true documents to stage in a catalog, for its contract suite and for tests of what stands on it."""

from __future__ import annotations

from dataclasses import dataclass

from kaijuan.core.documents import (
    Block,
    BlockKind,
    Chunk,
    ChunkLevel,
    Metadata,
    PageBox,
    Table,
    TableCell,
    TextLine,
    Version,
)
from kaijuan.core.ids import KbId, block_id, chunk_id, content_hash, document_id, piece_id, version_id
from kaijuan.core.snapshots import Snapshot
from kaijuan.core.spans import Span
from kaijuan.index.catalog import Catalog, KnowledgeBase, Run, Staged

OWNER = "contract"
NOW = 1_700_000_000.0
_STRATEGY = "sample-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A version with what is in it: one paragraph a line of `text`, one child each, and one parent over all."""

    version: Version
    text: str
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...]

    @property
    def children(self) -> tuple[Chunk, ...]:
        """The chunks that are searched."""
        return tuple(chunk for chunk in self.chunks if chunk.level is ChunkLevel.CHILD)


def sample(
    kb: KbId, source: str, text: str, *, number: int = 1, title: str = "标题", metadata: Metadata | None = None
) -> Sample:
    """Return a document of one page whose lines are the paragraphs of `text`."""
    document = document_id(kb, source)
    content = content_hash(text.encode())
    id = version_id(document, number, content, "pipeline-1")
    version = Version(
        id=id,
        document_id=document,
        kb_id=kb,
        number=number,
        source=source,
        title=title,
        kind="text",
        content_hash=content,
        fingerprint="pipeline-1",
        text_hash=content,
        original_hash=content,
        language="zh",
        pages=1,
        metadata={"department": "财务", "year": 2024, "share": 0.5, "open": True, "tags": ("a", "b")}
        if metadata is None
        else metadata,
        warnings=("one", "two"),
        signature=bytes(range(64)),
        created_at=NOW,
    )
    spans = _lines(text)
    blocks = tuple(_block(version, ordinal, span) for ordinal, span in enumerate(spans))
    parent = _chunk(version, 0, ChunkLevel.PARENT, Span(0, len(text)), text)
    children = [_chunk(version, at, ChunkLevel.CHILD, span, text, parent) for at, span in enumerate(spans, 1)]
    return Sample(version=version, text=text, blocks=blocks, chunks=(parent, *children))


def _lines(text: str) -> list[Span]:
    spans, at = [], 0
    for line in text.split("\n"):
        if line:
            spans.append(Span(at, at + len(line)))
        at += len(line) + 1
    return spans


def _block(version: Version, ordinal: int, span: Span) -> Block:
    top = 20.25 * ordinal
    box = PageBox(page=1, x0=72.5, y0=top, x1=72.5 + 10 * len(span), y1=top + 12.75)
    edges = tuple(72.5 + 10 * at for at in range(len(span) + 1))
    return Block(
        id=block_id(version.id, ordinal, span.start, span.end),
        ordinal=ordinal,
        kind=BlockKind.PARAGRAPH,
        span=span,
        title_path=("第一章", "1.1 总则"),
        pages=(1,),
        # Every second line as printed vertically: a box without places of single characters.
        lines=(TextLine(span=span, box=box, edges=edges if ordinal % 2 == 0 else ()),),
        language="zh",
        confidence=0.75,
        place="sheet 销售!B3:C4",
        syntax="sql",
        # Of three blocks one is a table: a merged header over a cell, with a row that is hidden.
        table=Table(rows=2, columns=2, cells=_cells(span), hidden_rows=(1,)) if ordinal % 3 == 0 else None,
    )


def _cells(span: Span) -> tuple[TableCell, ...]:
    middle = (span.start + span.end) // 2
    return (
        TableCell(row=0, column=0, columns=2, header=True, span=Span(span.start, middle)),
        TableCell(row=1, column=1, span=Span(middle, span.end)),
    )


def _chunk(
    version: Version, ordinal: int, level: ChunkLevel, span: Span, text: str, parent: Chunk | None = None
) -> Chunk:
    piece = piece_id(version.document_id, level, span.of(text), ordinal)
    return Chunk(
        id=chunk_id(piece, version.number),
        version_id=version.id,
        document_id=version.document_id,
        ordinal=ordinal,
        level=level,
        span=span,
        parent_id=None if parent is None else parent.id,
        title_path=("第一章", "1.1 总则"),
        tokens=len(span),
        strategy=_STRATEGY,
        mark="contents" if ordinal == 1 else "",
    )


async def stage(catalog: Catalog, run: Run, made: Sample) -> None:
    """Stage a sample."""
    await catalog.stage(run, [staged(made)])


def staged(made: Sample) -> Staged:
    """Return a sample as it is staged."""
    return Staged(version=made.version, blocks=made.blocks, chunks=made.chunks)


async def publish(catalog: Catalog, run: Run, *, now: float = NOW) -> Snapshot:
    """Publish a run as if an index had followed."""
    while entries := await catalog.pending(run.kb_id, limit=100):
        await catalog.mark_applied([entry.sequence for entry in entries])
    await catalog.acquire_lease(run.kb_id, OWNER, now=now, seconds=60)
    made = await catalog.publish(run, owner=OWNER, now=now)
    await catalog.release_lease(run.kb_id, OWNER)
    return made


async def published(catalog: Catalog, kb: KnowledgeBase, *samples: Sample, now: float = NOW) -> Snapshot:
    """Publish one snapshot with these samples added to what was there."""
    run = await catalog.begin_run(kb.id, "add", now=now)
    for made in samples:
        await stage(catalog, run, made)
    return await publish(catalog, run, now=now)
