"""reStructuredText through docutils. Nothing outside the file is read, and no raw HTML is let through."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.pieces import Piece, table_piece, write_pieces
from kaijuan.ingest.parsers.pipes import Cell, flatten, table_of

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "halt_level": 6,
    "report_level": 5,
    "doctitle_xform": True,
    "docinfo_xform": True,
    "smart_quotes": False,
    "syntax_highlight": "none",
    "line_length_limit": 1_000_000,
}
_NEVER = frozenset({"comment", "substitution_definition", "system_message", "target", "pending", "raw", "index"})
_LISTS = frozenset({"bullet_list", "enumerated_list", "definition_list", "field_list", "option_list"})
_QUOTES = frozenset({"block_quote", "epigraph", "pull-quote", "highlights"})
_DOCINFO = {"author": "author", "organization": "issuer", "version": "version", "date": "published"}
_DEEPEST = 100


class RstParser:
    """Parser of kind "rst"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return sections, paragraphs, lists, tables, code and figures, each with a line at or near its beginning."""
        decoded = decode(data)
        if not decoded.text.strip():
            raise EmptyDocumentError(f"{name} is empty.")
        walk = _Walk()
        walk.write(_tree(decoded.text, name), level=0)
        draft = Draft()
        write_pieces(draft, walk.pieces)
        return draft.finish("rst", name, title=walk.title, metadata=walk.metadata, warnings=decoded.warnings)


def _tree(text: str, name: str) -> Any:
    from docutils.core import publish_doctree

    try:
        return publish_doctree(text, settings_overrides=_SETTINGS | {"warning_stream": io.StringIO()})
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError, NotImplementedError) as error:
        raise BrokenDocumentError(f"{name} is no reStructuredText that can be read: {error}.") from error


class _Walk:
    """Goes through a document tree; what is no block of its own is text of one."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.title = ""
        self.metadata: dict[str, Scalar | tuple[str, ...]] = {}

    def write(self, node: Any, level: int, depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise BrokenDocumentError("The lists or quotes are nested too deeply to be read whole.")
        for child in node.children:
            tag = child.tagname
            if tag in _NEVER:
                continue
            if tag == "section":
                self.write(child, level + 1, depth + 1)
            elif tag in {"title", "subtitle"}:
                self._title(node, child, level)
            elif tag == "docinfo":
                self._docinfo(child)
            else:
                self.pieces.extend(self._shaped(child, level, depth + 1))

    def _title(self, node: Any, child: Any, level: int) -> None:
        text = squeeze(child.astext())
        if node.tagname == "document" and child.tagname == "title":
            self.title = text
        # The title of a note or sidebar is no section.
        kind = BlockKind.HEADING if node.tagname in {"document", "section"} else BlockKind.PARAGRAPH
        at = max(level, 1) + (bool(self.title) and node.tagname == "section") + (child.tagname == "subtitle")
        self.pieces.append(Piece(kind, text, at if kind is BlockKind.HEADING else 0, place=_place(child)))

    def _docinfo(self, info: Any) -> None:
        for field in info.children:
            if field.tagname == "field":
                key, value = field.children[0].astext().strip(), field.children[1].astext()
                self.metadata.setdefault(_DOCINFO.get(key.lower(), key), squeeze(value))
            elif field.tagname == "authors":
                self.metadata["author"] = tuple(squeeze(author.astext()) for author in field.children)
            elif text := squeeze(field.astext()):
                self.metadata.setdefault(_DOCINFO.get(field.tagname, field.tagname), text)

    def _shaped(self, node: Any, level: int, depth: int) -> list[Piece]:
        tag = node.tagname
        if tag in _LISTS:
            return self._list(node, level, depth)
        if tag == "table":
            return self._table(node, level, depth)
        if tag in _LEAVES:
            return _LEAVES[tag](node)
        inner = self._inside(node, level, depth)
        return [
            replace(p, kind=BlockKind.QUOTE) if tag in _QUOTES and p.kind is BlockKind.PARAGRAPH else p for p in inner
        ]

    def _inside(self, node: Any, level: int, depth: int) -> list[Piece]:
        inner = _Walk()
        inner.write(node, level, depth)
        return inner.pieces

    def _list(self, node: Any, level: int, depth: int) -> list[Piece]:
        out: list[Piece] = []
        lines: list[str] = []
        start = node.get("start", 1)
        for number, item in enumerate(node.children, start):
            marker = f"{number}. " if node.tagname == "enumerated_list" else "- "
            if node.tagname in {"definition_list", "field_list", "option_list"}:
                marker = ""
            first = True
            for piece in self._item(item, level, depth):
                if piece.kind in {BlockKind.PARAGRAPH, BlockKind.LIST}:
                    body = piece.text.split("\n")
                    lines.append((marker if first else "  ") + body[0])
                    lines.extend("  " + line for line in body[1:])
                else:
                    out.extend(_listed(lines, node))
                    out.append(piece)
                first = False
        return out + _listed(lines, node)

    def _item(self, item: Any, level: int, depth: int) -> list[Piece]:
        if item.tagname not in {"definition_list_item", "field", "option_list_item"}:
            return self._inside(item, level, depth)
        head = squeeze(" ".join(child.astext() for child in item.children[:-1]))
        mark = ":" if item.tagname == "field" else ""
        return [Piece(BlockKind.PARAGRAPH, head + mark), *self._inside(item.children[-1], level, depth)]

    def _table(self, node: Any, level: int, depth: int) -> list[Piece]:
        captions = [Piece(BlockKind.CAPTION, squeeze(child.astext())) for child in _named(node, "title")]
        rows = [
            [self._cell(entry, level, depth, header=part.tagname == "thead") for entry in row.children]
            for group in _named(node, "tgroup")
            for part in _named(group, "thead", "tbody")
            for row in part.children
        ]
        return captions + table_piece(table_of(rows), place=_place(node))

    def _cell(self, entry: Any, level: int, depth: int, *, header: bool) -> Cell:
        pieces = self._inside(entry, level, depth)
        text = "\n".join(flatten(piece.text) if piece.table else piece.text for piece in pieces)
        return Cell(text, entry.get("morerows", 0) + 1, entry.get("morecols", 0) + 1, header)


def _listed(lines: list[str], node: Any) -> list[Piece]:
    text = "\n".join(lines)
    lines.clear()
    return [Piece(BlockKind.LIST, text, place=_place(node))] if text.strip() else []


def _lines(block: Any) -> list[str]:
    out = []
    for child in block.children:
        out.extend(_lines(child) if child.tagname == "line_block" else [squeeze(child.astext())])
    return out


def _figure(node: Any) -> list[Piece]:
    images = [node] if node.tagname == "image" else list(node.findall(lambda at: at.tagname == "image"))
    pieces = [Piece(BlockKind.FIGURE, alt_text(image.get("alt", "")), place=_place(node)) for image in images]
    captions = _named(node, "caption", "legend")
    return pieces + [Piece(BlockKind.CAPTION, squeeze(child.astext()), place=_place(node)) for child in captions]


def _code(node: Any) -> list[Piece]:
    language = next((name for name in node.get("classes", ()) if name not in {"code", "literal-block"}), "")
    syntax = language or ("python" if node.tagname == "doctest_block" else "")
    return [Piece(BlockKind.CODE, node.astext(), place=_place(node), syntax=syntax)]


def _formula(node: Any) -> list[Piece]:
    return [Piece(BlockKind.FORMULA, f"$${node.astext()}$$", place=_place(node), syntax="latex")]


def _text(node: Any) -> list[Piece]:
    kind = BlockKind.FOOTNOTE if node.tagname == "footnote" else BlockKind.PARAGRAPH
    text = "\n".join(_lines(node)) if node.tagname == "line_block" else squeeze(node.astext())
    return [Piece(kind, text, place=_place(node))]


def _named(node: Any, *names: str) -> list[Any]:
    return [child for child in node.children if child.tagname in names]


def _place(node: Any) -> str:
    while node is not None:
        if node.line:
            # Of a title the line below it is noted, with which it was recognised.
            return f"line {max(1, node.line - (node.tagname in {'title', 'subtitle'}))}"
        node = node.parent
    return ""


_LEAVES: dict[str, Callable[[Any], list[Piece]]] = {
    "literal_block": _code,
    "doctest_block": _code,
    "math_block": _formula,
    "image": _figure,
    "figure": _figure,
    "paragraph": _text,
    "line_block": _text,
    "rubric": _text,
    "attribution": _text,
    "footnote": _text,
}
"""Elements that hold no other blocks."""
