"""Tables as Markdown pipe tables: every cell value once, merged cells at their first place, each cell's span known."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import Table, TableCell
from kaijuan.core.spans import Span
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
    header: bool = False


@dataclass(frozen=True, slots=True)
class Placed:
    """A cell at its place on the grid."""

    row: int
    column: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class PipeTable:
    """A table as text, and its cells with spans in that text."""

    text: str
    table: Table


def lay_out(rows: Sequence[Sequence[Cell]]) -> list[Placed]:
    """Give each cell its place: those after a merged one move aside, as in HTML. Spans are cut to a sane size."""
    placed: list[Placed] = []
    covered: dict[int, int] = {}  # column -> rows still covered by a cell above
    for number, row in enumerate(rows):
        column = 0
        taken = {at for at, left in covered.items() if left > 0}
        fresh: dict[int, int] = {}
        for cell in row:
            while column in taken:
                column += 1
            width = min(max(cell.columns, 1), _SPAN_LIMIT)
            placed.append(Placed(number, column, Cell(cell.text, max(cell.rows, 1), width, cell.header)))
            if cell.rows > 1:
                fresh.update(dict.fromkeys(range(column, column + width), cell.rows - 1))
            column += width
        covered = {at: left - 1 for at, left in covered.items() if left > 1} | fresh
    return placed


def compact(placed: Iterable[Placed]) -> list[Placed]:
    """Leave out cells without text, and rows and columns in which no cell begins that has any."""
    filled = [at for at in placed if at.cell.text.strip()]
    rows = sorted({at.row for at in filled})
    columns = sorted({at.column for at in filled})
    row_of = {row: number for number, row in enumerate(rows)}
    column_of = {column: number for number, column in enumerate(columns)}
    return [
        Placed(
            row_of[at.row],
            column_of[at.column],
            Cell(
                at.cell.text,
                bisect_left(rows, at.row + at.cell.rows) - row_of[at.row],
                bisect_left(columns, at.column + at.cell.columns) - column_of[at.column],
                at.cell.header,
            ),
        )
        for at in filled
    ]


def draw(
    placed: Iterable[Placed], *, hidden_rows: Iterable[int] = (), hidden_columns: Iterable[int] = ()
) -> PipeTable | None:
    """Return the table that cells on a grid make, or None when none has text. Its first row stands above the rule.

    Rows and columns keep their numbers; those without any text are not drawn.
    """
    filled = [Placed(at.row, at.column, _one_line(at.cell)) for at in placed]
    lines: dict[int, dict[int, Placed]] = {}
    for at in filled:
        if at.cell.text:
            lines.setdefault(at.row, {})[at.column] = at
    if not lines:
        return None
    columns = sorted(set().union(*lines.values()))
    # A few cells far apart would be a text of blanks: then each row shows only what it has.
    ragged = len(lines) * len(columns) > _CELL_LIMIT
    writer = _Writer()
    for row in sorted(lines):
        writer.line(lines[row], sorted(lines[row]) if ragged else columns)
        if len(writer.lines) == 1:
            writer.rule(len(lines[row]) if ragged else len(columns))
    table = Table(
        rows=1 + max(lines),
        columns=1 + columns[-1],
        cells=tuple(writer.cells),
        hidden_rows=tuple(row for row in hidden_rows if row <= max(lines)),
        hidden_columns=tuple(column for column in hidden_columns if column <= columns[-1]),
    )
    return PipeTable("\n".join(writer.lines), table)


class _Writer:
    """Writes lines of a pipe table and notes where each cell's words stand."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.cells: list[TableCell] = []
        self._length = 0

    def line(self, line: Mapping[int, Placed], columns: Sequence[int]) -> None:
        parts = ["|"]
        at = self._length + 1
        for column in columns:
            placed = line.get(column)
            text = placed.cell.text if placed else ""
            parts.append(f" {text} |")
            if placed:
                self.cells.append(_cell(placed, Span(at + 1, at + 1 + len(text))))
            at += len(text) + 3
        self._append("".join(parts))

    def rule(self, columns: int) -> None:
        self._append("|" + " --- |" * columns)

    def _append(self, line: str) -> None:
        self.lines.append(line)
        self._length += len(line) + 1


def _cell(placed: Placed, span: Span) -> TableCell:
    cell = placed.cell
    return TableCell(
        row=placed.row, column=placed.column, span=span, rows=cell.rows, columns=cell.columns, header=cell.header
    )


def table_of(rows: Sequence[Sequence[Cell]]) -> PipeTable | None:
    """Return the table whose rows are given as in HTML, empty rows and columns left out; None without any text."""
    return draw(compact(lay_out(rows)))


def pipe_table(rows: Sequence[Sequence[Cell]]) -> str:
    """Return `table_of` as text only, "" when no cell has text."""
    made = table_of(rows)
    return made.text if made else ""


def flatten(table: str) -> str:
    """Return a pipe table as running text, for a table inside a cell of another."""
    return re.sub(r"(?<!\\)\|", " ", _RULE.sub(" ", table))


def words_in(text: str, cell: TableCell) -> str:
    """Return a cell's words as its file has them, without the escapes of the pipe table."""
    return cell.span.of(text).replace("\\|", "|")


def _one_line(cell: Cell) -> Cell:
    return Cell(squeeze(cell.text).replace("|", "\\|"), cell.rows, cell.columns, cell.header)
