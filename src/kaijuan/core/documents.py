"""The nouns of a parsed document: versions, blocks, chunks, and where their characters stand on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from kaijuan.core.ids import BlockId, ChunkId, DocumentId, KbId, VersionId, piece_of
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
    """A rectangle on a page, in points (1/72 inch) from the top left corner of the page as shown.

    A picture has no size but its dots: for kind "image" a dot is a point.
    """

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
class TableCell:
    """A cell with words. `span` covers them as they stand in the canonical text (there a `|` is written `\\|`)."""

    row: int
    """Rows and columns are counted from 0; a merged cell stands at its first place."""
    column: int
    span: Span
    rows: int = 1
    columns: int = 1
    header: bool = False

    def shift(self, by: int) -> TableCell:
        """Return the cell with its span moved by `by` characters."""
        return TableCell(
            row=self.row,
            column=self.column,
            span=self.span.shift(by),
            rows=self.rows,
            columns=self.columns,
            header=self.header,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as cells in reading order, those without words left out."""

    rows: int
    columns: int
    cells: tuple[TableCell, ...]
    hidden_rows: tuple[int, ...] = ()
    """Rows and columns that the file does not show."""
    hidden_columns: tuple[int, ...] = ()

    def shift(self, by: int) -> Table:
        """Return the table with all spans moved by `by` characters."""
        return replace(self, cells=tuple(cell.shift(by) for cell in self.cells))

    def numbers(self) -> list[int]:
        """Return the table as one row of integers, from which `table_from` makes it again."""
        flat = [self.rows, self.columns, len(self.hidden_rows), len(self.hidden_columns)]
        flat += [*self.hidden_rows, *self.hidden_columns]
        for cell in self.cells:
            flat += [cell.row, cell.column, cell.rows, cell.columns, int(cell.header), cell.span.start, cell.span.end]
        return flat


_NUMBERS_A_CELL = 7


def table_from(numbers: Sequence[int]) -> Table:
    """Return the table that `Table.numbers` wrote. Raises ValueError when the numbers are none."""
    rows, columns, hidden_rows, hidden_columns = numbers[:4]
    first_column = 4 + hidden_rows
    first_cell = first_column + hidden_columns
    if (len(numbers) - first_cell) % _NUMBERS_A_CELL:
        raise ValueError("a table that breaks off")
    return Table(
        rows=rows,
        columns=columns,
        hidden_rows=tuple(numbers[4:first_column]),
        hidden_columns=tuple(numbers[first_column:first_cell]),
        cells=tuple(
            _cell_from(*numbers[at : at + _NUMBERS_A_CELL]) for at in range(first_cell, len(numbers), _NUMBERS_A_CELL)
        ),
    )


def _cell_from(row: int, column: int, rows: int, columns: int, *rest: int) -> TableCell:
    header, start, end = rest
    return TableCell(row=row, column=column, rows=rows, columns=columns, header=bool(header), span=Span(start, end))


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
    lines: Sequence[TextLine] = ()
    """The map from characters to page places; empty for formats without pages."""
    language: str = ""
    confidence: float = 1.0
    place: str = ""
    """Where it stands in a format without pages: "para 17", "sheet 销售!B3:D9", "slide 4", a path of elements.
    That of a figure ends with the part of the package that holds the picture: "para 17, word/media/image1.png"."""
    syntax: str = ""
    """What code is written in ("python", "sql"), and "latex" for a formula so written."""
    table: Table | None = None
    """The cells of a table, where the format tells them."""
    digest: str = ""
    """Of a paragraph that may be furniture of many documents: a hash of its words, by which they are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedBlock:
    """A block as a parser gives it: no ids yet, spans in the parser's own `text`."""

    kind: BlockKind
    span: Span
    level: int = 0
    title_path: tuple[str, ...] = ()
    lines: Sequence[TextLine] = ()
    confidence: float = 1.0
    pages: tuple[int, ...] = ()
    """Slides or sheets it stands on, counted from 1; where there are `lines`, their pages count."""
    place: str = ""
    syntax: str = ""
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """What a parser returns: the canonical text and its blocks, disjoint and in reading order."""

    text: str
    blocks: tuple[ParsedBlock, ...]
    kind: str
    """The format read: text, markdown, html, docx, pdf, ..."""
    title: str = ""
    pages: int = 0
    """Slides and sheets count as pages; 0 for formats without."""
    page_sizes: tuple[tuple[float, float], ...] = ()
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unread_pages: tuple[int, ...] = ()
    """Pages that exist but gave no text although they are not blank; the status is then partial."""
    hidden: tuple[str, ...] = ()
    """Texts that the file holds but does not show people (white on white, no size, set to hidden). Not part of `text`
    unless the parser reads them there as well; the gate looks at them."""


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
    signature: bytes = b""
    """By which versions that say nearly the same are found; empty for short texts."""
    created_at: float = 0.0
    """Seconds since 1970, UTC."""
    valid_from: int = 0
    valid_to: int = 0


class ChunkLevel(StrEnum):
    """Granularity of a chunk. Children are searched, parents are what the reader is given."""

    CHILD = "child"
    PARENT = "parent"
    DOCUMENT = "document"
    """The whole document, found by its title and summary. A search for passages does not return it."""
    EXCLUDED = "excluded"
    """A child that somebody took out of the search."""


INDEXED = (ChunkLevel.CHILD, ChunkLevel.DOCUMENT)
"""Levels whose chunks have points in the index."""


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
    mark: str = ""
    """Why it says next to nothing ("contents", "copyright", ...); empty for all others."""
    origin: str = "auto"
    """auto, or what somebody did to it: manual_split, manual_merge, manual_edit, manual_exclude, manual_alias."""
    search_text: str = ""
    """What it is found by instead of its own text (an edit, an alias question, a summary); "" for its own."""
    context: str = ""
    """Words about it that are searched with it and are no part of its text: what it is from, what its table holds."""

    def shown(self) -> Chunk:
        """Return the chunk as people are shown it: under the ids of pieces, which stay while the words do."""
        parent = None if self.parent_id is None else piece_of(self.parent_id)
        return replace(self, id=piece_of(self.id), parent_id=parent)


def boxes_of(blocks: Iterable[Block], span: Span) -> list[PageBox]:
    """Return the page boxes of `span`, one a printed line, in reading order, on as many pages as it touches."""
    boxes: list[PageBox] = []
    for block in blocks:
        if not block.span.meets(span):
            continue
        boxes.extend(box for line in block.lines if (box := line.box_of(span)) is not None)
    return boxes


def pages_of(blocks: Iterable[Block], span: Span) -> list[int]:
    """Return the pages that `span` touches, in order; blocks without lines answer with their own pages."""
    pages: set[int] = set()
    for block in blocks:
        if not block.span.meets(span):
            continue
        touched = {line.box.page for line in block.lines if line.span.meets(span)}
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
