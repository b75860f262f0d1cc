"""Spreadsheets of OpenDocument files to sheets. Cells hold the text that is shown: no format is worked out."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.core.documents import BlockKind
from kaijuan.errors import OversizeDocumentError
from kaijuan.ingest.parsers.odf_styles import Styles
from kaijuan.ingest.parsers.odf_text import Reader
from kaijuan.ingest.parsers.opc import Element, child, children, local, number_of, value_of
from kaijuan.ingest.parsers.sheets import Figure, Remark, Sheet, SheetCell

_MOST_CELLS = 2_000_000
_LAST_ROW, _LAST_COLUMN = 1_048_575, 16_383
_NUMBERS = frozenset({"float", "percentage", "currency", "date", "time", "boolean"})
_MOST_REPEATS = 1_000
"""Times that a cell or row with text is put down; programs repeat empty ones to the edge of the sheet."""


def sheets_of(body: Element, styles: Styles) -> Iterator[Sheet]:
    """Yield the sheets of a spreadsheet."""
    cells = 0
    for table in children(body, "table"):
        sheet = _Sheet(table, styles).read()
        cells += sum(map(len, sheet.rows.values()))
        if cells > _MOST_CELLS:
            raise OversizeDocumentError(f"The workbook has more than {_MOST_CELLS:,} filled cells.")
        yield sheet


class _Sheet:
    def __init__(self, table: Element, styles: Styles) -> None:
        self._table = table
        self._styles = styles
        self._sheet = Sheet(name=value_of(table, "name"), hidden=_is_off(styles, value_of(table, "style-name")))
        self._row = 0
        self._column = 0

    def read(self) -> Sheet:
        self._inside(self._table)
        return self._sheet

    def _inside(self, node: Element) -> None:
        for part in node:
            name = local(part)
            if name == "table-row":
                self._read_row(part)
            elif name == "table-column":
                self._read_column(part)
            elif name == "shapes":
                for shape in part:
                    self._figure(shape, 0, 0)
            elif name.startswith("table-"):
                self._inside(part)

    def _read_column(self, node: Element) -> None:
        count = max(1, number_of(value_of(node, "number-columns-repeated"), 1))
        if value_of(node, "visibility") in {"collapse", "filter"}:
            self._sheet.hidden_columns.update(range(self._column, min(self._column + count, _LAST_COLUMN + 1)))
        self._column += count

    def _read_row(self, node: Element) -> None:
        count = max(1, number_of(value_of(node, "number-rows-repeated"), 1))
        cells = dict(self._cells(node, self._row))
        hidden = value_of(node, "visibility") in {"collapse", "filter"}
        for row in range(self._row, min(self._row + (count if cells else 0), self._row + _MOST_REPEATS)):
            self._sheet.rows[row] = cells
            if hidden:
                self._sheet.hidden_rows.add(row)
        self._row = min(self._row + count, _LAST_ROW)

    def _cells(self, node: Element, row: int) -> Iterator[tuple[int, SheetCell]]:
        column = 0
        for cell in node:
            name = local(cell)
            if name not in {"table-cell", "covered-table-cell"}:
                continue
            count = max(1, number_of(value_of(cell, "number-columns-repeated"), 1))
            if name == "table-cell":
                shown = self._cell(cell, row, column)
                if shown.text:
                    for at in range(column, min(column + count, column + _MOST_REPEATS)):
                        yield at, shown
            column = min(column + count, _LAST_COLUMN)

    def _cell(self, cell: Element, row: int, column: int) -> SheetCell:
        down = number_of(value_of(cell, "number-rows-spanned"), 1)
        across = number_of(value_of(cell, "number-columns-spanned"), 1)
        if down > 1 or across > 1:
            self._sheet.merges.append((row, column, row + max(down, 1) - 1, column + max(across, 1) - 1))
        lines = []
        for part in cell:
            if local(part) == "p":
                lines.append("".join(part.itertext()).strip())
            elif local(part) == "annotation":
                self._remark(part, row, column)
            elif local(part) in {"frame", "custom-shape"}:
                self._figure(part, row, column)
        return SheetCell(
            "\n".join(filter(None, lines)),
            value_of(cell, "value-type") in _NUMBERS,
            self._styles.is_bold(value_of(cell, "style-name")),
        )

    def _remark(self, note: Element, row: int, column: int) -> None:
        creator = child(note, "creator")
        author = "".join(creator.itertext()).strip() if creator is not None else ""
        text = " ".join(" ".join("".join(part.itertext()).split()) for part in children(note, "p")).strip()
        if text:
            self._sheet.remarks.append(Remark(row, column, f"{author}: {text}" if author else text))

    def _figure(self, shape: Element, row: int, column: int) -> None:
        for piece in Reader(self._styles, numbered=False).shape(shape):
            if piece.kind is not BlockKind.TABLE:
                self._sheet.figures.append(Figure(piece.kind, piece.text, (row, column), picture=piece.picture))


def _is_off(styles: Styles, name: str) -> bool:
    return any(value_of(child(style, "table-properties"), "display") == "false" for style in styles.chain(name))
