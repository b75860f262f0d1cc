"""All granularities around one chunk: its sentences below, its parent, sections and document above (spec C5).

Only children, parents and documents are stored. Sections come from the headings and sentences from the text when
somebody asks, which costs less than keeping them for everything; all are exact spans of the same text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel, Version
from kaijuan.core.ids import ChunkId
from kaijuan.core.spans import Span, trim
from kaijuan.core.text.sentences import sentences
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore
from kaijuan.jobs.views import chunk_view


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionSpan:
    """A heading and all below it, up to the next heading of its level or a higher one."""

    path: tuple[str, ...]
    """The heading under those above it."""
    level: int
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """One chunk between what it is made of and what it is part of. Spans count in the version's text."""

    version: Version
    chunk: Chunk
    sentences: tuple[Span, ...]
    children: tuple[Chunk, ...]
    parent: Chunk | None
    sections: tuple[SectionSpan, ...]
    """Those that hold the beginning of the chunk, innermost first."""
    document: Span
    summary: str
    """Of the whole document; "" where it has none."""


async def around(
    catalog: Catalog, blobs: BlobStore, kb: KnowledgeBase, id: ChunkId, principals: Collection[str]
) -> Around:
    """Return what is around a chunk; NotFoundError when there is none that a principal may read."""
    view = await chunk_view(catalog, blobs, kb, id, principals)
    chunks = await catalog.chunks_of(view.version.id)
    blocks = await catalog.blocks_of(view.version.id)
    text = (await blobs.get(view.version.text_hash)).decode()
    own = view.chunk.span
    whole = next((chunk for chunk in chunks if chunk.level is ChunkLevel.DOCUMENT), None)
    return Around(
        version=view.version,
        chunk=view.chunk,
        sentences=tuple(sentence.shift(own.start) for sentence in sentences(view.text)),
        children=view.children,
        parent=view.parent,
        sections=tuple(
            reversed([one for one in sections_of(text, blocks) if one.span.start <= own.start < one.span.end])
        ),
        document=Span(blocks[0].span.start, blocks[-1].span.end),
        summary=whole.search_text if whole else "",
    )


def sections_of(text: str, blocks: Sequence[Block]) -> list[SectionSpan]:
    """Return the sections of a document in reading order, outer before inner. Linear in the number of blocks."""
    headings = [block for block in blocks if block.kind is BlockKind.HEADING]
    last = blocks[-1].span.end if blocks else 0
    ends = [last] * len(headings)
    unfinished: list[int] = []
    for at, heading in enumerate(headings):
        while unfinished and headings[unfinished[-1]].level >= heading.level:
            ends[unfinished.pop()] = heading.span.start
        unfinished.append(at)
    return [
        SectionSpan(
            path=(*heading.title_path, " ".join(heading.span.of(text).split())),
            level=heading.level,
            span=trim(text, Span(heading.span.start, end)),
        )
        for heading, end in zip(headings, ends, strict=True)
    ]
