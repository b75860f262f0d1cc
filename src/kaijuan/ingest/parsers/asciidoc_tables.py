"""Tables of AsciiDoc: cells with their spans, the header row, and CSV inside."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass

from kaijuan.ingest.parsers.asciidoc_text import plain
from kaijuan.ingest.parsers.pipes import Cell

# What may stand before a cell's bar: a span (2+, .3+, 2.3+), a factor (3*), alignment and a style.
_SPEC = (
    r"(?:(?P<across>\d{1,3})?(?:\.(?P<down>\d{1,3}))?\+|(?P<times>\d{1,3})\*)?"
    r"[<^>]?(?:\.[<^>])?(?P<style>[adehlmsv])?"
)
_CELL = re.compile(rf"(?:(?<=\s)|(?<=^)){_SPEC}(?<!\\)\|")
_BAR = re.compile(r"(?<!\\)\|")
_COLUMNS = re.compile(r"cols=(?:\"([^\"]*)\"|'([^']*)'|([^,]*))")
_MOST_REPEATS = 50


@dataclass(slots=True)
class _Open:
    line: int
    text: list[str]
    across: int = 1
    down: int = 1
    header: bool = False


def rows_of(lines: list[str], mark: str, options: str, attributes: Mapping[str, str]) -> list[list[Cell]]:
    """Return the rows of a table's lines. `mark` begins its fence: "|", "!" (in a cell), "," or ":"."""
    if mark in ",:" or "format=csv" in options or "format=dsv" in options:
        delimiter = ":" if mark == ":" or "format=dsv" in options else ","
        read = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        made = [[Cell(plain(cell.strip(), attributes)) for cell in row] for row in read]
        return _headed(made, headed=_is_headed(lines, options))
    cells = _cells([line.replace("!", "|") for line in lines] if mark == "!" else lines)
    columns = _column_count(options)
    rows = _by_line(cells) if not columns and _one_row_a_line(cells) else _by_count(cells, columns)
    made = [
        [Cell(plain("\n".join(cell.text).strip(), attributes), cell.down, cell.across, cell.header) for cell in row]
        for row in rows
    ]
    return _headed(made, headed=_is_headed(lines, options))


def _cells(lines: list[str]) -> list[_Open]:
    cells: list[_Open] = []
    for number, line in enumerate(lines):
        starts = list(_CELL.finditer(line)) or list(_BAR.finditer(line))
        # A bar without a blank before it parts cells too, as people write them.
        bars = [found for found in _BAR.finditer(line) if all(found.end() != start.end() for start in starts)]
        starts = sorted([*starts, *bars], key=lambda found: found.end())
        before = line[: starts[0].start()] if starts else line
        if cells and before.strip():
            cells[-1].text.append(before.strip())
        for start, following in zip(starts, [*starts[1:], None], strict=False):
            text = line[start.end() : following.start() if following else len(line)].replace("\\|", "|").strip()
            spec = start.groupdict()
            cell = _Open(
                number, [text], int(spec.get("across") or 1), int(spec.get("down") or 1), spec.get("style") == "h"
            )
            cells.extend(cell for _ in range(min(int(spec.get("times") or 1), _MOST_REPEATS)))
        if starts and not "".join(cells[-1].text) and line.rstrip().endswith("|") and len(starts) > 1:
            cells[-1].text = [""]
    return cells


def _column_count(options: str) -> int:
    found = _COLUMNS.search(options)
    if not found:
        return 0
    columns = 0
    for part in re.split(r"[,;]", found[1] or found[2] or found[3] or ""):
        times = re.match(r"\s*(\d{1,3})\*", part)
        columns += min(int(times[1]), _MOST_REPEATS) if times else 1
    return columns


def _one_row_a_line(cells: list[_Open]) -> bool:
    """Say whether each line of a table is a row: at least two cells on every line that has any."""
    counts: dict[int, int] = {}
    for cell in cells:
        counts[cell.line] = counts.get(cell.line, 0) + 1
    return bool(counts) and min(counts.values()) > 1


def _by_line(cells: list[_Open]) -> list[list[_Open]]:
    rows: dict[int, list[_Open]] = {}
    for cell in cells:
        rows.setdefault(cell.line, []).append(cell)
    return list(rows.values())


def _by_count(cells: list[_Open], columns: int) -> list[list[_Open]]:
    """Fill rows with cells until each is as wide as the table; cells that reach down take places in later rows."""
    if not columns:
        columns = max(1, sum(cell.across for cell in cells if cells and cell.line == cells[0].line))
    rows: list[list[_Open]] = [[]]
    taken: dict[int, int] = {}
    width = 0
    for cell in cells:
        while width + taken.get(len(rows) - 1, 0) >= columns:
            rows.append([])
            width = 0
        rows[-1].append(cell)
        width += cell.across
        for down in range(1, cell.down):
            at = len(rows) - 1 + down
            taken[at] = taken.get(at, 0) + cell.across
    return [row for row in rows if row]


def _is_headed(lines: list[str], options: str) -> bool:
    """Say whether the first row is a header: by option, or by a blank line after it as the only first line."""
    if "noheader" in options:
        return False
    if "header" in options:
        return True
    filled = [at for at, line in enumerate(lines) if line.strip()]
    return len(filled) > 1 and filled[0] == 0 and filled[1] > 1


def _headed(rows: list[list[Cell]], *, headed: bool) -> list[list[Cell]]:
    if not headed or not rows:
        return rows
    return [[Cell(cell.text, cell.rows, cell.columns, True) for cell in rows[0]], *rows[1:]]
