"""Rows of a table that a page end cuts in two: the words of some cells go on at the top of the next page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kaijuan.ingest.parsers.joining import is_wide
from kaijuan.ingest.parsers.pdf_lines import Line, PrintedCell, PrintedTable
from kaijuan.ingest.parsers.pdf_rows import is_number

_MOST_PADDING = 12.0
"""Points between words and the rule beside them."""
_SLACK_EM = 0.5
_ENDS = "。.！!？?；;"
_CLOSERS = "”’\"')）】」』]"
_LEADING = 2.0
_WRAPPED = 3
"""Without rules only so many lines of one cell tell how wide it is."""

Pair = tuple[PrintedCell, PrintedCell]


def cut_cells(before: Sequence[PrintedCell], first: Sequence[PrintedCell], part: PrintedTable) -> list[Pair]:
    """Return which cells of the last row go on in which of a later page's first row; none where that row is a new one.

    `before` holds all cells so far, `first` those of the row; `part` is the table's part on the page before. The rest
    of a row has nothing in its first column, and goes on only from cells whose last line was full: what is no more
    than the next entry of a group stands below a line on which it would have had room.
    """
    filled = [cell for cell in first if cell.lines]
    if not before or not filled or any(cell.column == 0 or cell.rows > 1 for cell in filled):
        return []
    row = max(cell.row + cell.rows for cell in before) - 1
    last = {(cell.column, cell.columns): cell for cell in before if cell.row + cell.rows - 1 == row and cell.lines}
    if not any(column == 0 for column, _ in last):
        return []
    pairs: list[Pair] = []
    for rest in filled:
        cell = last.get((rest.column, rest.columns))
        if cell is None or not _is_cut(cell, rest, part, before):
            return []
        pairs.append((cell, rest))
    return pairs if any(not _ends_sentence(cell.lines[-1].text) for cell, _ in pairs) else []


def cell_of_rest(table: PrintedTable, line: Line) -> PrintedCell | None:
    """Return the cell at the end of a table without rules in which a line at the top of the next page goes on.

    Alone in its column, such a line does not look like a table. The lines of the rest are asked for one by one.
    """
    if table.ruled or line.page != table.page + 1 or not line.edges:
        return None
    row = table.rows - 1
    for cell in table.cells:
        if cell.row + cell.rows - 1 != row or not cell.column or not cell.lines or not _stands_in(line, cell, table):
            continue
        above = cell.lines[-1]
        if above.page == line.page:
            return cell if 0 < line.y0 - above.y0 <= _LEADING * line.height else None
        rest = PrintedCell(0, cell.column, [line], columns=cell.columns)
        broken_off = not _ends_sentence(above.text) and _is_cut(cell, rest, table, table.cells)
        return cell if broken_off else None
    return None


def _stands_in(line: Line, cell: PrintedCell, table: PrintedTable) -> bool:
    left, right = table.borders[cell.column], table.borders[cell.column + cell.columns]
    begins = min(one.x0 for one in cell.lines)
    return (
        abs(line.x0 - begins) <= _SLACK_EM * line.size
        and abs(line.size - cell.lines[0].size) <= _SLACK_EM
        and left - line.size <= line.x0
        and line.x1 <= right + line.size
    )


def _is_cut(cell: PrintedCell, rest: PrintedCell, part: PrintedTable, before: Sequence[PrintedCell]) -> bool:
    lines = [*cell.lines, *rest.lines]
    if not all(line.edges for line in lines) or all(is_number(line.text) for line in rest.lines):
        return False
    if cell.lines[-1].page != part.page:
        return False
    if part.ruled:
        border = part.borders[cell.column + cell.columns]
        padding = min(min(line.x0 for line in lines) - part.borders[cell.column], _MOST_PADDING)
        return _is_full(cell.lines[-1], rest.lines[0], border - max(padding, 0.0))
    if len(lines) < _WRAPPED:
        return False
    own = (line.x1 for one in before if (one.column, one.columns) == (cell.column, cell.columns) for line in one.lines)
    border = max(*own, *(line.x1 for line in rest.lines))
    return all(_is_full(line, after, border) for line, after in pairwise(lines))


def _is_full(line: Line, after: Line, border: float) -> bool:
    """Say whether the first word of the next line would not have had room on this one."""
    first = 1 if is_wide(after.text[0]) else len(after.text.split(" ", 1)[0])
    word = after.edges[min(first, len(after.edges) - 1)] - after.edges[0]
    blank = 0.0 if is_wide(after.text[0]) else 0.25 * line.size
    return line.hyphen or line.x1 + blank + word + _SLACK_EM * line.size > border


def _ends_sentence(text: str) -> bool:
    return text.rstrip(_CLOSERS)[-1:] in _ENDS
