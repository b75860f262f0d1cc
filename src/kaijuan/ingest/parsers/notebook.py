"""Jupyter notebooks: text cells as Markdown, code cells with their language, printed results below them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.html_blocks import pieces_of
from kaijuan.ingest.parsers.html_tree import tree_of
from kaijuan.ingest.parsers.json_text import loaded
from kaijuan.ingest.parsers.markdown import markdown_pieces
from kaijuan.ingest.parsers.pieces import Piece, write_pieces

_LONGEST_OUTPUT = 20_000
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NotebookParser:
    """Parser of kind "ipynb"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the cells in order; pictures and widgets among the results are left out."""
        decoded = decode(data)
        book = loaded(decoded.text, name)
        cells = _cells(book)
        if cells is None:
            raise BrokenDocumentError(f"{name} is no notebook: it has no list of cells.")
        metadata = book.get("metadata") if isinstance(book.get("metadata"), dict) else {}
        language = _language(metadata)
        draft = Draft()
        for number, cell in enumerate(cells, 1):
            if isinstance(cell, dict):
                write_pieces(draft, _pieces(cell, language), within=f"cell {number}")
        said: dict[str, Scalar | tuple[str, ...]] = {"programming_language": language} if language else {}
        authors = [author.get("name", "") for author in _list(metadata.get("authors")) if isinstance(author, dict)]
        if names := tuple(author for author in authors if isinstance(author, str) and author):
            said["author"] = names
        title = metadata.get("title")
        try:
            return draft.finish(
                "ipynb", name, title=title if isinstance(title, str) else "", metadata=said, warnings=decoded.warnings
            )
        except EmptyDocumentError as error:
            raise EmptyDocumentError(f"{name} has no cell with content.") from error


def _cells(book: Any) -> list[Any] | None:
    if not isinstance(book, dict):
        return None
    cells = book.get("cells")
    if isinstance(cells, list):
        return cells
    # Before version 4 cells stood in worksheets.
    sheets = book.get("worksheets")
    if not isinstance(sheets, list):
        return None
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells"))]


def _language(metadata: Any) -> str:
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key)
        if isinstance(part, dict) and isinstance(part.get(field), str):
            return str(part[field]).lower()
    return ""


def _pieces(cell: dict[str, Any], language: str) -> Iterator[Piece]:
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input")))
    if kind == "heading":  # of version 3
        level = cell.get("level")
        yield Piece(BlockKind.HEADING, source, level if isinstance(level, int) and level > 0 else 1)
    elif kind == "markdown":
        yield from markdown_pieces(source)
    elif kind == "code":
        own = cell.get("language")
        yield Piece(BlockKind.CODE, source, syntax=own if isinstance(own, str) else language)
        for output in _list(cell.get("outputs")):
            if isinstance(output, dict):
                yield from _result(output)
    else:
        yield Piece(BlockKind.PARAGRAPH, source)


def _result(output: dict[str, Any]) -> Iterator[Piece]:
    data = output.get("data")
    data = data if isinstance(data, dict) else output
    page = _text(data.get("text/html"))
    if "<table" in page[:_LONGEST_OUTPUT]:
        # Tables of data frames; other HTML is mostly widgets.
        yield from (piece for piece in pieces_of(tree_of(page)) if piece.kind is BlockKind.TABLE)
    elif markdown := _text(data.get("text/markdown")):
        yield from markdown_pieces(markdown)
    else:
        shown = _text(data.get("text/plain")) or _text(output.get("text"))
        if output.get("output_type") in ("error", "pyerr"):
            shown = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
        yield Piece(BlockKind.CODE, _COLOUR.sub("", shown)[:_LONGEST_OUTPUT])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""
