"""Tables without rules between columns: rows whose cells stand above each other, with a strip of white between."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kaijuan.ingest.parsers.pdf_evidence import is_drawing, is_table
from kaijuan.ingest.parsers.pdf_graphics import Graphics, Rule
from kaijuan.ingest.parsers.pdf_grids import cell_lines
from kaijuan.ingest.parsers.pdf_gutters import Row, gutters_of, is_counted, words_of
from kaijuan.ingest.parsers.pdf_lines import CAPTION, LineMaker, PrintedCell, PrintedTable
from kaijuan.ingest.parsers.pdf_parting import (
    Cell,
    Cells,
    columns_of,
    cut_at,
    sides_of,
    with_single_headers,
    without_mark_columns,
)
from kaijuan.ingest.parsers.pdf_rows import is_number

_LEAST_ROWS = 3
_MOST_STEP_EM = 2.2
"""White between two rows of one table, in heights of a line."""
_MOST_LONE = 2
_MOST_RULES = 1_500
_MOST_LABELS = 3
_MOST_ABOVE = 6
_TIGHT_EM = 0.45
_LONE_WIDTH = 0.6
_YEAR = re.compile(r"(?:19|20)\d\d[年度]*")


@dataclass(slots=True)
class Found:
    """A table that takes the place of rows `first` to `end` (exclusive)."""

    first: int
    end: int
    table: PrintedTable


def column_tables(rows: Sequence[Row], graphics: Graphics, page: int, maker: LineMaker) -> list[Found]:
    """Return the tables among the rows of a region, from top to bottom."""
    rules = graphics.lying[:_MOST_RULES]
    found: list[Found] = []
    for start, end in _stretches(rows):
        gutters = gutters_of(rows[start:end])
        if not gutters:
            continue
        first = _with_header(rows, start, gutters[0], found[-1].end if found else 0)
        if above := rows_above(rows[first:end], gutters[0]):
            first += above
            gutters = gutters_of(rows[first:end])
        end = _with_labels(rows, end, gutters[0] if gutters else 0.0, rules)
        made = table_of_rows(rows[first:end], gutters, rules, page, maker)
        if made is not None and not is_drawing(made, graphics):
            found.append(Found(first, end, made))
    return found


def table_of_rows(
    rows: Sequence[Row],
    gutters: list[float],
    rules: Sequence[Rule],
    page: int,
    maker: LineMaker,
    *,
    framed: bool = False,
) -> PrintedTable | None:
    """Return the table that rows make, None when they are no table. `framed` when rules stand above and below."""
    sides = sides_of(rows, gutters)
    cut = [cut_at(row, gutters, sides) for row in rows]
    grid = with_single_headers([columns_of(row, gutters) for row in cut], gutters)
    grid, gutters = without_mark_columns(grid, gutters)
    if not gutters or not is_table(grid, len(gutters) + 1, framed=framed):
        return None
    logical = _logical_rows(grid, [rule for rule in rules if _is_across(rule, rows)])
    return _printed(logical, gutters, page, maker)


def _stretches(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Yield stretches of rows that may be one table: rows of several runs, with few lone ones between."""
    if not rows:
        return
    left, right = min(run.x0 for row in rows for run in row), max(run.x1 for row in rows for run in row)
    at = 0
    while at < len(rows):
        if len(rows[at]) < 2 or any(run.table or run.fixed for run in rows[at]):
            at += 1
            continue
        end = last = at + 1
        while end < len(rows) and _goes_on(rows[end - 1], rows[end]):
            if len(rows[end]) < 2:
                lone = end - last + 1
                if lone > _MOST_LONE or rows[end][0].x1 - rows[end][0].x0 > _LONE_WIDTH * (right - left):
                    break
            else:
                last = end + 1
            end += 1
        if sum(1 for row in rows[at:last] if len(row) > 1) >= _LEAST_ROWS:
            yield at, _with_wraps(rows, last)
        at = max(last, at + 1)


def _goes_on(before: Row, row: Row) -> bool:
    if any(run.table or run.fixed for run in row):
        return False
    white = min(run.y0 for run in row) - max(run.y1 for run in before)
    height = max(run.height for run in before)
    sizes = max(run.size for run in before), max(run.size for run in row)
    return white <= _MOST_STEP_EM * height and max(sizes) <= 1.5 * min(sizes)


def _with_header(rows: Sequence[Row], first: int, gutter: float, least: int) -> int:
    """Take in lone runs above that stand over the columns behind the first: they head them.

    Where amounts follow, labels in the first column may stand between.
    """
    counted = any(is_counted(word.text) for run in rows[first] for word in words_of(run))
    least = max(least, first - (2 * _MOST_LABELS if counted else _MOST_LABELS))
    found = at = first
    while at > least and len(rows[at - 1]) == 1 and _goes_on(rows[at - 1], rows[at]):
        at -= 1
        run = rows[at][0]
        if CAPTION.match(_text(rows[at])):
            break
        if run.x0 >= gutter - 1:
            found = at
        elif run.x1 > gutter + run.size or not counted or found - at > _MOST_LABELS:
            break
    return found


def _with_labels(rows: Sequence[Row], end: int, gutter: float, rules: Sequence[Rule]) -> int:
    """Take in labels of the first column below, as far as a rule across the table closes it: other cells are empty."""
    last = end
    while last < len(rows) and len(rows[last]) == 1 and _goes_on(rows[last - 1], rows[last]):
        run = rows[last][0]
        if run.x1 > gutter or not any(abs(run.x0 - other.x0) < run.size for row in rows[:end] for other in row[:1]):
            break
        last += 1
        low = rows[last][0].y0 if last < len(rows) else run.y1 + 2 * run.height
        if any(run.y1 - 1 <= rule.at <= low + 1 and rule.start < run.x0 + 1 and rule.end > gutter for rule in rules):
            end = last
    return end


def rows_above(rows: Sequence[Row], gutter: float) -> int:
    """Return how many rows at the top stand before the table: a running header, a caption, a title."""
    above = 0
    for at, row in enumerate(rows[: min(_MOST_ABOVE, len(rows) - _LEAST_ROWS)]):
        counted = len(row) > 1 and any(is_counted(word.text) for run in row for word in words_of(run))
        if counted and not CAPTION.match(_text(row)):
            break
        crosses = len(row) == 1 and row[0].x0 < gutter < row[0].x1 - row[0].size
        if crosses or CAPTION.match(_text(row)):
            above = at + 1
    return above


def _text(row: Row) -> str:
    return "".join(row[0].chars)


def _with_wraps(rows: Sequence[Row], end: int) -> int:
    """Take in lone runs below that go on with a cell of the last row."""
    while end < len(rows) and len(rows[end]) == 1:
        run = rows[end][0]
        above = rows[end - 1]
        white = run.y0 - max(other.y1 for other in above)
        hangs = any(abs(run.x0 - other.x0) < 0.6 * run.size and run.x1 < other.x1 + 2 * run.size for other in above)
        if run.table or white > _TIGHT_EM * run.height or not hangs:
            break
        end += 1
    return end


def _is_across(rule: Rule, rows: Sequence[Row]) -> bool:
    left, right = min(run.x0 for row in rows for run in row), max(run.x1 for row in rows for run in row)
    return rule.length >= 0.8 * (right - left) and rule.start < right and rule.end > left


def _logical_rows(grid: Sequence[Cells], rules: Sequence[Rule]) -> list[list[Cells]]:
    """Group printed rows into rows of the table: cells that wrap go on in the printed rows below."""
    rows: list[list[Cells]] = []
    for cells in grid:
        before = rows[-1] if rows else None
        if before is not None and not _parted(before[-1], cells, rules) and _wraps(before, cells):
            before.append(cells)
        else:
            rows.append([cells])
    return _with_whole_headers(rows, rules)


def _with_whole_headers(rows: Sequence[list[Cells]], rules: Sequence[Rule]) -> list[list[Cells]]:
    """Put together printed rows at the top that are one header, set in lines that end at one height."""
    kept: list[list[Cells]] = []
    heading = True
    for row in rows:
        heading = heading and not any(
            cell.column > 0 and is_number(cell.text) and not _YEAR.fullmatch(cell.text) for cell in row[0]
        )
        above = kept[-1][-1] if kept else []
        if heading and above and not _parted(above, row[0], rules) and _is_over(above, row[0]):
            kept[-1].extend(row)
        else:
            kept.append(list(row))
    return kept


def _is_over(above: Cells, below: Cells) -> bool:
    white = min(run.y0 for cell in below for run in cell.runs) - max(run.y1 for cell in above for run in cell.runs)
    if white > _TIGHT_EM * max(run.height for cell in above for run in cell.runs):
        return False
    if any(cell.columns > 1 for cell in (*above, *below)) or above[0].column == 0:
        return False
    return {cell.column for cell in above} <= {cell.column for cell in below}


def _parted(before: Cells, cells: Cells, rules: Sequence[Rule]) -> bool:
    low = max(run.y1 for cell in before for run in cell.runs)
    high = min(run.y0 for cell in cells for run in cell.runs)
    return any(low - 2 <= rule.at <= high + 2 for rule in rules)


def _wraps(row: Sequence[Cells], cells: Cells) -> bool:
    """Say whether a printed row goes on with the row above: no amounts of its own, close below, under its cells."""
    before = row[-1]
    white = min(run.y0 for cell in cells for run in cell.runs) - max(run.y1 for cell in before for run in cell.runs)
    height = max(run.height for cell in before for run in cell.runs)
    if white > _TIGHT_EM * height:
        return False
    above = {cell.column: cell for cells_above in row for cell in cells_above}
    texts = [cell.text for cell in cells]
    if any(cell.columns > 1 for cell in (*before, *cells)):
        return len(cells) == 1 < len(above) and cells[0].column in above and cells[0].column > 0
    if len(above) == 1 and 0 in above and len(cells) > 1:
        first = next((cell.text for cell in cells if cell.column == 0), "")
        return bool(first) and first[0].islower() and not is_number(above[0].text)
    if any(is_number(text) for text in texts) or not all(cell.column in above for cell in cells):
        return False
    if cells[0].column == 0:
        return len(cells) == 1 and texts[0][0].islower() and len(above) > 1
    return 0 in above


def _printed(rows: Sequence[Sequence[Cells]], gutters: Sequence[float], page: int, maker: LineMaker) -> PrintedTable:
    cells: list[PrintedCell] = []
    for number, printed in enumerate(rows):
        together: dict[int, Cell] = {}
        for cell in (cell for part in printed for cell in part):
            if cell.column in together:
                together[cell.column].runs.extend(cell.runs)
            else:
                together[cell.column] = replace(cell, runs=list(cell.runs))
        for column in sorted(together):
            lines = cell_lines(together[column].runs, page, maker)
            if lines:
                cells.append(PrintedCell(number, column, lines, columns=together[column].columns))
    every = [run for printed in rows for part in printed for cell in part for run in cell.runs]
    x0, x1 = min(run.x0 for run in every), max(run.x1 for run in every)
    y0, y1 = min(run.y0 for run in every), max(run.y1 for run in every)
    return PrintedTable(page, (x0, *gutters, x1), cells, x0, y0, x1, y1, ruled=False)
