"""Tables without rules between columns: rows whose cells stand above each other, with a strip of white between.

Only strong evidence makes a table (amounts, or three and more columns of short cells, or rules above and below): prose
that is taken for a table is worse than a table left as lines of text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from statistics import median

from kaijuan.ingest.parsers.joining import is_wide
from kaijuan.ingest.parsers.pdf_graphics import Graphics, Rule
from kaijuan.ingest.parsers.pdf_grids import cell_lines, part_of
from kaijuan.ingest.parsers.pdf_lines import CAPTION, LineMaker, PrintedCell, PrintedTable, Run, rows_of
from kaijuan.ingest.parsers.pdf_rows import is_amount, is_number

Row = list[Run]

_LEAST_ROWS = 3
_LEAST_GUTTER_EM = 0.5
_NARROW_GUTTER_EM = 0.2
_AMOUNTS_SHARE = 0.85
_MOST_STEP_EM = 2.2
"""White between two rows of one table, in heights of a line."""
_MOST_LONE = 2
_MOST_LABELS = 3
_MOST_ABOVE = 6
_LEAST_FRAME = 60.0
_SAME_SIDE = 4.0
_MOST_FRAMES = 80
_DOUBLE = 5.0
_NEAR_EM = 3.0
_NEAR_RULE = 20.0
_MOST_OUTSIDE = 0.1
_INDENT_SHARE = 0.15
_MOST_HEADERS = 4
_MOST_ACROSS = 0.15
_MOST_DRAWN = 5
_ALIGNED_SHARE = 0.7
_ALIKE = 4.0
_FULL_SHARE = 0.55
_LEAST_COLUMNS = 3
_WIDEST = 20_000
_WIDE_BLANK_EM = 0.45
_CROSSING_SHARE = 0.12
_NUMBER_SHARE = 0.5
_SHORT_CELL = 24
_LONG_CELL = 60
_LEAST_FILL = 0.45
_TIGHT_EM = 0.45
_LONE_WIDTH = 0.6
_MARKS = re.compile(r"[$¥￥€£%)）(（†‡*]+")
_BEFORE = frozenset("$¥￥€£")
_BEHIND = re.compile(r"[%)）†‡*]+")
_LABEL = re.compile(
    r"[•·●○■□▪◆➢✓\-–—*]|[\[(（]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4}|[一二三四五六七八九十]{1,3})[\])）.、:：]?"
)
_YEAR = re.compile(r"(?:19|20)\d\d[年度]*")
_EQUATION = re.compile(r"[(（]\s*[A-Z]?\.?\d{1,3}(?:[.\-]\d{1,3})?[a-z]?\s*[)）]")
_LEADER = re.compile(r"\.{4,}|…{2,}|(?:\. ){4,}|·{4,}")


@dataclass(slots=True)
class Found:
    """A table that takes the place of rows `first` to `end` (exclusive)."""

    first: int
    end: int
    table: PrintedTable


def column_tables(rows: Sequence[Row], graphics: Graphics, page: int, maker: LineMaker) -> list[Found]:
    """Return the tables among the rows of a region, from top to bottom."""
    rules = graphics.lying
    found: list[Found] = []
    for start, end in _stretches(rows):
        gutters = gutters_of(rows[start:end])
        if not gutters:
            continue
        first = _with_header(rows, start, gutters[0], found[-1].end if found else 0)
        if above := _without_caption(rows[first:end], gutters[0]):
            first += above
            gutters = gutters_of(rows[first:end])
        end = _with_labels(rows, end, gutters[0] if gutters else 0.0, rules)
        made = table_of_rows(rows[first:end], gutters, rules, page, maker)
        if made is not None and not _is_drawing(made, graphics):
            found.append(Found(first, end, made))
    return found


def framed_tables(
    runs: Sequence[Run], graphics: Graphics, page: int, maker: LineMaker, *, across: float | None = None
) -> tuple[list[PrintedTable], list[Run]]:
    """Return the tables between rules of equal length (three-line tables), and the runs outside of them.

    With `across`, only those that reach over this place between two columns of text.
    """
    tables: list[PrintedTable] = []
    rest = list(runs)
    for rules in _alike(graphics.lying):
        if across is not None and not rules[0].start + _SAME_SIDE < across < rules[0].end - _SAME_SIDE:
            continue
        at = 0
        while at + 1 < len(rules):
            end = _last_rule(rest, rules, at)
            made = None
            while end > at and made is None:
                made, left = _framed(rest, rules[at : end + 1], graphics, page, maker)
                end = end if made is not None else min(end - 1, at + 2)
            if made is not None:
                tables.append(made)
                rest = left
            at = end if made is not None else at + 1
    return tables, rest


def _alike(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yield rules that begin and end above each other, from top to bottom."""
    groups: dict[tuple[int, int], list[Rule]] = {}
    for rule in sorted(rules, key=lambda rule: rule.at):
        if rule.length < _LEAST_FRAME:
            continue
        near = (
            key for key in groups if abs(key[0] - rule.start) <= _SAME_SIDE and abs(key[1] - rule.end) <= _SAME_SIDE
        )
        groups.setdefault(next(near, (round(rule.start), round(rule.end))), []).append(rule)
    for group in groups.values():
        # Of a double rule the one nearer to the table counts, and either does.
        single = [rule for rule, after in pairwise(group) if after.at - rule.at > _DOUBLE] + group[-1:]
        if len(single) > 1:
            yield single[:_MOST_FRAMES]


def _between(runs: Sequence[Run], above: Rule, below: Rule) -> list[Run]:
    return [
        run
        for run in runs
        if above.start - _SAME_SIDE <= (run.x0 + run.x1) / 2 <= above.end + _SAME_SIDE
        and above.at - 1 <= (run.y0 + run.y1) / 2 <= below.at + 1
    ]


def _last_rule(runs: Sequence[Run], rules: Sequence[Rule], at: int) -> int:
    """Return the last rule before a band of running text, or one with nothing in it."""
    end = at
    while end + 1 < len(rules):
        band = rows_of(_between(runs, rules[end], rules[end + 1]))
        wide = [row for row in band if len(row) == 1 and row[0].x1 - row[0].x0 > _LONE_WIDTH * rules[at].length]
        if not band or len(wide) > 1 or any(run.table or not run.upright for row in band for run in row):
            break
        end += 1
    return end


def _framed(
    runs: Sequence[Run], rules: Sequence[Rule], graphics: Graphics, page: int, maker: LineMaker
) -> tuple[PrintedTable | None, list[Run]]:
    inside = _between(runs, rules[0], rules[-1])
    if _is_open(inside, runs) or min(run.x0 for run in inside) > rules[0].start + _INDENT_SHARE * rules[0].length:
        return None, list(runs)
    rows = rows_of(inside)
    gutters = gutters_of(rows)
    if above := _without_caption(rows, gutters[0]) if gutters else 0:
        rows = rows[above:]
        gutters = gutters_of(rows)
    # Between two rules only rows that all have several cells are surely of a table.
    framed = len(rules) > 2 or (len(rows) > _LEAST_ROWS and all(len(row) > 1 for row in rows))
    made = table_of_rows(rows, gutters, graphics.lying, page, maker, framed=framed) if gutters else None
    if made is None or _is_drawing(made, graphics):
        return None, list(runs)
    made.headers = _headers_above(made, next((rule.at for rule in rules if rule.at > made.y0 + 1), made.y1))
    taken = {id(run) for row in rows for run in row}
    return made, [run for run in runs if id(run) not in taken]


def _is_open(inside: Sequence[Run], runs: Sequence[Run]) -> bool:
    """Say whether rows go on outside of the rules: these then only underline some columns."""
    if not inside:
        return True
    taken = {id(run) for run in inside}
    top, bottom = min(run.y0 for run in inside), max(run.y1 for run in inside)
    outside = [run for run in runs if id(run) not in taken and top <= (run.y0 + run.y1) / 2 <= bottom]
    return len(rows_of(outside)) > _MOST_OUTSIDE * len(rows_of(inside))


def _headers_above(table: PrintedTable, rule: float) -> int:
    """Return how many rows stand above the second rule, 0 where they are too many for a header."""
    above = {cell.row for cell in table.cells if cell.lines[-1].y1 <= rule + 2}
    return len(above) if 0 < len(above) <= min(_MOST_HEADERS, table.rows // 2) else 0


def _is_drawing(table: PrintedTable, graphics: Graphics) -> bool:
    """Say whether labels of a drawing look like a table; rules over its whole width show that it is one."""
    inside = 0
    for x0, y0, x1, y1 in graphics.drawn:
        if table.x0 <= (x0 + x1) / 2 <= table.x1 and table.y0 <= (y0 + y1) / 2 <= table.y1:
            inside += 1
    if inside <= max(_MOST_DRAWN, table.rows):
        return False
    near = [rule for rule in graphics.lying if table.y0 - _NEAR_RULE <= rule.at <= table.y1 + _NEAR_RULE]
    return sum(1 for rule in near if rule.start <= table.x0 + 1 and rule.end >= table.x1 - 1) < _LEAST_ROWS


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
    sides = _sides(rows, gutters)
    cut = [_cut_at(row, gutters, sides) for row in rows]
    grid = _with_single_headers([_columns_of(row, gutters) for row in cut], gutters)
    grid, gutters = _without_mark_columns(grid, gutters)
    if not gutters or not _is_table(grid, len(gutters) + 1, framed=framed):
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
    counted = any(_is_counted(word.text) for run in rows[first] for word in _words(run))
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


def _without_caption(rows: Sequence[Row], gutter: float) -> int:
    """Return how many rows at the top stand before the table: a running header, a caption, a title."""
    above = 0
    for at, row in enumerate(rows[: min(_MOST_ABOVE, len(rows) - _LEAST_ROWS)]):
        counted = len(row) > 1 and any(_is_counted(word.text) for run in row for word in _words(run))
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


def gutters_of(rows: Sequence[Row]) -> list[float]:
    """Return the middles of the strips that hardly a row crosses, with cells on both sides.

    Words are looked at one by one: amounts often stand closer to each other than runs are told apart by. Signs of
    currency and percent lie in the white before or behind their amount; the gutter leaves them with it.
    """
    several = [words for row in rows if len(row) > 1 and (words := [word for run in row for word in _words(run)])]
    if not several:
        return []
    whole = several
    # Headers stand over several columns: where there are rows of amounts, these alone tell the columns.
    counted = [row for row in several if any(_is_counted(word.text) for word in row)]
    several = counted if len(counted) >= _LEAST_ROWS else several
    em = median(run.size for row in rows for run in row)
    left = min(word.x0 for row in several for word in row)
    right = max(word.x1 for row in several for word in row)
    width = int(right - left) + 1
    if not 2 <= width <= _WIDEST:
        return []
    words = [word for row in several for word in row]
    plain = _cover([word for word in words if not _MARKS.fullmatch(word.text)], left, width)
    every = _cover([word for row in whole for word in row], left, width)
    before = _cover([word for word in words if word.text in _BEFORE], left, width)
    behind = _cover([word for word in words if _BEHIND.fullmatch(word.text)], left, width)
    allowed = int(_CROSSING_SHARE * len(several)) if len(several) > _LEAST_ROWS + 2 else 0
    found = []
    for free, part in groupby(range(width), key=lambda at: plain[at] <= allowed):
        strip = list(part)
        if not free or strip[0] == 0 or strip[-1] == width - 1:
            continue
        gap = len(_white(strip, plain)) / em
        middle = left + (strip[0] + strip[-1] + 1) / 2
        if gap >= _LEAST_GUTTER_EM or (gap >= _NARROW_GUTTER_EM and _between_amounts(several, middle)):
            white = _white(_between_marks(strip, behind, before), every)
            found.append(left + white[0] + len(white) / 2)
    return found


def _between_amounts(rows: Sequence[Sequence[_Word]], x: float) -> bool:
    """Say whether amounts stand on both sides in nearly all rows: a narrow gutter is enough between them."""
    pairs = [
        (max(before, key=lambda word: word.x1).text, min(after, key=lambda word: word.x0).text)
        for row in rows
        if (before := [word for word in row if word.x1 <= x]) and (after := [word for word in row if word.x0 >= x])
    ]
    alike = sum(1 for before, after in pairs if is_amount(before) and is_amount(after))
    return len(pairs) > _LEAST_ROWS and alike >= _AMOUNTS_SHARE * len(pairs)


def _is_counted(text: str) -> bool:
    return is_number(text) and any(char.isdigit() for char in text) and not _YEAR.fullmatch(text.strip(","))


def _white(strip: Sequence[int], cover: Sequence[int]) -> list[int]:
    """Return the widest part of a strip where it is crossed least."""
    lowest = min(cover[at] for at in strip)
    return max((list(same) for low, same in groupby(strip, key=lambda at: cover[at] == lowest) if low), key=len)


def _between_marks(strip: Sequence[int], behind: Sequence[int], before: Sequence[int]) -> Sequence[int]:
    """Return the part of a strip behind the signs that follow amounts and before those that stand before amounts."""
    start = max((at + 1 for at in strip if behind[at]), default=strip[0])
    end = min((at for at in strip if before[at]), default=strip[-1] + 1)
    return range(start, end) if start < end else strip


def _cover(words: Sequence[_Word], left: float, width: int) -> list[int]:
    """Return how many words stand over each point of the width."""
    steps = [0] * (width + 2)
    for word in words:
        steps[min(max(int(word.x0 - left), 0), width)] += 1
        steps[min(max(int(word.x1 - left + 0.999), 0), width)] -= 1
    return list(accumulate(steps[:width]))


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    x0: float
    x1: float


def _words(run: Run) -> Iterator[_Word]:
    start = None
    for at, char in enumerate((*run.chars, " ")):
        if not char.isspace():
            start = at if start is None else start
        elif start is not None:
            yield _Word("".join(run.chars[start:at]), run.lefts[start], run.rights[at - 1])
            start = None


Sides = tuple[list[float | None], list[float | None]]
"""For each column where most of its cells begin, and where most end."""


def _sides(rows: Sequence[Row], gutters: Sequence[float]) -> Sides:
    cells = [cell for row in rows for cell in _columns_of(row, gutters) if cell.columns == 1]
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


def _cut_at(row: Row, gutters: Sequence[float], sides: Sides) -> Row:
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


@dataclass(slots=True)
class _Cell:
    column: int
    columns: int
    runs: list[Run]

    @property
    def text(self) -> str:
        return "".join(char for run in self.runs for char in run.chars).strip()


_Cells = list[_Cell]


def _columns_of(row: Row, gutters: Sequence[float]) -> _Cells:
    """Return the cells of one printed row; a run that crosses gutters makes a cell over several columns."""
    cells: _Cells = []
    for run in row:
        first = sum(1 for x in gutters if x <= run.x0 + 1)
        last = max(first, sum(1 for x in gutters if x < run.x1 - 1))
        if cells and first < cells[-1].column + cells[-1].columns:
            cells[-1].runs.append(run)
            cells[-1].columns = max(last - cells[-1].column + 1, cells[-1].columns)
        else:
            cells.append(_Cell(first, last - first + 1, [run]))
    return cells


def _with_single_headers(grid: list[_Cells], gutters: Sequence[float]) -> list[_Cells]:
    """Cut a header that reaches over columns right above amounts: it would head several columns only over others."""
    first = next((at for at, row in enumerate(grid) if any(_is_counted(cell.text) for cell in row[1:])), 0)
    if not 0 < first <= _MOST_HEADERS:
        return grid
    filled = {cell.column for cell in grid[first] if cell.columns == 1}
    cells: _Cells = []
    for cell in grid[first - 1]:
        reach = range(cell.column, cell.column + cell.columns)
        pieces = _pieces(cell, gutters) if cell.columns > 1 and filled.issuperset(reach) else []
        cells += pieces or [cell]
    return [*grid[: first - 1], cells, *grid[first:]]


def _pieces(cell: _Cell, gutters: Sequence[float]) -> _Cells:
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
    return [_Cell(column, 1, columns[column]) for column in sorted(columns)]


def _without_mark_columns(grid: list[_Cells], gutters: list[float]) -> tuple[list[_Cells], list[float]]:
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
        grid = [_columns_of([run for cell in row for run in cell.runs], gutters) for row in grid]
    return grid, gutters


def _is_table(grid: Sequence[_Cells], columns: int, *, framed: bool) -> bool:
    single = [cell for row in grid for cell in row if cell.columns == 1]
    full = [row for row in grid if len(row) > 1]
    if len(full) < (2 if framed else _LEAST_ROWS) or len(single) < 2 * len(full) or _is_crossed(grid, columns):
        return False
    by_column = [[cell.text for cell in single if cell.column == column] for column in range(columns)]
    if not all(by_column) or _is_numbered_text(by_column) or _is_contents(by_column):
        return False
    texts = [cell.text for cell in single]
    lengths = sorted(map(_length, texts))
    fill = len(single) / (len(full) * columns)
    if fill < _LEAST_FILL or median(lengths) > _LONG_CELL or any(_LEADER.search(text) for text in texts):
        return False
    counted = _is_counted_table(by_column)
    if counted:
        return framed or 2 * len(full) >= len(grid)
    if framed:
        return not _is_prose(by_column) and not any(
            cell.columns > 1 and _length(cell.text) > _LONG_CELL for row in grid for cell in row
        )
    labels = sum(1 for row in grid if len(row) == 1 and row[0].column == 0 and row[0].columns == 1)
    places = (len(grid) - labels) * columns + labels
    sparse = columns < _LEAST_COLUMNS or len(full) <= _LEAST_ROWS or len(single) < _FULL_SHARE * places
    short = 2 <= median(lengths) <= _SHORT_CELL and lengths[len(lengths) * 9 // 10] <= _SHORT_CELL * 2
    return short and not sparse and _is_aligned(single, columns)


def _is_crossed(grid: Sequence[_Cells], columns: int) -> bool:
    """Say whether lines of running text stand among the rows; labels that reach over a gutter are none."""
    least = max(2, columns // 2 + 1)
    lone = [row[0] for row in grid if len(row) == 1 and row[0].column == 0]
    across = [cell for cell in lone if cell.columns >= least and cell.text[-1:] not in ":："]
    return len(across) > max(1, _MOST_ACROSS * len(grid))


def _is_prose(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether two and more columns hold long lines."""
    return sum(1 for column in columns if median(map(_length, column)) > _SHORT_CELL) > 1


def _is_counted_table(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether amounts stand in the columns behind the first, in at least one of them more than single signs."""
    behind = [text for column in columns[1:] for text in column]
    numbers = sum(1 for text in behind if is_number(text) and any(char.isdigit() for char in text))
    return numbers >= max(_NUMBER_SHARE * len(behind), _LEAST_ROWS) and _is_apart(columns)


def _is_aligned(cells: Sequence[_Cell], columns: int) -> bool:
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


def _length(text: str) -> int:
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


def _is_across(rule: Rule, rows: Sequence[Row]) -> bool:
    left, right = min(run.x0 for row in rows for run in row), max(run.x1 for row in rows for run in row)
    return rule.length >= 0.8 * (right - left) and rule.start < right and rule.end > left


def _logical_rows(grid: Sequence[_Cells], rules: Sequence[Rule]) -> list[list[_Cells]]:
    """Group printed rows into rows of the table: cells that wrap go on in the printed rows below."""
    rows: list[list[_Cells]] = []
    for cells in grid:
        before = rows[-1] if rows else None
        if before is not None and not _parted(before[-1], cells, rules) and _wraps(before, cells):
            before.append(cells)
        else:
            rows.append([cells])
    return _with_whole_headers(rows, rules)


def _with_whole_headers(rows: Sequence[list[_Cells]], rules: Sequence[Rule]) -> list[list[_Cells]]:
    """Put together printed rows at the top that are one header, set in lines that end at one height."""
    kept: list[list[_Cells]] = []
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


def _is_over(above: _Cells, below: _Cells) -> bool:
    white = min(run.y0 for cell in below for run in cell.runs) - max(run.y1 for cell in above for run in cell.runs)
    if white > _TIGHT_EM * max(run.height for cell in above for run in cell.runs):
        return False
    if any(cell.columns > 1 for cell in (*above, *below)) or above[0].column == 0:
        return False
    return {cell.column for cell in above} <= {cell.column for cell in below}


def _parted(before: _Cells, cells: _Cells, rules: Sequence[Rule]) -> bool:
    low = max(run.y1 for cell in before for run in cell.runs)
    high = min(run.y0 for cell in cells for run in cell.runs)
    return any(low - 2 <= rule.at <= high + 2 for rule in rules)


def _wraps(row: Sequence[_Cells], cells: _Cells) -> bool:
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


def _printed(rows: Sequence[Sequence[_Cells]], gutters: Sequence[float], page: int, maker: LineMaker) -> PrintedTable:
    cells: list[PrintedCell] = []
    for number, printed in enumerate(rows):
        together: dict[int, _Cell] = {}
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
