"""Evidence that rows of cells are a table, and not prose, a list, equations, contents or labels of a drawing.

Precision goes first: prose that is taken for a table is worse than a table left as lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from kaijuan.ingest.parsers.joining import is_wide
from kaijuan.ingest.parsers.pdf_graphics import Graphics
from kaijuan.ingest.parsers.pdf_lines import PrintedTable
from kaijuan.ingest.parsers.pdf_parting import Cell, Cells
from kaijuan.ingest.parsers.pdf_rows import is_number

_LEAST_ROWS = 3
_NEAR_RULE = 20.0
_MOST_ACROSS = 0.15
_MOST_DRAWN = 5
_ALIGNED_SHARE = 0.7
_ALIKE = 4.0
_FULL_SHARE = 0.55
_LEAST_COLUMNS = 3
_NUMBER_SHARE = 0.5
_SHORT_CELL = 24
_LONG_CELL = 60
_LEAST_FILL = 0.45
_LABEL = re.compile(
    r"[•·●○■□▪◆➢✓\-–—*]|[\[(（]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4}|[一二三四五六七八九十]{1,3})[\])）.、:：]?"
)
_EQUATION = re.compile(r"[(（]\s*[A-Z]?\.?\d{1,3}(?:[.\-]\d{1,3})?[a-z]?\s*[)）]")
_LEADER = re.compile(r"\.{4,}|…{2,}|(?:\. ){4,}|·{4,}")


def is_table(grid: Sequence[Cells], columns: int, *, framed: bool) -> bool:
    """Say whether rows of cells are a table. `framed` where rules stand above and below them."""
    single = [cell for row in grid for cell in row if cell.columns == 1]
    full = [row for row in grid if len(row) > 1]
    if len(full) < (2 if framed else _LEAST_ROWS) or len(single) < 2 * len(full) or _is_crossed(grid, columns):
        return False
    by_column = [[cell.text for cell in single if cell.column == column] for column in range(columns)]
    if not all(by_column) or _is_numbered_text(by_column) or _is_contents(by_column):
        return False
    texts = [cell.text for cell in single]
    lengths = sorted(map(width_of, texts))
    fill = len(single) / (len(full) * columns)
    if fill < _LEAST_FILL or median(lengths) > _LONG_CELL or any(_LEADER.search(text) for text in texts):
        return False
    counted = _is_counted_table(by_column)
    if counted:
        return framed or 2 * len(full) >= len(grid)
    if framed:
        return not _is_prose(by_column) and not any(
            cell.columns > 1 and width_of(cell.text) > _LONG_CELL for row in grid for cell in row
        )
    labels = sum(1 for row in grid if len(row) == 1 and row[0].column == 0 and row[0].columns == 1)
    places = (len(grid) - labels) * columns + labels
    sparse = columns < _LEAST_COLUMNS or len(full) <= _LEAST_ROWS or len(single) < _FULL_SHARE * places
    short = 2 <= median(lengths) <= _SHORT_CELL and lengths[len(lengths) * 9 // 10] <= _SHORT_CELL * 2
    return short and not sparse and _is_aligned(single, columns)


def _is_crossed(grid: Sequence[Cells], columns: int) -> bool:
    """Say whether lines of running text stand among the rows; labels that reach over a gutter are none."""
    least = max(2, columns // 2 + 1)
    lone = [row[0] for row in grid if len(row) == 1 and row[0].column == 0]
    across = [cell for cell in lone if cell.columns >= least and cell.text[-1:] not in ":："]
    return len(across) > max(1, _MOST_ACROSS * len(grid))


def _is_prose(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether two and more columns hold long lines."""
    return sum(1 for column in columns if median(map(width_of, column)) > _SHORT_CELL) > 1


def _is_counted_table(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether amounts stand in the columns behind the first, in at least one of them more than single signs."""
    behind = [text for column in columns[1:] for text in column]
    numbers = sum(1 for text in behind if is_number(text) and any(char.isdigit() for char in text))
    return numbers >= max(_NUMBER_SHARE * len(behind), _LEAST_ROWS) and _is_apart(columns)


def _is_aligned(cells: Sequence[Cell], columns: int) -> bool:
    """Say whether cells of a column begin, end or have their middle above each other."""
    aligned = 0
    for column in range(columns):
        here = [(cell.runs[0].x0, cell.runs[-1].x1) for cell in cells if cell.column == column]
        middles = [(x0 + x1) / 2 for x0, x1 in here]
        aligned += max(_most_alike(side) for side in ([x0 for x0, _ in here], [x1 for _, x1 in here], middles))
    return aligned >= _ALIGNED_SHARE * len(cells)


def _most_alike(values: Sequence[float]) -> int:
    """Return how many of the values lie within three points of each other, at most."""
    ordered = sorted(values)
    best = first = 0
    for at, value in enumerate(ordered):
        while value - ordered[first] > _ALIKE:
            first += 1
        best = max(best, at - first + 1)
    return best


def width_of(text: str) -> int:
    """Return how wide a text is, in half Han characters."""
    return sum(2 if is_wide(char) else 1 for char in text)


def _is_apart(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether at least one column of amounts has more than signs of formulas in it."""
    if all(is_number(text) and len(text) > 1 for text in columns[0]):
        return True
    return any(sum(1 for text in column if len(text) > 1) * 2 >= len(column) for column in columns[1:])


def _is_numbered_text(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether the first of two columns only numbers or points out what stands in the second, or the reverse."""
    if len(columns) == 2 and all(_LABEL.fullmatch(text) for text in columns[0]):
        return True
    numbers = [tuple(map(int, re.findall(r"\d+", text))) for text in columns[-1] if _EQUATION.fullmatch(text)]
    # Negative amounts look like the numbers of equations, but do not count upwards.
    return len(numbers) * 2 > len(columns[-1]) and all(a < b for a, b in pairwise(numbers))


def _is_contents(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether the last column holds page numbers that never fall: a table of contents is furniture."""
    last = columns[-1]
    worded = sum(1 for text in columns[0] if any(char.isalpha() for char in text))
    if (
        len(columns) > 3
        or 2 * worded < len(columns[0])
        or not all(re.fullmatch(r"\d{1,4}|[ivxlc]{1,6}", text) for text in last)
    ):
        return False
    numbers = [int(text) for text in last if text.isdigit()]
    return len(numbers) > 2 and numbers == sorted(numbers) and numbers[-1] < 2_000 and not _are_years(numbers)


def _are_years(numbers: Sequence[int]) -> bool:
    return all(1900 <= number <= 2100 for number in numbers)


def is_drawing(table: PrintedTable, graphics: Graphics) -> bool:
    """Say whether labels of a drawing look like a table; rules over its whole width show that it is one."""
    inside = 0
    for x0, y0, x1, y1 in graphics.drawn:
        if table.x0 <= (x0 + x1) / 2 <= table.x1 and table.y0 <= (y0 + y1) / 2 <= table.y1:
            inside += 1
    if inside <= max(_MOST_DRAWN, table.rows):
        return False
    near = [rule for rule in graphics.lying if table.y0 - _NEAR_RULE <= rule.at <= table.y1 + _NEAR_RULE]
    return sum(1 for rule in near if rule.start <= table.x0 + 1 and rule.end >= table.x1 - 1) < _LEAST_ROWS
