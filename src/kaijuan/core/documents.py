"""The nouns of a parsed document: versions, blocks, chunks, and where their characters stand on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from kaijuan.core.ids import BlockId, ChunkId, DocumentId, KbId, VersionId
from kaijuan.core.spans import Span

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar | tuple[str, ...]]
"""What a source or parser says about a document: flat, small, filterable. Lists hold strings only."""


class BlockKind(StrEnum):
    """What a block is (spec A3)."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    FIGURE = "figure"
    FORMULA = "formula"
    FOOTNOTE = "footnote"
    QUOTE = "quote"
    CAPTION = "caption"


ATOMIC_KINDS = frozenset({BlockKind.TABLE, BlockKind.CODE, BlockKind.LIST, BlockKind.FORMULA})
"""Kinds that a chunk border should not cut (spec C3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageBox:
    """A rectangle on a page, in points (1/72 inch) from the top left corner of the page as shown."""

    page: int
    """Counted from 1."""
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """The characters of one printed line, each with its place.

    `span` counts in the version's canonical text. `edges` holds len(span) + 1 increasing x-coordinates, the left
    edge of every character and the right edge of the last; it is empty where only the line's box is known
    (vertical or rotated text), and then a part of the line has the box of the whole.
    """

    span: Span
    box: PageBox
    edges: tuple[float, ...] = ()

    def box_of(self, part: Span) -> PageBox | None:
        """Return the box of the characters that `part` shares with this line, or None."""
        shared = self.span.intersect(part)
        if shared is None:
            return None
        if not self.edges:
            return self.box
        left = self.edges[shared.start - self.span.start]
        right = self.edges[shared.end - self.span.start]
        return PageBox(page=self.box.page, x0=left, y0=self.box.y0, x1=right, y1=self.box.y1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One typed piece of a version's canonical text, in reading order."""

    id: BlockId
    ordinal: int
    kind: BlockKind
    span: Span
    level: int = 0
    """Heading level from 1; 0 for everything else."""
    title_path: tuple[str, ...] = ()
    """Headings above this block, outermost first, without the document title."""
    pages: tuple[int, ...] = ()
    lines: tuple[TextLine, ...] = ()
    """The map from characters to page places; empty for formats without pages."""
    language: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedBlock:
    """A block as a parser gives it: no ids yet, spans in the parser's own `text`."""

    kind: BlockKind
    span: Span
    level: int = 0
    title_path: tuple[str, ...] = ()
    lines: tuple[TextLine, ...] = ()
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a parser returns: the canonical text and its blocks, disjoint and in reading order."""

    text: str
    blocks: tuple[ParsedBlock, ...]
    kind: str
    """The format read: text, markdown, html, docx, pdf, ..."""
    title: str = ""
    pages: int = 0
    """0 for formats without pages."""
    page_sizes: tuple[tuple[float, float], ...] = ()
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unread_pages: tuple[int, ...] = ()
    """Pages that exist but gave no text although they are not blank; the status is then partial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One immutable state of a document. Visible in snapshots `valid_from` <= S < `valid_to`."""

    id: VersionId
    document_id: DocumentId
    kb_id: KbId
    number: int
    source: str
    title: str
    kind: str
    content_hash: str
    """Of the bytes as they came from the source."""
    fingerprint: str
    """Of the parsing and chunking pipeline, with settings."""
    text_hash: str
    """Blob of the canonical text, UTF-8."""
    original_hash: str
    """Blob of the original bytes."""
    language: str = ""
    pages: int = 0
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    created_at: float = 0.0
    """Seconds since 1970, UTC."""
    valid_from: int = 0
    valid_to: int = 0


class ChunkLevel(StrEnum):
    """Granularity of a chunk. Children are searched, parents are what the reader is given."""

    CHILD = "child"
    PARENT = "parent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A span of a version's text to search or to read. Its text is always `text[span]`, never a copy."""

    id: ChunkId
    version_id: VersionId
    document_id: DocumentId
    ordinal: int
    level: ChunkLevel
    span: Span
    parent_id: ChunkId | None = None
    title_path: tuple[str, ...] = ()
    tokens: int = 0
    strategy: str = ""


def boxes_of(blocks: Iterable[Block], span: Span) -> list[PageBox]:
    """Return the page boxes of `span`, one a printed line, in reading order, on as many pages as it touches."""
    boxes: list[PageBox] = []
    for block in blocks:
        if block.span.intersect(span) is None:
            continue
        boxes.extend(box for line in block.lines if (box := line.box_of(span)) is not None)
    return boxes


def pages_of(blocks: Iterable[Block], span: Span) -> list[int]:
    """Return the pages that `span` touches, in order; blocks without lines answer with their own pages."""
    pages: set[int] = set()
    for block in blocks:
        if block.span.intersect(span) is None:
            continue
        touched = {line.box.page for line in block.lines if line.span.intersect(span) is not None}
        pages |= touched or set(block.pages)
    return sorted(pages)


def title_path_at(blocks: Sequence[Block], position: int) -> tuple[str, ...]:
    """Return the title path in force at a character position."""
    path: tuple[str, ...] = ()
    for block in blocks:
        if block.span.start > position:
            break
        path = block.title_path
    return path
