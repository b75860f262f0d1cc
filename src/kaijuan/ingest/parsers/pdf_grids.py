"""Tables whose cells are parted by rules: the rules make a grid, and where a piece of one is missing cells are merged.

Method: lying and standing rules that meet hang together; their coordinates cut the box around them into small fields;
fields without a rule between them are one cell (as in the lattice methods of Camelot and pdfplumber).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kaijuan.ingest.parsers.pdf_graphics import Rule
from kaijuan.ingest.parsers.pdf_lines import (
    ROW_GAP_EM,
    Line,
    LineMaker,
    PrintedCell,
    PrintedTable,
    Run,
    join_near,
    rows_of,
)
from kaijuan.ingest.parsers.pdf_rows import part_rows

_MEET = 3.0
_SNAP = 3.0
_COVERED = 0.6
"""Share of a field's side that a rule must cover to be a wall."""
_MOST_RULES = 1_500
_MOST_FIELDS = 40_000
_LEAST_FILLED = 0.25
_MOST_CUT = 0.03
"""Share of characters that may lie across a rule; in a drawing more do."""
_FRAME_CHARACTERS = 200
_OPEN_SIDE = 12.0
_ROWS_WITHIN = 3
_TOUCH_EM = 0.1

Field = tuple[int, int]


@dataclass(slots=True)
class _Grid:
    """Fields between coordinates, each belonging to the cell that is named by its first field."""

    xs: list[float]
    ys: list[float]
    cell_of: dict[Field, Field]

    def field_at(self, x: float, y: float) -> Field:
        row = min(max(bisect_right(self.ys, y) - 1, 0), len(self.ys) - 2)
        column = min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)
        return row, column

    def extent(self) -> dict[Field, Field]:
        """Return the last field of every cell."""
        last: dict[Field, Field] = {}
        for (row, column), cell in self.cell_of.items():
            there = last.get(cell, (row, column))
            last[cell] = (max(there[0], row), max(there[1], column))
        return last


def ruled_tables(
    runs: Sequence[Run], lying: Sequence[Rule], standing: Sequence[Rule], page: int, maker: LineMaker
) -> tuple[list[PrintedTable], list[Run]]:
    """Return the tables among `runs`, and the runs outside of them."""
    tables: list[PrintedTable] = []
    rest = list(runs)
    for grid in _grids(lying, standing):
        for part in _without_frames(grid, rest):
            made, left = _table(part, rest, page, maker)
            if made is not None:
                tables.append(made)
                rest = left
    return tables, rest


def _grids(lying: Sequence[Rule], standing: Sequence[Rule]) -> Iterator[_Grid]:
    if not 2 <= len(lying) <= _MOST_RULES or not 1 <= len(standing) <= _MOST_RULES:
        return
    for across, down in _meeting(lying, standing):
        if len(across) < 2 or not down:
            continue
        left, right = min(rule.start for rule in across), max(rule.end for rule in across)
        top, bottom = min(rule.start for rule in down), max(rule.end for rule in down)
        xs = _snapped([*(rule.at for rule in down), *_open_sides(left, right, [rule.at for rule in down])])
        ys = _snapped([*(rule.at for rule in across), *_open_sides(top, bottom, [rule.at for rule in across])])
        if len(xs) > 2 and len(ys) > 1 and (len(xs) - 1) * (len(ys) - 1) <= _MOST_FIELDS:
            yield _Grid(xs, ys, _cells(xs, ys, across, down))


def _open_sides(low: float, high: float, at: Sequence[float]) -> Iterator[float]:
    """Yield the sides of a table that no rule closes: tables often have none at the left and right."""
    if min(at) - low > _OPEN_SIDE:
        yield low
    if high - max(at) > _OPEN_SIDE:
        yield high


def _snapped(values: Iterable[float]) -> list[float]:
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > _SNAP:
            kept.append(value)
    return kept


def _meeting(lying: Sequence[Rule], standing: Sequence[Rule]) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield groups of rules that hang together."""
    parent = list(range(len(lying) + len(standing)))

    def find(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for i, across in enumerate(lying):
        for k, down in enumerate(standing):
            if (
                across.start - _MEET <= down.at <= across.end + _MEET
                and down.start - _MEET <= across.at <= down.end + _MEET
            ):
                parent[find(i)] = find(len(lying) + k)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for at in range(len(parent)):
        side = 0 if at < len(lying) else 1
        groups[find(at)][side].append(lying[at] if side == 0 else standing[at - len(lying)])
    yield from groups.values()


def _cells(
    xs: Sequence[float], ys: Sequence[float], across: Sequence[Rule], down: Sequence[Rule]
) -> dict[Field, Field]:
    rows, columns = len(ys) - 1, len(xs) - 1
    below = _walls(ys, xs, across)
    beside = _walls(xs, ys, down)
    cell_of: dict[Field, Field] = {}
    for row in range(rows):
        for column in range(columns):
            if (row, column) in cell_of:
                continue
            members = _reached((row, column), rows, columns, below, beside, cell_of)
            _name(members, cell_of)
    return cell_of


def _walls(at: Sequence[float], along: Sequence[float], rules: Sequence[Rule]) -> set[tuple[int, int]]:
    """Return which sides of fields are drawn: (number of the coordinate, number of the field along it)."""
    walls = set()
    for rule in rules:
        number = min(range(len(at)), key=lambda k: abs(at[k] - rule.at))
        if abs(at[number] - rule.at) > _SNAP:
            continue
        for k in range(len(along) - 1):
            shared = min(rule.end, along[k + 1]) - max(rule.start, along[k])
            if shared >= _COVERED * (along[k + 1] - along[k]):
                walls.add((number, k))
    return walls


def _reached(
    start: Field, rows: int, columns: int, below: set[Field], beside: set[Field], taken: dict[Field, Field]
) -> set[Field]:
    seen = {start}
    waiting = [start]
    while waiting:
        row, column = waiting.pop()
        near = []
        if row + 1 < rows and (row + 1, column) not in below:
            near.append((row + 1, column))
        if row > 0 and (row, column) not in below:
            near.append((row - 1, column))
        if column + 1 < columns and (column + 1, row) not in beside:
            near.append((row, column + 1))
        if column > 0 and (column, row) not in beside:
            near.append((row, column - 1))
        for field in near:
            if field not in seen and field not in taken:
                seen.add(field)
                waiting.append(field)
    return seen


def _name(members: set[Field], cell_of: dict[Field, Field]) -> None:
    """Make one cell of fields that form a rectangle; anything else is cut into rows."""
    top, bottom = min(row for row, _ in members), max(row for row, _ in members)
    left, right = min(column for _, column in members), max(column for _, column in members)
    if len(members) == (bottom - top + 1) * (right - left + 1):
        cell_of.update(dict.fromkeys(members, (top, left)))
        return
    for row in range(top, bottom + 1):
        first: Field | None = None
        for column in range(left, right + 2):
            if (row, column) not in members:
                first = None
                continue
            first = first or (row, column)
            cell_of[row, column] = first


def _without_frames(grid: _Grid, runs: Sequence[Run]) -> Iterator[_Grid]:
    """Yield the parts of a grid between rows that are one wide box full of running text: that only frames it."""
    columns = len(grid.xs) - 1
    last = grid.extent()
    kept: list[int] = []
    for row in range(len(grid.ys) - 1):
        cell = grid.cell_of[row, 0]
        wide = cell[1] == 0 and last[cell][1] == columns - 1
        if wide and _characters(runs, grid, cell, last[cell]) > _FRAME_CHARACTERS:
            yield from _part(grid, kept)
            kept = []
        else:
            kept.append(row)
    yield from _part(grid, kept)


def _characters(runs: Sequence[Run], grid: _Grid, first: Field, last: Field) -> int:
    left, top = grid.xs[first[1]], grid.ys[first[0]]
    right, bottom = grid.xs[last[1] + 1], grid.ys[last[0] + 1]
    return sum(len(run.chars) for run in runs if left <= _middle(run)[0] <= right and top <= _middle(run)[1] <= bottom)


def _part(grid: _Grid, rows: Sequence[int]) -> Iterator[_Grid]:
    if not rows:
        return
    first, end = rows[0], rows[-1] + 1
    cells = {
        (row - first, column): (max(top - first, 0), left)
        for (row, column), (top, left) in grid.cell_of.items()
        if first <= row < end
    }
    yield _Grid(grid.xs, grid.ys[first : end + 1], cells)


def _table(grid: _Grid, runs: Sequence[Run], page: int, maker: LineMaker) -> tuple[PrintedTable | None, list[Run]]:
    """Return the table that a grid makes of the runs in it, and the runs that stay outside."""
    x0, x1, y0, y1 = grid.xs[0], grid.xs[-1], grid.ys[0], grid.ys[-1]
    inside: list[Run] = []
    rest: list[Run] = []
    for run in runs:
        x, y = _middle(run)
        (inside if x0 - 1 <= x <= x1 + 1 and y0 - 1 <= y <= y1 + 1 and run.table is None else rest).append(run)
    parts: dict[Field, list[Run]] = defaultdict(list)
    cut = total = 0
    for run in inside:
        total += len(run.chars)
        cut += _characters_cut(run, grid)
        for cell, part in _parts(run, grid):
            parts[cell].append(part)
    if cut > _MOST_CUT * total:
        return None, list(runs)
    lines = {cell: cell_lines(there, page, maker) for cell, there in parts.items()}
    cells = _printed({cell: there for cell, there in lines.items() if there}, grid)
    if not _is_table(cells, grid):
        return None, list(runs)
    borders = (*(grid.xs[column] for column in _kept_columns(lines)), x1)
    return PrintedTable(page, borders, part_rows(cells), x0, y0, x1, y1, ruled=True), rest


def _is_table(cells: Sequence[PrintedCell], grid: _Grid) -> bool:
    columns = {cell.column for cell in cells}
    rows = {cell.row for cell in cells}
    if len(columns) < 2 or not rows or any(_is_frame(cell) for cell in cells):
        return False
    filled = sum(cell.rows * cell.columns for cell in cells)
    return len(cells) >= _LEAST_FILLED * len(set(grid.cell_of.values())) or filled >= len(rows) * len(columns) / 2


def _is_frame(cell: PrintedCell) -> bool:
    """Say whether a cell holds columns of its own."""
    return sum(1 for line in cell.lines if line.gap > ROW_GAP_EM) >= _ROWS_WITHIN


def _printed(lines: dict[Field, list[Line]], grid: _Grid) -> list[PrintedCell]:
    """Return the cells with words, numbered without rows and columns in which none begins."""
    last = grid.extent()
    rows = sorted({row for row, _ in lines})
    columns = _kept_columns(lines)
    cells = []
    for row, column in sorted(lines):
        end = last[row, column]
        down = bisect_right(rows, end[0]) - bisect_right(rows, row) + 1
        across = bisect_right(columns, end[1]) - bisect_right(columns, column) + 1
        at = (rows.index(row), columns.index(column))
        cells.append(PrintedCell(at[0], at[1], lines[row, column], rows=down, columns=across))
    return cells


def _kept_columns(lines: dict[Field, list[Line]]) -> list[int]:
    return sorted({column for (_, column), there in lines.items() if there})


def cell_lines(runs: Sequence[Run], page: int, maker: LineMaker) -> list[Line]:
    """Return the printed lines of one cell from top to bottom."""
    upright = [run for run in join_near(runs) if run.upright]
    sideways = sorted((run for run in runs if not run.upright), key=lambda run: run.x0)
    rows = [*rows_of(upright), *([run] for run in sideways)]
    return [line for row in rows if (line := maker.line(row, page)) is not None]


def _middle(run: Run) -> tuple[float, float]:
    return (run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2


def _characters_cut(run: Run, grid: _Grid) -> int:
    """Return how many characters lie across a rule with a good part on both sides."""
    if not run.upright:
        return 0
    cut = 0
    y = (run.y0 + run.y1) / 2
    for x in grid.xs[1:-1]:
        if (
            not run.x0 + 1 < x < run.x1 - 1
            or grid.cell_of[grid.field_at(x - 1, y)] == grid.cell_of[grid.field_at(x + 1, y)]
        ):
            continue
        for left, right, char in zip(run.lefts, run.rights, run.chars, strict=True):
            if left + 0.3 * (right - left) < x < right - 0.3 * (right - left) and not char.isspace():
                cut += 1
    return cut


def _parts(run: Run, grid: _Grid) -> Iterator[tuple[Field, Run]]:
    """Cut a run where it goes from one cell into the next."""
    x, y = _middle(run)
    if not run.upright or grid.field_at(run.x0, y) == grid.field_at(run.x1, y):
        yield grid.cell_of[grid.field_at(x, y)], run
        return
    cells = [
        grid.cell_of[grid.field_at((left + right) / 2, y)] for left, right in zip(run.lefts, run.rights, strict=True)
    ]
    start = 0
    for at in range(1, len(cells) + 1):
        if at < len(cells) and cells[at] != cells[start] and _touch(run, at):
            cells[at] = cells[start]  # a word that is too long for its cell reaches into the next
        if at == len(cells) or cells[at] != cells[start]:
            if any(not char.isspace() for char in run.chars[start:at]):
                yield cells[start], part_of(run, start, at)
            start = at


def _touch(run: Run, at: int) -> bool:
    """Say whether a character follows the one before without any white between."""
    if run.chars[at].isspace() or run.chars[at - 1].isspace():
        return False
    return run.lefts[at] - run.rights[at - 1] < _TOUCH_EM * run.size


def part_of(run: Run, start: int, end: int) -> Run:
    """Return the characters of a run from `start` to `end` as a run of their own."""
    while start < end and run.chars[start].isspace():
        start += 1
    while end > start and run.chars[end - 1].isspace():
        end -= 1
    lefts, rights = run.lefts[start:end], run.rights[start:end]
    return replace(
        run,
        chars=run.chars[start:end],
        lefts=lefts,
        rights=rights,
        x0=min(lefts, default=0.0),
        x1=max(rights, default=0.0),
    )
