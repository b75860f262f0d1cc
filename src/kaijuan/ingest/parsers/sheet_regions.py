"""Where on a sheet tables stand, and which of their rows are headers.

Two blank rows or columns part tables. A single one may also only set off totals, groups or columns of one table: it
is no border where what follows goes on with numbers below the same labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

_MOST_MERGED = 2_000
"""A merged cell larger than this is taken by its first rows and columns only."""
_MERGED_EDGE = 40
_MOST_TRACED = 20_000
"""Cells of a rectangle up to which it is looked at whether only corners touch."""
_DEEPEST = 30
_LONG_LABEL = 60
_SENTENCE_ENDS = frozenset("。！？；!?;")
_MOST_HEADER_ROWS = 4
_LOOKED_AT = 50
_SHARE = 0.7
_LONE_GAP = 4
"""How far away a single column with the very same rows may stand (page numbers, totals)."""


class CellLike(Protocol):
    """What has to be known of a cell."""

    @property
    def text(self) -> str:
        """Its words, as shown."""

    @property
    def number(self) -> bool:
        """Whether it is a number, date or truth value."""

    @property
    def strong(self) -> bool:
        """Whether it is made to stand out."""


Rows = Mapping[int, Mapping[int, CellLike]]
"""Cells by row and column."""
Filled = dict[int, set[int]]
"""Filled columns by row, merged cells at all places they cover."""
Area = tuple[int, int, int, int]
"""First row, first column, last row, last column; all counted from 0 and inside."""


@dataclass(frozen=True, slots=True)
class Region:
    """A rectangle of cells, all sides inside."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def width(self) -> int:
        """Columns."""
        return self.right - self.left + 1

    def row(self, rows: Rows, at: int) -> list[tuple[int, CellLike]]:
        """Return the cells of one row inside, with their columns."""
        return sorted((column, cell) for column, cell in rows.get(at, {}).items() if self.left <= column <= self.right)


def regions_of(rows: Rows, merges: Iterable[Area]) -> list[Region]:
    """Return the rectangles, those further up first."""
    filled: Filled = {row: set(cells) for row, cells in rows.items() if cells}
    for top, left, bottom, right in merges:
        if left in rows.get(top, {}):
            _fill(filled, top, left, bottom, right)
    found: list[Region] = []
    _cut(rows, filled, found, 0)
    return sorted(found, key=lambda region: (region.top, region.left))


def _fill(filled: Filled, top: int, left: int, bottom: int, right: int) -> None:
    if (bottom - top + 1) * (right - left + 1) > _MOST_MERGED:
        bottom, right = min(bottom, top + _MERGED_EDGE), min(right, left + _MERGED_EDGE)
    for row in range(top, bottom + 1):
        filled.setdefault(row, set()).update(range(left, right + 1))


def _cut(rows: Rows, filled: Filled, found: list[Region], depth: int) -> None:
    """Cut at borders between rows, then between columns, until nothing parts any more."""
    for part in _bands(rows, filled):
        stripes = _stripes(rows, part)
        if len(stripes) > 1 and depth < _DEEPEST:
            for left, right in stripes:
                stripe = {row: {at for at in columns if left <= at <= right} for row, columns in part.items()}
                _cut(rows, {row: columns for row, columns in stripe.items() if columns}, found, depth + 1)
        elif depth < _DEEPEST and len(_bands(rows, part)) > 1:
            _cut(rows, part, found, depth + 1)
        else:
            found.extend(_apart(part))


def _bands(rows: Rows, filled: Filled) -> list[Filled]:
    bands: list[list[int]] = []
    for run in _runs(sorted(filled)):
        last = bands[-1] if bands else None
        if last and run[0] == last[-1] + 2 and _goes_on(rows, _box(filled, last), _box(filled, run)):
            last.extend(run)
        else:
            bands.append(list(run))
    return [{row: filled[row] for row in band} for band in bands]


def _box(filled: Filled, band: Iterable[int]) -> Region:
    numbers = list(band)
    columns = set().union(*(filled[row] for row in numbers))
    return Region(numbers[0], min(columns), numbers[-1], max(columns))


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """Return the runs of consecutive numbers."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _goes_on(rows: Rows, above: Region, below: Region) -> bool:
    """Say whether what stands below a single blank row is of the table above it."""
    shared = min(above.right, below.right) - max(above.left, below.left) + 1
    if above.width == 1 or below.width == 1 or shared < _SHARE * max(above.width, below.width):
        return False
    if not any(len(above.row(rows, row)) > 1 for row in range(above.top, above.bottom + 1)):
        return False
    for row in range(below.top, min(below.bottom, below.top + 2) + 1):
        cells = below.row(rows, row)
        # A lone label heads a group of rows; the first full row tells whether a new table begins.
        if len(cells) > 1:
            return any(cell.number and not is_label(cell) for _, cell in cells)
    return False


def _stripes(rows: Rows, part: Filled) -> list[tuple[int, int]]:
    stripes: list[tuple[int, int]] = []
    for run in _runs(sorted(set().union(*part.values()))):
        last = stripes[-1] if stripes else None
        if last and _belongs(rows, part, last, (run[0], run[-1])):
            stripes[-1] = (last[0], run[-1])
        else:
            stripes.append((run[0], run[-1]))
    return stripes


def _belongs(rows: Rows, part: Filled, left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Say whether columns behind blank ones are of the table before them: the same rows, no labels of their own."""
    sides = []
    for first, last in (left, right):
        inside = [row for row, columns in part.items() if any(first <= at <= last for at in columns)]
        sides.append((min(inside), max(inside)))
    (top, bottom), (other_top, other_bottom) = sides
    shared = min(bottom, other_bottom) - max(top, other_top) + 1
    lone = bottom == other_bottom and 0 <= other_top - top <= 2 and right[0] == right[1]
    if right[0] - left[1] > (_LONE_GAP if lone else 2) or shared < 2:
        return False
    if shared < _SHARE * (max(bottom, other_bottom) - min(top, other_top) + 1):
        return False
    firsts = [cell for row in range(other_top, other_bottom + 1) if (cell := rows.get(row, {}).get(right[0]))]
    numbers = sum(1 for cell in firsts if cell.number or not any(char.isalnum() for char in cell.text))
    return numbers * 2 > len(firsts) or len(firsts) < shared / 2


def _apart(part: Filled) -> list[Region]:
    """Part tables that touch at a corner only: neither rows nor columns are shared."""
    whole = [_box(part, sorted(part))]
    if sum(map(len, part.values())) > _MOST_TRACED:
        return whole
    boxes = _traced(part)
    rows = sorted(boxes, key=lambda box: box.top)
    columns = sorted(boxes, key=lambda box: box.left)
    split = all(a.bottom < b.top for a, b in itertools.pairwise(rows)) and all(
        a.right < b.left for a, b in itertools.pairwise(columns)
    )
    return rows if split and all(box.bottom > box.top and box.width > 1 for box in boxes) else whole


def _traced(part: Filled) -> list[Region]:
    """Return the boxes around cells that hang together by their sides."""
    left = {(row, column) for row, columns in part.items() for column in columns}
    boxes = []
    while left:
        waiting = [left.pop()]
        top = bottom = waiting[0][0]
        first = last = waiting[0][1]
        while waiting:
            row, column = waiting.pop()
            top, bottom = min(top, row), max(bottom, row)
            first, last = min(first, column), max(last, column)
            for near in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                if near in left:
                    left.remove(near)
                    waiting.append(near)
        boxes.append(Region(top, first, bottom, last))
    return boxes


def is_label(cell: CellLike) -> bool:
    """Say whether a cell may name a column or row: short words that are no sentence, or a year."""
    if cell.number:
        return len(cell.text) == 4 and cell.text.isdigit() and cell.text[:2] in {"19", "20"}
    return len(cell.text) <= _LONG_LABEL and cell.text[-1:] not in _SENTENCE_ENDS


def header_rows(rows: Rows, region: Region, merges: Iterable[Area]) -> int:
    """Return how many rows at the top of a table are headers: labels, over rows that differ from them."""
    height = region.bottom - region.top + 1
    labels = 0
    while labels < min(height, _MOST_HEADER_ROWS + 1):
        cells = region.row(rows, region.top + labels)
        if cells and not all(is_label(cell) for _, cell in cells):
            break
        labels += 1
    depth = min(labels, _depth(rows, region, merges), height - 1)
    head = [cell for row in range(region.top, region.top + depth) for _, cell in region.row(rows, row)]
    full = any(len(region.row(rows, region.top + row)) * 2 >= region.width for row in range(depth))
    if not head or not full:
        return 0
    body = range(region.top + depth, min(region.bottom, region.top + depth + _LOOKED_AT) + 1)
    below = [cell for row in body for _, cell in region.row(rows, row)]
    counted = any(cell.number for cell in below)
    differs = all(cell.strong for cell in head) and not all(cell.strong for cell in below)
    distinct = depth == 1 and len({cell.text for cell in head}) == len(head)
    return depth if counted or differs or distinct else 0


def _depth(rows: Rows, region: Region, merges: Iterable[Area]) -> int:
    """Return how deep a header may reach: through sparse rows to a full one, and to the bottom of merged cells."""
    depth = 1
    while depth < _MOST_HEADER_ROWS and len(region.row(rows, region.top + depth - 1)) * 2 < region.width:
        depth += 1
    for top, left, bottom, right in merges:
        if top == region.top and region.left <= left <= region.right:
            across = region.left < left or right < region.right
            depth = max(depth, bottom - top + 1, 2 if right > left and across else 1)
    return min(depth, _MOST_HEADER_ROWS)
