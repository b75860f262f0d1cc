"""An HTML tree to typed pieces in reading order. Shared by HTML pages and by Markdown, which is HTML in short."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kaijuan.core.documents import BlockKind
from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.html_tags import BLOCK_TAGS, NEVER_READ
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.pieces import Piece, table_piece
from kaijuan.ingest.parsers.pipes import Cell, flatten, table_of

Element = Any  # lxml has no types of its own

_DEEPEST = 120
"""Nesting beyond this is taken as running text: hand-made towers of tags must not exhaust the stack."""
_BREAK = "\x00"
_SPILLS = frozenset({BlockKind.HEADING, BlockKind.TABLE, BlockKind.CODE, BlockKind.CAPTION, BlockKind.FORMULA})
_ROWS = frozenset({"tr"})
_TABLE_PARTS = {
    "table": frozenset({"caption", "thead", "tbody", "tfoot", "tr"}),
    "thead": _ROWS,
    "tbody": _ROWS,
    "tfoot": _ROWS,
    "tr": frozenset({"td", "th"}),
}
"""What may stand in a table and its parts, and what has a place of its own in the blocks."""
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?|brush|highlight(?:-source)?|sourceCode)[-: ]+(?!text\b|none\b|default\b)([\w+#-]+)", re.I
)


def pieces_of(
    root: Element,
    *,
    dropped: Callable[[Element], bool] = lambda _: False,
    place_of: Callable[[Element], str] = lambda _: "",
) -> list[Piece]:
    """Return the pieces under `root`; `dropped` names elements to leave out with all they hold."""
    return _Walk(dropped, place_of).inside(root, 0)


def path_in(root: Element) -> Callable[[Element], str]:
    """Return what says where in a page an element stands, as a path that browsers understand (XPath)."""
    tree = root.getroottree()
    return lambda node: str(tree.getpath(node))


class _Walk:
    def __init__(self, dropped: Callable[[Element], bool], place_of: Callable[[Element], str]) -> None:
        self._dropped = dropped
        self._place_of = place_of

    def inside(self, node: Element, depth: int) -> list[Piece]:
        out: list[Piece] = []
        inline: list[str] = []
        self._flow(node, depth, out, inline)
        _flush(out, inline)
        return out

    def _flow(self, node: Element, depth: int, out: list[Piece], inline: list[str]) -> None:
        if depth > _DEEPEST:
            inline.extend(_plain(node))
            return
        inline.append(node.text or "")
        for child in node:
            tag = child.tag
            if isinstance(tag, str) and tag not in NEVER_READ and not self._dropped(child):
                if tag in BLOCK_TAGS:
                    _flush(out, inline)
                    out.extend(self._block(child, tag, depth + 1))
                else:
                    self._inline(child, tag, depth + 1, out, inline)
            inline.append(child.tail or "")

    def _inline(self, node: Element, tag: str, depth: int, out: list[Piece], inline: list[str]) -> None:
        if tag == "br":
            inline.append(_BREAK)
        elif tag == "img":
            inline.append(f" {alt_text(node.get('alt') or '')} ")
        elif tag == "math":
            inline.append(_formula(node))
        else:
            self._flow(node, depth, out, inline)

    def _block(self, node: Element, tag: str, depth: int) -> list[Piece]:
        # Lists right inside lists and tables right inside tables come here without any flow between them.
        made = self._shaped(node, tag, depth) if depth <= _DEEPEST else self.inside(node, depth)
        if not any(not piece.place for piece in made):
            return made
        place = self._place_of(node)
        return [piece if piece.place else replace(piece, place=place) for piece in made]

    def _shaped(self, node: Element, tag: str, depth: int) -> list[Piece]:
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            return self._heading(node, int(tag[1]), depth)
        if tag in {"ul", "ol", "menu", "dl"}:
            return self._list(node, tag, depth)
        if tag == "table":
            return self._table(node, depth)
        if tag in {"pre", "listing", "xmp", "plaintext"}:
            return _as_code(node)
        inner = self.inside(node, depth)
        if tag == "figure" and next(node.iter("img"), None) is not None:
            return _as_figure(inner)
        return {"blockquote": _as_quote, "figcaption": _as_caption, "caption": _as_caption}.get(tag, _as_it_is)(inner)

    def _heading(self, node: Element, level: int, depth: int) -> list[Piece]:
        inner = self.inside(node, depth)
        text = squeeze("\n".join(piece.text for piece in inner if piece.kind not in _SPILLS).replace("¶", ""))
        rest = [piece for piece in inner if piece.kind in _SPILLS]
        return ([Piece(BlockKind.HEADING, text, level)] if text else []) + rest

    def _list(self, node: Element, tag: str, depth: int) -> list[Piece]:
        out: list[Piece] = []
        lines: list[str] = []
        number = _start_of(node)
        for item in self._items(node, depth):
            if isinstance(item, list):
                _lines_of(item, "", "", out, lines)
                continue
            marker = {"ol": f"{number}. ", "dl": "" if item.tag == "dt" else "  "}.get(tag, "- ")
            number += item.tag == "li"
            indent = "  " if tag != "dl" or item.tag == "dd" else ""
            _lines_of(self._block_list_item(item, depth), marker, indent, out, lines)
        _spill(out, lines)
        return out

    def _items(self, node: Element, depth: int) -> Iterator[Element | list[Piece]]:
        """Yield the items of a list and, as pieces, the text that stands between them."""
        for part in self._parts(node, depth, lambda child, stray: child.tag in BLOCK_TAGS or not stray):
            if not isinstance(part, list) and part.tag == "div" and node.tag == "dl":
                yield from self._parts(part, depth + 1, lambda child, _: child.tag in {"dt", "dd"})
            else:
                yield part

    def _parts(
        self, node: Element, depth: int, own: Callable[[Element, bool], bool]
    ) -> Iterator[Element | list[Piece]]:
        """Yield the children that are `own` parts of a list or table, and what stands between them as pieces.

        Text has no place there, but browsers show it all the same. `own` is told whether the child stands in the
        middle of such text.
        """
        between: list[Piece] = []
        inline = [node.text or ""]
        for child in node:
            tag = child.tag
            if isinstance(tag, str) and tag not in NEVER_READ and not self._dropped(child):
                if own(child, bool("".join(inline).strip() or (child.tail or "").strip())):
                    _flush(between, inline)
                    if between:
                        yield between
                        between = []
                    yield child
                elif tag in BLOCK_TAGS:
                    _flush(between, inline)
                    between.extend(self._block(child, tag, depth + 1))
                else:
                    self._inline(child, tag, depth + 1, between, inline)
            inline.append(child.tail or "")
        _flush(between, inline)
        if between:
            yield between

    def _block_list_item(self, item: Element, depth: int) -> list[Piece]:
        # A list directly inside a list (no item around it) is common in old pages.
        return self._block(item, item.tag, depth + 1) if item.tag in BLOCK_TAGS else self.inside(item, depth + 1)

    def _table(self, table: Element, depth: int) -> list[Piece]:
        # Browsers show what stands between rows and cells above the table.
        captions = list(self._strays(table, depth))
        rows: list[list[tuple[list[Piece], Element]]] = []
        for part in _rows(table):
            if part.tag == "caption":
                captions.extend(self._block(part, "caption", depth + 1))
                continue
            cells = [cell for cell in part if cell.tag in {"td", "th"} and not self._dropped(cell)]
            rows.append([(self.inside(cell, depth + 1), cell) for cell in cells])
        if _is_layout(table, rows):
            return captions + [piece for row in rows for pieces, _ in row for piece in pieces]
        return captions + table_piece(table_of([[_cell(pieces, cell) for pieces, cell in row] for row in rows]))

    def _strays(self, node: Element, depth: int) -> Iterator[Piece]:
        """Yield what stands in a table but in no cell and no caption."""
        for part in self._parts(node, depth, lambda child, _: child.tag in _TABLE_PARTS[node.tag]):
            if isinstance(part, list):
                yield from part
            elif part.tag in _TABLE_PARTS:
                yield from self._strays(part, depth + 1)


def _lines_of(inner: list[Piece], marker: str, indent: str, out: list[Piece], lines: list[str]) -> None:
    """Add the lines of an item to those of its list; what is no line of a list goes out beside it."""
    for place, piece in enumerate(inner):
        if piece.kind in _SPILLS:
            _spill(out, lines)
            out.append(piece)
            continue
        body = piece.text.split("\n")
        lines.append((marker if place == 0 else indent) + body[0])
        lines.extend(indent + line for line in body[1:])


def _flush(out: list[Piece], inline: list[str]) -> None:
    if inline:
        text = "\n".join(filter(None, map(squeeze, "".join(inline).split(_BREAK))))
        if text:
            out.append(Piece(BlockKind.PARAGRAPH, text))
        inline.clear()


def _spill(out: list[Piece], lines: list[str]) -> None:
    if lines:
        out.append(Piece(BlockKind.LIST, "\n".join(lines)))
        lines.clear()


def _plain(node: Element) -> Iterator[str]:
    skipped: Element | None = None
    for event, element in _events(node):
        if event == "start":
            if skipped is None and (not isinstance(element.tag, str) or element.tag in NEVER_READ):
                skipped = element
            if skipped is None:
                # Text of two blocks must not become one word.
                yield " " if element.tag in BLOCK_TAGS or element.tag == "br" else ""
                yield element.text or ""
        else:
            if element is skipped:
                skipped = None
            if skipped is None and element is not node:
                yield " " if element.tag in BLOCK_TAGS else ""
                yield element.tail or ""


def _events(node: Element) -> Iterator[tuple[str, Element]]:
    from lxml import etree

    yield from etree.iterwalk(node, events=("start", "end"))


def _preformatted(node: Element) -> Iterator[str]:
    """Yield the characters of a `pre`, line breaks included; a first line end is not content (HTML standard)."""
    for event, element in _events(node):
        if event == "start" and isinstance(element.tag, str):
            if element.tag == "br":
                yield "\n"
            yield element.text or ""
        elif event == "end" and element is not node:
            yield element.tail or ""


def _formula(node: Element) -> str:
    for note in node.iter("annotation"):
        if "tex" in (note.get("encoding") or "").lower() and note.text:
            return f" ${note.text.strip()}$ "
    return " " + squeeze("".join(node.itertext())) + " "


def _as_code(node: Element) -> list[Piece]:
    text = "".join(_preformatted(node))
    if not text.strip():
        return []
    if node.get("class") == "math":
        return [Piece(BlockKind.FORMULA, text, syntax="latex")]
    return [Piece(BlockKind.CODE, text, syntax=_language(node))]


def _language(node: Element) -> str:
    """Return the language that a highlighter's class names, on the element, on what it holds or on what holds it."""
    inner = next(node.iter("code"), None)
    outer = node.getparent()
    above = outer.getparent() if outer is not None else None
    for at in (node, inner, outer, above):
        if at is not None and (found := _LANGUAGE.search(at.get("class") or "")):
            return found[1].lower()
    return ""


def _as_it_is(inner: list[Piece]) -> list[Piece]:
    return inner


def _as_caption(inner: list[Piece]) -> list[Piece]:
    return [replace(piece, kind=BlockKind.CAPTION) if piece.kind is BlockKind.PARAGRAPH else piece for piece in inner]


def _as_figure(inner: list[Piece]) -> list[Piece]:
    return [replace(piece, kind=BlockKind.FIGURE) if piece.kind is BlockKind.PARAGRAPH else piece for piece in inner]


def _as_quote(inner: list[Piece]) -> list[Piece]:
    if any(piece.kind in _SPILLS for piece in inner):
        return [replace(piece, kind=BlockKind.QUOTE) if piece.kind is BlockKind.PARAGRAPH else piece for piece in inner]
    text = "\n".join(piece.text for piece in inner)
    return [Piece(BlockKind.QUOTE, text)] if text else []


def _start_of(node: Element) -> int:
    try:
        return int(node.get("start", "1"))
    except ValueError:
        return 1


def _rows(table: Element) -> Iterator[Element]:
    """Yield the table's own caption and rows, header groups first and footer groups last as they are shown."""
    groups = [child for child in table if isinstance(child.tag, str)]
    order = {"caption": 0, "thead": 1, "tfoot": 3}
    for child in sorted(groups, key=lambda child: order.get(child.tag, 2)):
        if child.tag in {"caption", "tr"}:
            yield child
        elif child.tag in {"thead", "tbody", "tfoot"}:
            yield from (row for row in child if row.tag == "tr")


def _is_layout(table: Element, rows: list[list[tuple[list[Piece], Element]]]) -> bool:
    """Say whether a table only arranges the page: headings or tables in cells without a header, or one column."""
    if table.get("role") in {"presentation", "none"}:
        return True
    cells = [pair for row in rows for pair in row]
    if max((len(row) for row in rows), default=0) <= 1:
        return True
    if any(cell.tag == "th" for _, cell in cells):
        return False
    structure = {BlockKind.HEADING, BlockKind.TABLE, BlockKind.CODE}
    return any(piece.kind in structure for pieces, _ in cells for piece in pieces)


def _cell(pieces: list[Piece], cell: Element) -> Cell:
    texts = [flatten(piece.text) if piece.kind is BlockKind.TABLE else piece.text for piece in pieces]
    group = cell.getparent().getparent()
    header = cell.tag == "th" or (group is not None and group.tag == "thead")
    return Cell("\n".join(texts), _reach(cell, "rowspan"), _reach(cell, "colspan"), header)


def _reach(cell: Element, name: str) -> int:
    try:
        return max(1, min(int(cell.get(name, "1")), 1000))
    except ValueError:
        return 1
