"""Tables of Word: cells at their places on the grid, merged ones, header rows; frames told from tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.docx_numbering import BULLET, Numbering, W
from kaijuan.ingest.parsers.docx_styles import Styles
from kaijuan.ingest.parsers.docx_text import words_of
from kaijuan.ingest.parsers.joining import is_wide
from kaijuan.ingest.parsers.opc import number_of
from kaijuan.ingest.parsers.pipes import Cell, PipeTable, Placed, compact, draw, flatten
from kaijuan.ingest.parsers.sheet_regions import Region, header_rows
from kaijuan.ingest.parsers.sheets import SheetCell

_DEEPEST = 40
_THROUGH = frozenset({f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}moveTo", f"{W}smartTag", f"{W}customXml"})
_MOST_COLUMNS = 1_000


@dataclass(frozen=True, slots=True)
class _Place:
    """A cell as Word keeps it; `covered` where a cell above reaches into it."""

    row: int
    column: int
    columns: int
    node: Any
    covered: bool


@dataclass(frozen=True, slots=True)
class CellReader:
    """Reads the words of cells; numbers of lists go on through them."""

    styles: Styles
    numbering: Numbering

    def text(self, cell: Any, depth: int) -> str:
        """Return a cell's words, a line each paragraph; a table inside becomes running text."""
        return "\n".join(self._lines(cell, depth))

    def _lines(self, cell: Any, depth: int) -> Iterator[str]:
        for node in content(cell):
            if node.tag == f"{W}p":
                shape = self.styles.shape_of(node)
                words = words_of(node)
                label = self.numbering.label(shape.number, shape.depth) if shape.number and words.text else ""
                yield labelled(label, words.text)
                for box in words.boxes:
                    yield from self._lines(box, below(depth))
                yield from words.pictures
            else:
                made = Table(node).drawn(self, below(depth))
                yield flatten(made.text) if made else ""


class Table:
    """One `w:tbl`."""

    def __init__(self, node: Any) -> None:
        self._rows = list(_through(node, f"{W}tr"))
        self._places = [place for at, row in enumerate(self._rows) for place in _places(at, row)]

    @property
    def is_frame(self) -> bool:
        """Whether there is one column only."""
        counts: dict[int, int] = {}
        for place in self._places:
            counts[place.row] = counts.get(place.row, 0) + 1
        return max(counts.values(), default=0) <= 1

    def contents(self) -> Iterator[Any]:
        """Yield the cells in order."""
        yield from (place.node for place in self._places)

    def drawn(self, reader: CellReader, depth: int) -> PipeTable | None:
        """Return the table, None when no cell has words."""
        texts = {
            (place.row, place.column): reader.text(place.node, depth) for place in self._places if not place.covered
        }
        placed = compact(
            Placed(place.row, place.column, Cell(texts[place.row, place.column], self._down(place), place.columns))
            for place in self._places
            if not place.covered
        )
        headers = self._headers(placed)
        return draw(
            Placed(at.row, at.column, Cell(at.cell.text, at.cell.rows, at.cell.columns, at.row < headers))
            for at in placed
        )

    def _down(self, place: _Place) -> int:
        down = 1
        for other in self._places:
            if other.row == place.row + down and other.column == place.column and other.covered:
                down += 1
        return down

    def _headers(self, placed: list[Placed]) -> int:
        """Return the rows at the top that repeat on every page, else those that look like headers."""
        marked = 0
        for row in self._rows:
            node = row.find(f"{W}trPr/{W}tblHeader")
            if node is None or node.get(f"{W}val") in {"0", "false"}:
                break
            marked += 1
        if marked or not placed:
            return marked
        rows: dict[int, dict[int, SheetCell]] = {}
        for at in placed:
            text = at.cell.text.strip()
            number = text.replace(",", "").replace(".", "").strip("+-%¥￥$€() ").isdigit()
            rows.setdefault(at.row, {})[at.column] = SheetCell(text, number)
        merges = [
            (at.row, at.column, at.row + at.cell.rows - 1, at.column + at.cell.columns - 1)
            for at in placed
            if at.cell.rows > 1 or at.cell.columns > 1
        ]
        right = max(at.column + at.cell.columns for at in placed) - 1
        return header_rows(rows, Region(0, 0, max(rows), right), merges)


def _places(at: int, row: Any) -> Iterator[_Place]:
    column = _number(row.find(f"{W}trPr/{W}gridBefore"))
    for cell in _through(row, f"{W}tc"):
        own = cell.find(f"{W}tcPr")
        merge = own.find(f"{W}vMerge") if own is not None else None
        covered = merge is not None and (merge.get(f"{W}val") or "continue") == "continue"
        columns = max(1, _number(own.find(f"{W}gridSpan") if own is not None else None, 1))
        yield _Place(at, column, columns, cell, covered and at > 0)
        column += columns


def _number(node: Any | None, default: int = 0) -> int:
    return default if node is None else min(max(0, number_of(node.get(f"{W}val"), default)), _MOST_COLUMNS)


def _through(node: Any, tag: str) -> Iterator[Any]:
    for part in node:
        if part.tag == tag:
            yield part
        elif part.tag in _THROUGH:
            yield from _through(part, tag)


def content(body: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in order, through content controls and accepted changes."""
    for node in body:
        if node.tag in {f"{W}p", f"{W}tbl"}:
            yield node
        elif node.tag in _THROUGH:
            yield from content(node)


def below(depth: int) -> int:
    """Return the depth inside a table or text box; what is nested too deeply is refused, never left out."""
    if depth >= _DEEPEST:
        raise BrokenDocumentError("The tables or text boxes are nested too deeply to be read whole.")
    return depth + 1


def labelled(label: str, text: str) -> str:
    """Return a paragraph behind its number; after Chinese marks (一、) no blank stands."""
    if not label or not text:
        return text
    if label == BULLET or not is_wide(label[-1]) or label[-1] not in "、．）】」：":
        return f"{label} {text}"
    return label + text
