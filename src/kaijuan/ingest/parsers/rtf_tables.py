"""Tables of RTF: each row defines its own cells; their edges on the page tell which columns they cover."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kaijuan.ingest.parsers.pipes import Cell, Placed


@dataclass(slots=True)
class _Definition:
    edge: int
    joins_left: bool = False
    joins_up: bool = False


@dataclass(slots=True)
class Row:
    """A row while it is read."""

    cells: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    """Paragraphs of the cell that is open."""
    header: bool = False
    definitions: list[_Definition] = field(default_factory=list)
    _joins_left: bool = False
    _joins_up: bool = False

    def define(self, name: str, number: int) -> None:
        """Take one word of the row's definition."""
        if name == "trowd":
            self.definitions = []
            self.header = False
        elif name == "trhdr":
            self.header = True
        elif name == "clmrg":
            self._joins_left = True
        elif name == "clvmrg":
            self._joins_up = True
        elif name == "cellx":
            self.definitions.append(_Definition(number, self._joins_left, self._joins_up))
            self._joins_left = self._joins_up = False

    def add(self, text: str) -> None:
        """Add a paragraph to the open cell."""
        if text:
            self.words.append(text)

    def close_cell(self) -> None:
        """End the open cell."""
        self.cells.append("\n".join(self.words))
        self.words = []

    def following(self) -> Row:
        """Return the next row, which has the same definition until it gives its own."""
        return Row(definitions=self.definitions, header=False)


def placed_cells(rows: Sequence[Row]) -> Iterator[Placed]:
    """Yield the cells of a table at their places; the edges of all rows make the columns."""
    edges = sorted({one.edge for row in rows for one in row.definitions[: len(row.cells)]})
    for at, row in enumerate(rows):
        column = 0
        for number, text in enumerate(row.cells):
            one = row.definitions[number] if number < len(row.definitions) else None
            end = bisect_left(edges, one.edge) + 1 if one else column + 1
            end = max(end, column + 1)
            across = _reach_right(row, number, end, edges)
            if not (one and (one.joins_left or one.joins_up)) or text.strip():
                down = _reach_down(rows, at, one.edge if one else None)
                yield Placed(at, column, Cell(text, down, across - column, row.header))
            column = end


def _reach_right(row: Row, number: int, end: int, edges: Sequence[int]) -> int:
    for one in row.definitions[number + 1 : len(row.cells)]:
        if not one.joins_left:
            break
        end = max(end, bisect_left(edges, one.edge) + 1)
    return end


def _reach_down(rows: Sequence[Row], at: int, edge: int | None) -> int:
    down = 1
    for row in rows[at + 1 :]:
        below = next((one for one in row.definitions if one.edge == edge), None)
        if below is None or not below.joins_up:
            break
        down += 1
    return down
