"""Text of OpenDocument files: headings with their numbers, nested lists, tables, frames, notes, formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.documents import BlockKind
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.odf_styles import BULLET, Styles, children_all
from kaijuan.ingest.parsers.opc import Element, child, children, descendants, local, number_of, value_of
from kaijuan.ingest.parsers.pieces import Piece, table_piece
from kaijuan.ingest.parsers.pipes import Cell, Placed, draw, flatten

_BLANKS = re.compile(r"[^\S\n\u3000]+")
_DEEPEST = 40
_MOST_REPEATS = 200
_GONE = frozenset(
    {"annotation", "annotation-end", "tracked-changes", "bookmark", "sequence-decls", "forms", "event-listeners"}
)
_INDEXES = frozenset({"table-of-content", "alphabetical-index", "illustration-index", "table-index", "object-index"})
_SHAPES = frozenset({"frame", "custom-shape", "g", "rect", "ellipse", "text-box", "image", "object"})
_CODE = ("preformatted text", "source", "code")
_QUOTES = ("quotations", "quote")
_CAPTIONS = ("caption", "illustration", "figure", "drawing", "题注")
_TITLES = ("title", "标题", "document title")


class Reader:
    """Reads text from top to bottom; numbers of headings and lists go on where they left off."""

    def __init__(self, styles: Styles, *, numbered: bool = True) -> None:
        self._styles = styles
        self._numbered = numbered
        self._paragraph = 0
        self._outline: list[int] = []
        self._counts: dict[str, dict[int, int]] = {}
        self.title = ""

    def blocks(self, node: Element, depth: int = 0) -> Iterator[Piece]:
        """Yield the blocks inside an element."""
        if depth > _DEEPEST:
            raise BrokenDocumentError("The lists, tables or frames are nested too deeply to be read whole.")
        code: list[str] = []
        for part in node:
            name = local(part)
            if name == "p" and self._is(part, _CODE):
                code.append(self._lines(part).text)
                continue
            if code:
                yield Piece(BlockKind.CODE, "\n".join(code), place=self._place())
                code = []
            yield from self._block(part, name, depth)
        if code:
            yield Piece(BlockKind.CODE, "\n".join(code), place=self._place())

    def _block(self, part: Element, name: str, depth: int) -> Iterator[Piece]:
        if not name or name in _GONE or name in _INDEXES:
            return
        if name in {"p", "h"}:
            yield from self._text(part, name, depth)
        elif name == "list":
            yield from self._list(part, depth)
        elif name == "table":
            yield from self._table(part, depth)
        elif name in _SHAPES:
            yield from self.shape(part, depth)
        else:
            yield from self.blocks(part, depth + 1)

    def shape(self, shape: Element, depth: int = 0) -> Iterator[Piece]:
        """Yield what is in a frame or drawn shape: text, tables, and pictures by their description."""
        if depth > _DEEPEST:
            raise BrokenDocumentError("The frames are nested too deeply to be read whole.")
        said = next(
            (value for at in shape if local(at) in {"desc", "title"} if (value := alt_text("".join(at.itertext())))), ""
        )
        picture = next((value_of(at, "href") for at in children(shape, "image")), "").removeprefix("./")
        if said or picture:
            yield Piece(BlockKind.FIGURE, said, place=self._place(), picture=picture)
        for part in shape:
            name = local(part)
            if name == "object":
                yield from self._formula(part)
            elif name not in {"desc", "title", "image", "enhanced-geometry", "glue-point", "thumbnail"}:
                yield from self._block(part, name, depth + 1)

    def _formula(self, node: Element) -> Iterator[Piece]:
        note = next((at for at in descendants(node, "annotation") if (at.text or "").strip()), None)
        if note is not None:
            yield Piece(BlockKind.FORMULA, (note.text or "").strip(), place=self._place())

    def _place(self) -> str:
        return f"para {self._paragraph}" if self._numbered else ""

    def _is(self, node: Element, names: tuple[str, ...]) -> bool:
        return any(shown in names for shown in self._styles.names(value_of(node, "style-name")))

    def _text(self, part: Element, name: str, depth: int) -> Iterator[Piece]:
        self._paragraph += 1
        words = self._lines(part)
        place = self._place()
        level = number_of(value_of(part, "outline-level"), 1) if name == "h" else 0
        if level and words.text:
            number = self._heading_number(part, level)
            yield Piece(BlockKind.HEADING, f"{number} {words.text}".strip(), level, place=place)
        elif words.text and self._is(part, _TITLES):
            self.title = self.title or words.text
            yield Piece(BlockKind.HEADING, words.text, 1, place=place)
        elif words.text:
            yield Piece(*self._kind(part, words.text), place=place)
        for note in words.notes:
            yield Piece(BlockKind.FOOTNOTE, note, place=place)
        for shape in words.shapes:
            yield from self.shape(shape, depth + 1)

    def _kind(self, part: Element, text: str) -> tuple[BlockKind, str, int]:
        if self._is(part, _QUOTES):
            return BlockKind.QUOTE, text, 0
        if self._is(part, _CAPTIONS):
            return BlockKind.CAPTION, text, 0
        level = numbered_level(text) if self._numbered else 0
        return (BlockKind.HEADING, text, level) if level else (BlockKind.PARAGRAPH, text, 0)

    def _heading_number(self, part: Element, level: int) -> str:
        if value_of(part, "is-list-header") == "true":
            return ""
        del self._outline[level:]
        self._outline.extend([0] * (level - len(self._outline)))
        self._outline[-1] += 1
        return self._styles.outline(level, [max(1, count) for count in self._outline])

    def _lines(self, part: Element) -> Words:
        words = Words()
        parts: list[str] = []
        _read(part, words, parts, 0)
        lines = (_BLANKS.sub(" ", line).strip() for line in "".join(parts).split("\n"))
        words.text = "\n".join(lines).strip()
        return words

    def _list(self, node: Element, depth: int) -> Iterator[Piece]:
        """Yield a list as one block; tables and frames in its items stand beside it."""
        place = f"para {self._paragraph + 1}" if self._numbered else ""
        lines: list[str] = []
        for piece in self._items(node, value_of(node, "style-name"), 1, depth):
            if isinstance(piece, str):
                lines.append(piece)
                continue
            if lines:
                yield Piece(BlockKind.LIST, "\n".join(lines), place=place)
                lines = []
            yield piece
        if lines:
            yield Piece(BlockKind.LIST, "\n".join(lines), place=place)

    def _items(self, node: Element, style: str, level: int, depth: int) -> Iterator[str | Piece]:
        if depth > _DEEPEST:
            raise BrokenDocumentError("The lists are nested too deeply to be read whole.")
        counts = self._counts.setdefault(style, {})
        if value_of(node, "continue-numbering") != "true" and not value_of(node, "continue-list"):
            counts[level] = self._styles.start(style, level) - 1
        for item in node:
            if local(item) not in {"list-item", "list-header"}:
                continue
            if local(item) == "list-item":
                counts[level] = number_of(value_of(item, "start-value"), counts.get(level, 0) + 1)
            yield from self._item(item, style, level, depth)

    def _item(self, item: Element, style: str, level: int, depth: int) -> Iterator[str | Piece]:
        first = local(item) == "list-item"
        for part in item:
            name = local(part)
            if name == "list":
                yield from self._items(part, value_of(part, "style-name") or style, level + 1, depth + 1)
            elif name == "p":
                yield from self._item_text(part, style, level, depth, first=first)
                first = False
            elif name == "h":
                yield from self._text(part, name, depth)
            else:
                yield from self._block(part, name, depth + 1)

    def _item_text(self, part: Element, style: str, level: int, depth: int, *, first: bool) -> Iterator[str | Piece]:
        self._paragraph += 1
        words = self._lines(part)
        own = style or self._styles.list_of(value_of(part, "style-name"))
        counts = self._counts[style]
        marker = self._styles.marker(own, level, [max(1, counts.get(at, 1)) for at in range(1, level + 1)])
        if words.text and not marker:
            yield Piece(BlockKind.PARAGRAPH, words.text, place=self._place())
        elif words.text:
            lead = "  " * (level - 1) + (f"{marker} " if first else "  ")
            yield lead + words.text.replace("\n", "\n" + "  " * level)
        yield from (Piece(BlockKind.FOOTNOTE, note, place=self._place()) for note in words.notes)
        for shape in words.shapes:
            yield from self.shape(shape, depth + 1)

    def _table(self, table: Element, depth: int) -> Iterator[Piece]:
        place = f"table after para {self._paragraph}" if self._numbered else ""
        placed = list(self._placed(table, depth))
        if placed and max(at.column + at.cell.columns for at in placed) == 1:
            # One column is a frame around text, not a table.
            yield from self._frames(table, depth)
            return
        yield from table_piece(draw(placed), place=place)

    def _frames(self, table: Element, depth: int) -> Iterator[Piece]:
        for row in descendants(table, "table-row"):
            for cell in children(row, "table-cell"):
                yield from self.blocks(cell, depth + 1)

    def _placed(self, table: Element, depth: int) -> Iterator[Placed]:
        headed = value_of(table, "use-first-row-styles") == "true"
        for number, (row, marked) in enumerate(_rows(table, header=False)):
            header = marked or (headed and number == 0)
            column = 0
            for cell in children_all(row):
                repeats = min(max(1, number_of(value_of(cell, "number-columns-repeated"), 1)), _MOST_REPEATS)
                if local(cell) == "table-cell":
                    text = self._cell_text(cell, depth)
                    rows = max(1, number_of(value_of(cell, "number-rows-spanned"), 1))
                    columns = max(1, number_of(value_of(cell, "number-columns-spanned"), 1))
                    for at in range(repeats):
                        yield Placed(number, column + at, Cell(text, rows, columns, header))
                column += repeats

    def _cell_text(self, cell: Element, depth: int) -> str:
        saved = self._paragraph
        pieces = list(self.blocks(cell, depth + 1))
        self._paragraph = saved
        if len(pieces) == 1 and pieces[0].kind is BlockKind.LIST and "\n" not in pieces[0].text:
            # Slides keep every cell as a list of one.
            return pieces[0].text.removeprefix(f"{BULLET} ")
        return "\n".join(flatten(piece.text) if piece.table else piece.text for piece in pieces if piece.text)


def _rows(node: Element, *, header: bool) -> Iterator[tuple[Element, bool]]:
    for part in node:
        name = local(part)
        if name == "table-row":
            for _ in range(min(max(1, number_of(value_of(part, "number-rows-repeated"), 1)), _MOST_REPEATS)):
                yield part, header
        elif name in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(part, header=header or name == "table-header-rows")


class Words:
    """A paragraph's text and what hangs on it."""

    def __init__(self) -> None:
        self.text = ""
        self.notes: list[str] = []
        self.shapes: list[Element] = []


def _read(node: Element, words: Words, parts: list[str], depth: int) -> None:
    parts.append(node.text or "")
    for part in node:
        name = local(part)
        if name == "s":
            parts.append(" ")
        elif name in {"tab", "line-break"}:
            parts.append("\n" if name == "line-break" else " ")
        elif name == "note":
            body = child(part, "note-body")
            lines = ("".join(at.itertext()) for at in (body if body is not None else ()))
            words.notes.append(" ".join(" ".join(line.split()) for line in lines))
        elif name == "ruby":
            base = child(part, "ruby-base")
            parts.append("".join(base.itertext()) if base is not None else "")
        elif name in _SHAPES:
            words.shapes.append(part)
        elif name not in _GONE and name and depth < _DEEPEST:
            _read(part, words, parts, depth + 1)
        parts.append(part.tail or "")
