"""Sheets of any workbook to blocks: each sheet a section, each table apart, header rows and merged cells found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kaijuan.core.documents import BlockKind
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.pipes import Cell, PipeTable, Placed, draw
from kaijuan.ingest.parsers.sheet_regions import Area, CellLike, Region, header_rows, regions_of

if TYPE_CHECKING:
    from kaijuan.ingest.parsers.figure_words import PackagePictures

_MOST_CELLS = 300_000
"""Cells of one document that are kept apart; the text of all is kept."""
_PROSE = 60
_SENTENCE_ENDS = frozenset("。！？；.!?;")


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell as shown. `number` for numbers, dates and truth values, `strong` for bold type or a filled ground."""

    text: str
    number: bool = False
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment on a cell."""

    row: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A text box, picture or chart that floats over the cells."""

    kind: BlockKind
    text: str
    anchor: tuple[int, int]
    table: PipeTable | None = None
    picture: str = ""
    """The part of the package that holds it."""


@dataclass(slots=True, kw_only=True)
class Sheet:
    """A sheet as its format gives it."""

    name: str
    rows: dict[int, dict[int, SheetCell]] = field(default_factory=dict)
    """Row, then column, counted from 0; cells without text left out."""
    merges: list[Area] = field(default_factory=list)
    tables: list[tuple[Area, int]] = field(default_factory=list)
    """Areas declared to be tables, with their header rows."""
    hidden: bool = False
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    remarks: list[Remark] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)


def write_sheets(
    draft: Draft, sheets: Iterable[Sheet], *, headings: bool = True, pictures: PackagePictures | None = None
) -> list[str]:
    """Append sheets to a draft, one page each, and return warnings.

    `headings` is off where sheets have no name. `pictures` reads the words in figures.
    """
    writer = _Writer(draft, pictures)
    hidden = []
    for number, sheet in enumerate(sheets, 1):
        writer.write(sheet, number, heading=headings)
        if sheet.hidden:
            hidden.append(sheet.name)
    warnings = [f"The sheet {name!r} is hidden in its workbook." for name in hidden]
    if writer.cells_left < 0:
        warnings.append(f"The table cells beyond the first {_MOST_CELLS:,} are kept as text only.")
    return warnings + list(pictures.warnings() if pictures is not None else ())


def column_name(column: int) -> str:
    """Return the letters of a column counted from 0: A, Z, AA."""
    name = ""
    column += 1
    while column:
        column, letter = divmod(column - 1, 26)
        name = chr(65 + letter) + name
    return name


def address(row: int, column: int) -> str:
    """Return a cell's address: B3."""
    return f"{column_name(column)}{row + 1}"


class _Writer:
    def __init__(self, draft: Draft, pictures: PackagePictures | None) -> None:
        self._draft = draft
        self._pictures = pictures
        self.cells_left = _MOST_CELLS

    def write(self, sheet: Sheet, page: int, *, heading: bool) -> None:
        label = f"sheet {sheet.name}" if heading else ""
        frame = _Frame(label, page, sheet.hidden)
        parts: list[tuple[tuple[int, int], Region | Figure]] = [
            ((region.top, region.left), region) for region in regions_of(sheet.rows, sheet.merges)
        ]
        parts.extend((figure.anchor, figure) for figure in sheet.figures)
        if heading and (parts or sheet.remarks):
            self._draft.add(BlockKind.HEADING, sheet.name, level=1, origin=frame.origin(""))
        for _, part in sorted(parts, key=lambda part: part[0]):
            if isinstance(part, Figure):
                self._figure(part, frame)
            else:
                self._region(sheet, part, frame)
        for remark in sheet.remarks:
            place = frame.origin(address(remark.row, remark.column))
            self._draft.add(BlockKind.FOOTNOTE, remark.text, origin=place)

    def _figure(self, figure: Figure, frame: _Frame) -> None:
        origin = frame.origin(address(*figure.anchor))
        if figure.picture and self._pictures is not None:
            self._pictures.write(self._draft, figure.text, figure.picture, origin)
            return
        self._draft.add(figure.kind, figure.text, origin=origin)
        self._draft.add_table(figure.table, origin=origin)

    def _region(self, sheet: Sheet, region: Region, frame: _Frame) -> None:
        lone, table = _titles(sheet, region)
        for row, column, cell in lone:
            self._draft.add(BlockKind.PARAGRAPH, cell.text, origin=frame.origin(address(row, column)))
        if table is not None:
            self._table(sheet, table, frame)

    def _table(self, sheet: Sheet, region: Region, frame: _Frame) -> None:
        rows = range(region.top, region.bottom + 1)
        columns = range(region.left, region.right + 1)
        made = draw(
            _placed(sheet, region, _header_rows(sheet, region)),
            hidden_rows=(row - region.top for row in rows if row in sheet.hidden_rows),
            hidden_columns=(column - region.left for column in columns if column in sheet.hidden_columns),
        )
        if made is None:
            return
        self.cells_left -= len(made.table.cells)
        kept = made.table if self.cells_left >= 0 else None
        area = f"{address(region.top, region.left)}:{address(region.bottom, region.right)}"
        self._draft.add(BlockKind.TABLE, made.text, table=kept, origin=frame.origin(area))


@dataclass(frozen=True, slots=True)
class _Frame:
    """What the places of one sheet have in common."""

    label: str
    page: int
    hidden: bool

    def origin(self, area: str) -> Origin:
        named = f"{self.label}!{area}" if self.label and area else self.label or area
        return Origin(place=f"{named} (hidden)" if self.hidden else named, pages=(self.page,))


_Lone = list[tuple[int, int, CellLike]]
"""Row, column and cell."""


def _titles(sheet: Sheet, region: Region) -> tuple[_Lone, Region | None]:
    """Part lone cells above a table, and sheets that are prose, from what is a table; None when nothing is left."""
    single = region.left == region.right
    lone: _Lone = []
    for row in range(region.top, region.bottom + 1):
        cells = region.row(sheet.rows, row)
        # A column of short words is a list with its head, and a table.
        if len(cells) > 1 or (single and not _is_prose(sheet, region)):
            return lone, Region(row, region.left, region.bottom, region.right)
        lone.extend((row, column, cell) for column, cell in cells)
    return lone, None


def _is_prose(sheet: Sheet, region: Region) -> bool:
    texts = [cell.text for row in range(region.top, region.bottom + 1) for _, cell in region.row(sheet.rows, row)]
    ended = sum(1 for text in texts if len(text) > _PROSE or text[-1:] in _SENTENCE_ENDS)
    return len(texts) == 1 or ended * 2 > len(texts)


def _header_rows(sheet: Sheet, region: Region) -> int:
    """Return how many rows at the top are headers: declared ones, else those that look like it."""
    for (top, left, bottom, right), count in sheet.tables:
        if (top, left) == (region.top, region.left) and bottom <= region.bottom and right <= region.right:
            return count
    return header_rows(sheet.rows, region, sheet.merges)


def _placed(sheet: Sheet, region: Region, headers: int) -> Iterator[Placed]:
    spans = {
        (top, left): (bottom - top + 1, right - left + 1)
        for top, left, bottom, right in sheet.merges
        if region.top <= top <= region.bottom and region.left <= left <= region.right
    }
    for row in range(region.top, region.bottom + 1):
        for column, cell in region.row(sheet.rows, row):
            rows, columns = spans.get((row, column), (1, 1))
            header = row - region.top < headers
            yield Placed(row - region.top, column - region.left, Cell(cell.text, rows, columns, header))
