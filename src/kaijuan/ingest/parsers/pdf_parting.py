"""Printed rows cut into the cells of columns: runs, headers and signs that reach over gutters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kaijuan.ingest.parsers.pdf_grids import part_of
from kaijuan.ingest.parsers.pdf_gutters import Row, is_counted
from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.pdf_rows import is_amount

_NEAR_EM = 3.0
_MOST_HEADERS = 4
_WIDE_BLANK_EM = 0.45
_MARKS = re.compile(r"[$¥￥€£%)）(（†‡*]+")


@dataclass(slots=True)
class Cell:
    """What stands in one column, or reaches over several, on one printed row."""

    column: int
    columns: int
    runs: list[Run]

    @property
    def text(self) -> str:
        """Return its characters."""
        return "".join(char for run in self.runs for char in run.chars).strip()


Cells = list[Cell]


Sides = tuple[list[float | None], list[float | None]]
"""For each column where most of its cells begin, and where most end."""


def sides_of(rows: Sequence[Row], gutters: Sequence[float]) -> Sides:
    """Return where the cells of each column begin and end."""
    cells = [cell for row in rows for cell in columns_of(row, gutters) if cell.columns == 1]
    lefts: list[float | None] = []
    rights: list[float | None] = []
    for column in range(len(gutters) + 1):
        here = [cell for cell in cells if cell.column == column]
        lefts.append(_usual([cell.runs[0].x0 for cell in here]))
        rights.append(_usual([cell.runs[-1].x1 for cell in here]))
    return lefts, rights


def _usual(values: Sequence[float]) -> float | None:
    counts = Counter(round(value) for value in values)
    near, _ = counts.most_common(1)[0] if counts else (0, 0)
    count = sum(1 for value in values if abs(value - near) <= 1.5)
    return float(near) if count > 1 and count * 2 >= len(values) else None


def cut_at(row: Row, gutters: Sequence[float], sides: Sides) -> Row:
    """Cut runs that cross a gutter where there is a wide blank at it, one between two amounts, or one between words
    that begin or end where the cells of the column do."""
    parts: Row = []
    for run in row:
        rest = run
        for number, x in enumerate(gutters):
            crossed = rest.x0 + 1 < x < rest.x1 - 1
            at = _blank_at(rest, x, sides[1][number], sides[0][number + 1]) if crossed else 0
            if at:
                parts.append(part_of(rest, 0, at))
                rest = part_of(rest, at, len(rest.chars))
        parts.append(rest)
    return [run for run in parts if run.chars]


def _blank_at(run: Run, x: float, end: float | None, start: float | None) -> int:
    """Return the number of the blank at which a run can be cut at `x`, 0 for none."""
    after = next((at for at, left in enumerate(run.lefts) if left >= x and not run.chars[at].isspace()), 0)
    before = after - 1
    while before > 0 and run.chars[before].isspace():
        before -= 1
    if after == 0 or before == after - 1 or run.rights[before] > x + 1:
        return 0
    if run.lefts[after] - run.rights[before] >= _WIDE_BLANK_EM * run.size:
        return before + 1
    words = "".join(run.chars)
    amounts = is_amount(words[: before + 1].split()[-1]) and is_amount(words[after:].split()[0])
    begins = start is not None and abs(run.lefts[after] - start) <= 1.5
    ends = end is not None and abs(run.rights[before] - end) <= 1.5
    return before + 1 if amounts or begins or ends else 0


def columns_of(row: Row, gutters: Sequence[float]) -> Cells:
    """Return the cells of one printed row; a run that crosses gutters makes a cell over several columns."""
    cells: Cells = []
    for run in row:
        first = sum(1 for x in gutters if x <= run.x0 + 1)
        last = max(first, sum(1 for x in gutters if x < run.x1 - 1))
        if cells and first < cells[-1].column + cells[-1].columns:
            cells[-1].runs.append(run)
            cells[-1].columns = max(last - cells[-1].column + 1, cells[-1].columns)
        else:
            cells.append(Cell(first, last - first + 1, [run]))
    return cells


def with_single_headers(grid: list[Cells], gutters: Sequence[float]) -> list[Cells]:
    """Cut a header that reaches over columns right above amounts: it would head several columns only over others."""
    first = next((at for at, row in enumerate(grid) if any(is_counted(cell.text) for cell in row[1:])), 0)
    if not 0 < first <= _MOST_HEADERS:
        return grid
    filled = {cell.column for cell in grid[first] if cell.columns == 1}
    cells: Cells = []
    for cell in grid[first - 1]:
        reach = range(cell.column, cell.column + cell.columns)
        pieces = _pieces(cell, gutters) if cell.columns > 1 and filled.issuperset(reach) else []
        cells += pieces or [cell]
    return [*grid[: first - 1], cells, *grid[first:]]


def _pieces(cell: Cell, gutters: Sequence[float]) -> Cells:
    """Return a cell cut at the blanks next to the gutters it crosses, nothing when that leaves a column empty."""
    runs = cell.runs
    for x in gutters[cell.column : cell.column + cell.columns - 1]:
        at = next((k for k, run in enumerate(runs) if run.x0 < x < run.x1), None)
        if at is None:
            continue
        run = runs[at]
        blanks = [k for k, char in enumerate(run.chars) if char.isspace() and 0 < k < len(run.chars) - 1]
        near = min(blanks, key=lambda k: abs((run.lefts[k] + run.rights[k]) / 2 - x), default=None)
        if near is None or abs((run.lefts[near] + run.rights[near]) / 2 - x) > _NEAR_EM * run.size:
            return []
        runs = [*runs[:at], part_of(run, 0, near), part_of(run, near, len(run.chars)), *runs[at + 1 :]]
    columns: dict[int, list[Run]] = {}
    for run in runs:
        columns.setdefault(sum(1 for x in gutters if x < (run.x0 + run.x1) / 2), []).append(run)
    if len(columns) < cell.columns:
        return []
    return [Cell(column, 1, columns[column]) for column in sorted(columns)]


def without_mark_columns(grid: list[Cells], gutters: list[float]) -> tuple[list[Cells], list[float]]:
    """Put columns of signs to the amounts they belong to ($ before, % and ) behind), and stray cells to a neighbour."""
    for column in range(len(gutters), -1, -1):
        if not gutters:
            break
        here = [cell for row in grid for cell in row if cell.column == column and cell.columns == 1]
        reached = [cell for row in grid for cell in row if cell.column <= column < cell.column + cell.columns]
        texts = [cell.text for cell in here]
        if here and all(_MARKS.fullmatch(text) for text in texts):
            behind = sum(1 for text in texts if text[0] in "%)）†‡*") * 2 > len(texts)
            join_left = (behind and column > 0) or column == len(gutters)
        elif not reached or (len(here) == 1 and len(grid) > 4 and column > 0):
            join_left = column > 0
        else:
            continue
        gone = column - 1 if join_left else column
        gutters = [x for at, x in enumerate(gutters) if at != gone]
        grid = [columns_of([run for cell in row for run in cell.runs], gutters) for row in grid]
    return grid, gutters
