"""Tables between rules of equal length, as in three-line tables, also over both columns of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kaijuan.ingest.parsers.pdf_columns import rows_above, table_of_rows
from kaijuan.ingest.parsers.pdf_evidence import is_drawing
from kaijuan.ingest.parsers.pdf_graphics import Graphics, Rule
from kaijuan.ingest.parsers.pdf_gutters import gutters_of
from kaijuan.ingest.parsers.pdf_lines import LineMaker, PrintedTable, Run, rows_of

_LEAST_ROWS = 3
_LEAST_FRAME = 60.0
_SAME_SIDE = 4.0
_MOST_FRAMES = 80
_MOST_RULES = 1_500
_DOUBLE = 5.0
_MOST_OUTSIDE = 0.1
_INDENT_SHARE = 0.15
_MOST_HEADERS = 4
_LONE_WIDTH = 0.6


def framed_tables(
    runs: Sequence[Run], graphics: Graphics, page: int, maker: LineMaker, *, across: float | None = None
) -> tuple[list[PrintedTable], list[Run]]:
    """Return the tables between rules of equal length (three-line tables), and the runs outside of them.

    With `across`, only those that reach over this place between two columns of text.
    """
    tables: list[PrintedTable] = []
    rest = list(runs)
    for rules in _alike(graphics.lying) if len(graphics.lying) <= _MOST_RULES else ():
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
    if above := rows_above(rows, gutters[0]) if gutters else 0:
        rows = rows[above:]
        gutters = gutters_of(rows)
    # Between two rules only rows that all have several cells are surely of a table.
    framed = len(rules) > 2 or (len(rows) > _LEAST_ROWS and all(len(row) > 1 for row in rows))
    made = table_of_rows(rows, gutters, graphics.lying, page, maker, framed=framed) if gutters else None
    if made is None or is_drawing(made, graphics):
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
