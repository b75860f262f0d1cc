"""Printed tables as text with cells: parts on several pages become one, every character keeps its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kaijuan.core.documents import PageBox, Table, TextLine
from kaijuan.core.spans import Span
from kaijuan.ingest.parsers.pdf_cut_rows import cut_cells
from kaijuan.ingest.parsers.pdf_lines import Line, PrintedCell, PrintedTable
from kaijuan.ingest.parsers.pdf_rows import is_number
from kaijuan.ingest.parsers.pipes import Cell, Placed, draw
from kaijuan.ingest.parsers.sheet_regions import Region, header_rows
from kaijuan.ingest.parsers.sheets import SheetCell

_SAME_BORDER = 6.0
_MOST_REPEATED = 4

Joined = tuple[str, list[tuple[Line, int, int]]]
"""The running text of printed lines, and for each line where it begins in that text and how long it is."""
Join = Callable[[Sequence[Line]], Joined]


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A table with its text; spans of lines and cells count from the start of the text."""

    text: str
    lines: list[TextLine]
    table: Table


def write_table(parts: Sequence[PrintedTable], join: Join) -> WrittenTable | None:
    """Return one table of the parts that follow each other, None when its words could not be kept to the letter."""
    cells = list(_one_after_the_other(parts, join))
    joined = [join(cell.lines) for cell in cells]
    headers = _header_count(parts[0], cells, join)
    made = draw(
        Placed(cell.row, cell.column, Cell(text, cell.rows, cell.columns, cell.row < headers))
        for cell, (text, _) in zip(cells, joined, strict=True)
    )
    if made is None or len(made.table.cells) != len(cells):
        return None
    lines: list[TextLine] = []
    for drawn, (text, pieces) in zip(made.table.cells, joined, strict=True):
        if drawn.span.of(made.text) != text.replace("|", "\\|"):
            return None
        lines += (_text_line(line, text, start, length, drawn.span.start) for line, start, length in pieces if length)
    return WrittenTable(made.text, lines, made.table)


def _text_line(line: Line, text: str, start: int, length: int, at: int) -> TextLine:
    """Return the place of a line's characters; a bar stands in the text behind a backslash that has no width."""
    first = at + start + text.count("|", 0, start)
    edges = line.edges[: length + 1] if line.edges else ()
    bars = text.count("|", start, start + length)
    if bars and edges:
        wide: list[float] = []
        for char, edge in zip(text[start : start + length], edges, strict=False):
            wide += [edge, edge] if char == "|" else [edge]
        edges = (*wide, edges[-1])
    box = PageBox(page=line.page, x0=line.x0, y0=line.y0, x1=line.x1, y1=line.y1)
    return TextLine(span=Span(first, first + length + bars), box=box, edges=edges)


def _one_after_the_other(parts: Sequence[PrintedTable], join: Join) -> list[PrintedCell]:
    """Return the cells of all parts in reading order, without rows that only repeat the header.

    A row that a page end cuts in two is one row.
    """
    found: list[PrintedCell] = []
    down = 0
    for number, part in enumerate(parts):
        again = _repeated(parts[0], part, join) if number else 0
        cells = [
            PrintedCell(cell.row - again + down, cell.column, list(cell.lines), cell.rows, cell.columns)
            for cell in sorted(part.cells, key=lambda cell: (cell.row, cell.column))
            if cell.row >= again
        ]
        down += part.rows - again
        cut = cut_cells(
            found, [cell for cell in cells if cell.row == down - part.rows + again], parts[max(number - 1, 0)]
        )
        if cut:
            for cell, rest in cut:
                cell.lines += rest.lines
            cells = [replace(cell, row=cell.row - 1) for cell in cells if all(cell is not rest for _, rest in cut)]
            down -= 1
        found += cells
    return found


def _repeated(first: PrintedTable, part: PrintedTable, join: Join) -> int:
    """Return how many rows at the top of a later part say the same as those at the top of the first."""
    count = 0
    while count < min(_MOST_REPEATED, first.rows, part.rows - 1):
        if _row_texts(first, count, join) != _row_texts(part, count, join):
            break
        count += 1
    return count


def _row_texts(table: PrintedTable, row: int, join: Join) -> list[tuple[int, str]]:
    return [(cell.column, re.sub(r"\s", "", join(cell.lines)[0])) for cell in table.cells if cell.row == row]


def goes_on(first: PrintedTable, before: PrintedTable, after: PrintedTable, join: Join) -> bool:
    """Say whether a table at the top of a page has the columns of the one at the end of the page before.

    Where no rules show that, a header of its own makes it another table.
    """
    if before.ruled != after.ruled or len(before.borders) != len(after.borders):
        return False
    inner = zip(before.borders, after.borders, strict=True)
    if not all(abs(a - b) <= (_SAME_BORDER if before.ruled else 3 * _SAME_BORDER) for a, b in inner):
        return False
    if before.ruled or not _header_count(after, after.cells, join) or _repeated(first, after, join) > 0:
        return True
    # The rest of a row that the page end cut looks like a header: words above amounts.
    return bool(cut_cells(before.cells, [cell for cell in after.cells if cell.row == 0], before))


def _header_count(first: PrintedTable, cells: Sequence[PrintedCell], join: Join) -> int:
    if first.headers:
        return first.headers
    rows: dict[int, dict[int, SheetCell]] = {}
    for cell in cells:
        text, bold = join(cell.lines)[0], all(line.bold for line in cell.lines)
        rows.setdefault(cell.row, {})[cell.column] = SheetCell(text, is_number(text), bold)
    merges = [
        (cell.row, cell.column, cell.row + cell.rows - 1, cell.column + cell.columns - 1)
        for cell in cells
        if cell.rows > 1 or cell.columns > 1
    ]
    right = max(cell.column + cell.columns for cell in cells) - 1
    return header_rows(rows, Region(0, 0, max(rows), right), merges)
