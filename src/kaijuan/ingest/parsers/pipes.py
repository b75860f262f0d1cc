"""Tables as Markdown pipe tables: every cell value once, merged cells at their first place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kaijuan.ingest.parsers.joining import squeeze

_SPAN_LIMIT = 200
_CELL_LIMIT = 2_000_000
_RULE = re.compile(r"\|(?: ?:?-{3,}:? ?\|)+")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as the format gives it; the spans say over how many rows and columns it reaches."""

    text: str
    rows: int = 1
    columns: int = 1


def grid(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Lay cells out on a grid; places covered by a merged cell stay empty. Empty edge columns are left out."""
    laid: list[dict[int, str]] = []
    covered: dict[int, int] = {}  # column -> rows still covered by a cell above
    for row in rows:
        line: dict[int, str] = {}
        column = 0
        taken = {at for at, left in covered.items() if left > 0}
        fresh: dict[int, int] = {}
        for cell in row:
            while column in taken:
                column += 1
            line[column] = cell.text
            width = min(max(cell.columns, 1), _SPAN_LIMIT)
            if cell.rows > 1:
                fresh.update(dict.fromkeys(range(column, column + width), cell.rows - 1))
            column += width
        covered = {at: left - 1 for at, left in covered.items() if left > 1} | fresh
        laid.append(line)
    used = sorted({column for line in laid for column, text in line.items() if text})
    laid = [line for line in laid if any(line.values())]
    if not used or len(laid) * len(used) > _CELL_LIMIT:
        return [[text for text in line.values() if text] for line in laid]
    return [[line.get(column, "") for column in used] for line in laid]


def pipe_table(rows: Sequence[Sequence[Cell]]) -> str:
    """Return a Markdown table whose first row is the header, or "" when no cell has text."""
    lines = grid([[Cell(_one_line(cell.text), cell.rows, cell.columns) for cell in row] for row in rows])
    if not lines:
        return ""
    out = [_line(lines[0]), "|" + " --- |" * max(len(lines[0]), 1)]
    out.extend(_line(line) for line in lines[1:])
    return "\n".join(out)


def flatten(table: str) -> str:
    """Return a pipe table as running text, for a table inside a cell of another."""
    return re.sub(r"(?<!\\)\|", " ", _RULE.sub(" ", table))


def _one_line(text: str) -> str:
    return squeeze(text).replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
