"""Reading order of a page: columns are found, each is read from top to bottom, full-width lines part the bands.

Method: a gutter is a vertical strip that few runs cross, with enough long runs on both sides; it cuts the page as in
recursive XY-cut (Nagy and Seth 1984), but lines that span it end a band, so that titles and wide figures stay between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate

from kaijuan.ingest.parsers.pdf_columns import column_tables
from kaijuan.ingest.parsers.pdf_figures import mark_figures
from kaijuan.ingest.parsers.pdf_frames import framed_tables
from kaijuan.ingest.parsers.pdf_graphics import Graphics
from kaijuan.ingest.parsers.pdf_grids import ruled_tables
from kaijuan.ingest.parsers.pdf_lines import Line, LineMaker, PrintedTable, Run, join_near, rows_of
from kaijuan.ingest.parsers.pdf_notes import mark_separators

_LEAST_ROWS = 5
_LEAST_EM = 9.0
_TEXT_SHARE = 0.6
_CLEAR_SHARE = 0.02
_MIXED_SHARE = 0.35
"""Of characters in long lines, where hardly a line crosses the gutter: exercises, lists, forms have many short ones."""
_FILL_SHARE = 0.42
"""Less than half, because one side may hold two columns more."""
_WIDE_SHARE = 0.6
_MOST_CROSSING = 0.4
_DEEPEST = 2
_CROSSING_SLACK = 2.0
_STEPS = 60
_LEAST_FRAME = 60.0


def lines_in_order(runs: Sequence[Run], graphics: Graphics, page: int, maker: LineMaker) -> list[Line]:
    """Return the page's printed lines in reading order; each knows its column and that column's borders.

    A table is one line.
    """
    tables, rest = ruled_tables(_without_copies(runs), graphics.lying, graphics.standing, page, maker)
    near = join_near(rest)
    upright = [run for run in near if run.upright]
    framed = sum(1 for rule in graphics.lying if rule.length >= _LEAST_FRAME) > 1
    gutter = _gutter(upright) if upright and framed else None
    if gutter is not None:
        wide, upright = framed_tables(upright, graphics, page, maker, across=gutter)
        tables += wide
    upright += [table.run() for table in tables]
    lines: list[Line] = []
    for number, region in enumerate(_regions(upright, 0)):
        _set_region(_with_tables(region, graphics, page, maker), number, page, maker, lines)
    _widen(lines)
    sideways = [run for run in near if not run.upright]
    # Text turned to the left is read with its lines from left to right, text turned to the right the other way.
    sideways.sort(key=lambda run: (-run.x0, run.y0) if run.downward else (run.x0, run.y0))
    for run in sideways:
        _set_region([run], 1000, page, maker, lines)
    mark_separators(lines, graphics.lying)
    mark_figures(lines, graphics)
    return lines


def _without_copies(runs: Sequence[Run]) -> list[Run]:
    """Leave out runs drawn a second time at the same place (shadows, fake bold)."""
    seen: set[tuple[str, int, int]] = set()
    kept = []
    for run in runs:
        key = ("".join(run.chars), round(run.x0 / 1.5), round(run.y0 / 1.5))
        if key not in seen:
            seen.add(key)
            kept.append(run)
    return kept


def _set_region(region: Sequence[Run], number: int, page: int, maker: LineMaker, lines: list[Line]) -> None:
    made = list(_lines(region, page, maker))
    if not made:
        return
    left, right = _borders([line for line in made if line.table is None] or made)
    for line in made:
        line.column, line.left, line.right = number, left, right
    lines.extend(made)


def _with_tables(region: Sequence[Run], graphics: Graphics, page: int, maker: LineMaker) -> list[Run]:
    """Return a region's runs with a table in the place of those that make one."""
    rows = rows_of(region)
    kept: list[Run] = []
    tables: list[PrintedTable] = []
    at = 0
    for found in column_tables(rows, graphics, page, maker):
        kept += [run for row in rows[at : found.first] for run in row]
        tables.append(found.table)
        at = found.end
    kept += [run for row in rows[at:] for run in row]
    framed, kept = framed_tables(kept, graphics, page, maker)
    return kept + [table.run() for table in (*tables, *framed)]


def _lines(region: Sequence[Run], page: int, maker: LineMaker) -> Iterator[Line]:
    """Yield the lines of a region from top to bottom; what stands beside a table is read before it."""
    for row in rows_of(region):
        beside = [run for run in row if run.table is None]
        for part in rows_of(beside) if len(beside) < len(row) else [beside]:
            if (line := maker.line(part, page)) is not None:
                yield line
        yield from (run.table.line() for run in row if run.table is not None)


def _widen(lines: Sequence[Line]) -> None:
    """Give lines over the full width the page's own borders: a title alone would seem to fill its column."""
    if not lines:
        return
    left, right = _borders(lines)
    for line in lines:
        if line.right - line.left > _WIDE_SHARE * (right - left):
            line.left, line.right = min(line.left, left), max(line.right, right)


def _borders(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the column's borders without a few outliers (marginal numbers, lines that stick out)."""
    lefts = sorted(line.x0 for line in lines)
    rights = sorted(line.x1 for line in lines)
    return lefts[len(lefts) // 20], rights[len(rights) - 1 - len(rights) // 20]


def _regions(runs: Sequence[Run], depth: int) -> list[list[Run]]:
    """Cut runs into regions to be read one after the other."""
    if not runs:
        return []
    gutter = _gutter(runs) if depth < _DEEPEST else None
    if gutter is None:
        return [list(runs)]
    regions: list[list[Run]] = []
    band: list[Run] = []
    wide: list[Run] = []
    for row in rows_of(runs):
        if any(_crosses(run, gutter) for run in row):
            regions += _columns(band, gutter, depth)
            band = []
            wide += row
        else:
            if wide:
                regions.append(wide)
                wide = []
            band += row
    regions += _columns(band, gutter, depth)
    if wide:
        regions.append(wide)
    return regions


def _columns(band: Sequence[Run], gutter: float, depth: int) -> list[list[Run]]:
    left = [run for run in band if (run.x0 + run.x1) / 2 < gutter]
    right = [run for run in band if (run.x0 + run.x1) / 2 >= gutter]
    return _regions(left, depth + 1) + _regions(right, depth + 1)


def _crosses(run: Run, x: float) -> bool:
    return run.x0 < x - _CROSSING_SLACK and run.x1 > x + _CROSSING_SLACK


def _gutter(runs: Sequence[Run]) -> float | None:
    """Return where the page is parted into two columns of text, or None.

    Tables have gaps too; but their cells fill little of the space between them, so both sides must be well filled.
    """
    left, right = min(run.x0 for run in runs), max(run.x1 for run in runs)
    width = right - left
    crossings = _crossings(runs, left, width)
    best, best_crossing = None, _MOST_CROSSING * len(runs)
    for step in range(_STEPS // 5, _STEPS - _STEPS // 5 + 1):
        x = left + width * step / _STEPS
        share = _TEXT_SHARE if crossings[step] > _CLEAR_SHARE * len(runs) else _MIXED_SHARE
        if crossings[step] < best_crossing and _is_filled(runs, x, left, right, share):
            best, best_crossing = x, crossings[step]
    return best


def _crossings(runs: Sequence[Run], left: float, width: float) -> list[int]:
    """Return how many runs cross each of the places that part the width into equal steps."""
    steps = [0] * (_STEPS + 2)
    for run in runs if width > 0 else ():
        first = math.floor((run.x0 + _CROSSING_SLACK - left) * _STEPS / width) + 1
        last = math.ceil((run.x1 - _CROSSING_SLACK - left) * _STEPS / width) - 1
        if first <= last:
            steps[min(max(first, 0), _STEPS + 1)] += 1
            steps[min(max(last + 1, 0), _STEPS + 1)] -= 1
    return list(accumulate(steps))


def _is_filled(runs: Sequence[Run], x: float, left: float, right: float, share: float) -> bool:
    before = [run for run in runs if run.x1 <= x + _CROSSING_SLACK]
    after = [run for run in runs if run.x0 >= x - _CROSSING_SLACK]
    space_before = max((run.x1 for run in before), default=left) - left
    space_after = right - min((run.x0 for run in after), default=right)
    return _is_text(before, space_before, share) and _is_text(after, space_after, share) and _are_beside(before, after)


def _are_beside(before: Sequence[Run], after: Sequence[Run]) -> bool:
    """Say whether the sides stand next to each other rather than one below the other."""
    shared = min(max(run.y1 for run in before), max(run.y1 for run in after))
    shared -= max(min(run.y0 for run in before), min(run.y0 for run in after))
    return shared > 3 * max(run.height for run in before)


def _is_text(runs: Sequence[Run], space: float, share: float) -> bool:
    """Say whether most characters of a side stand in lines that fill it; labels of a figure among them do not count."""
    long = [run for run in runs if run.x1 - run.x0 >= max(_FILL_SHARE * space, _LEAST_EM * run.size)]
    if len(long) < _LEAST_ROWS:
        return False
    return sum(len(run.chars) for run in long) >= share * sum(len(run.chars) for run in runs)
