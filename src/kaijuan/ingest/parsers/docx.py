"""Word documents: body in order, headings, lists with their numbers, tables, footnotes, text boxes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from lxml import etree

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.docx_numbering import BULLET, Numbering, W
from kaijuan.ingest.parsers.docx_styles import Shape, Styles
from kaijuan.ingest.parsers.docx_text import Words, words_of
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.joining import is_wide
from kaijuan.ingest.parsers.packages import check_package
from kaijuan.ingest.parsers.pipes import Cell, flatten, pipe_table

_LONG_ITEM = 120
"""A numbered paragraph longer than this is a clause of a contract, not an item of a list."""
_DEEPEST = 40
_THROUGH = frozenset({f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}moveTo", f"{W}smartTag", f"{W}customXml"})
_ROLE_KINDS = {"caption": BlockKind.CAPTION, "quote": BlockKind.QUOTE, "code": BlockKind.CODE}


class DocxParser:
    """Parser of kind "docx". Page headers and footers, comments, deleted text and tables of contents are left out."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the document's blocks; core properties become metadata."""
        check_package(data, name)
        parts, properties = _open(data, name)
        body = parts["document"].find(f"{W}body")
        if body is None:
            raise BrokenDocumentError(f"{name} has no body.")
        writer = _Writer(parts)
        writer.write(body)
        title = writer.title or str(properties.pop("title", ""))
        return writer.draft.finish("docx", name, title=title, metadata=properties)


def _open(data: bytes, name: str) -> tuple[dict[str, Any], dict[str, Scalar | tuple[str, ...]]]:
    """Return the roots of the parts that matter, by role, and the core properties."""
    from docx.opc.exceptions import OpcError
    from docx.package import Package

    try:
        package = Package.open(io.BytesIO(data))
        main = package.main_document_part
        parts = {"document": _root(main)}
        for relation in main.rels.values():
            role = relation.reltype.rpartition("/")[2]
            if role in {"styles", "numbering", "footnotes", "endnotes"} and not relation.is_external:
                parts.setdefault(role, _root(relation.target_part))
        return parts, _properties(package.core_properties)
    except (
        OpcError,
        KeyError,
        ValueError,
        AttributeError,
        TypeError,
        etree.XMLSyntaxError,
        OSError,
        EOFError,
    ) as error:
        raise BrokenDocumentError(
            f"{name} is not a readable Word document: {type(error).__name__}: {error}."
        ) from error
    except Exception as error:
        # zlib.error and zipfile.BadZipFile of a damaged part have no common base with the above.
        if type(error).__module__ in {"zlib", "zipfile"}:
            raise BrokenDocumentError(f"{name} is a damaged package: {error}.") from error
        raise


def _root(part: Any) -> Any:
    # Macro and template documents come as plain parts; entities are never resolved, the network never asked.
    if hasattr(part, "element"):
        return part.element
    return etree.fromstring(part.blob, etree.XMLParser(resolve_entities=False, no_network=True))


def _properties(core: Any) -> dict[str, Scalar | tuple[str, ...]]:
    values: dict[str, Scalar | tuple[str, ...]] = {}
    for key in ("title", "author", "subject", "keywords", "category", "version", "created", "modified"):
        try:
            value = getattr(core, key)
        except (ValueError, TypeError, AttributeError):
            continue  # a date in no known form
        if value:
            values[key] = value.isoformat() if hasattr(value, "isoformat") else " ".join(str(value).split())
    return values


class _Writer:
    """Goes through the body and appends blocks; list items wait until their list has ended."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.draft = Draft()
        self.title = ""
        self._styles = Styles(parts.get("styles"))
        self._numbering = Numbering(parts.get("numbering"))
        self._notes = {kind: _notes(parts.get(f"{kind}s"), kind) for kind in ("footnote", "endnote")}
        self._items: list[str] = []
        self._code: list[str] = []

    def write(self, body: Any, depth: int = 0) -> None:
        for node in _content(body):
            if node.tag == f"{W}p":
                self._paragraph(node, depth)
            else:
                self._table(node, depth)
        self._end_runs()

    def _paragraph(self, node: Any, depth: int) -> None:
        shape = self._styles.shape_of(node)
        words = words_of(node)
        if words.text and shape.role != "contents":
            self._place(shape, words)
        for kind, note in words.footnotes:
            if text := self._notes[kind].get(note, ""):
                self._end_runs()
                self.draft.add(BlockKind.FOOTNOTE, text)
        for box in words.boxes:
            self._end_runs()
            self.write(box, _below(depth))

    def _place(self, shape: Shape, words: Words) -> None:
        label = self._numbering.label(shape.number, shape.depth) if shape.number else ""
        text = _labelled(label, words.text)
        level = shape.level or (0 if shape.number or shape.role else numbered_level(words.text))
        if shape.role == "code":
            self._end_items()
            self._code.append(words.text)
            return
        if label and not level and len(text) <= _LONG_ITEM:
            self._end_code()
            lead = "  " * shape.depth
            self._items.append(lead + text.replace("\n", "\n  " + lead))
            return
        self._end_runs()
        if shape.role == "title":
            self.title = self.title or words.text
            self.draft.add(BlockKind.HEADING, _one_line(words.text), level=1)
        elif level:
            self.draft.add(BlockKind.HEADING, _one_line(text), level=level)
        elif words.formulas_only:
            self.draft.add(BlockKind.FORMULA, text)
        else:
            self.draft.add(_ROLE_KINDS.get(shape.role, BlockKind.PARAGRAPH), text)

    def _table(self, node: Any, depth: int) -> None:
        self._end_runs()
        rows = list(_rows(node))
        if max((len(cells) for _, cells in rows), default=0) <= 1:
            # One column is a frame around text, not a table.
            for _, cells in rows:
                for cell in cells:
                    self.write(cell, _below(depth))
            return
        text = pipe_table(
            [[Cell("", columns=before)] * bool(before) + self._cells(cells, depth) for before, cells in rows]
        )
        self.draft.add(BlockKind.TABLE, text)

    def _cells(self, cells: list[Any], depth: int) -> list[Cell]:
        out = []
        for cell in cells:
            own = cell.find(f"{W}tcPr")
            merge = own.find(f"{W}vMerge") if own is not None else None
            covered = merge is not None and (merge.get(f"{W}val") or "continue") == "continue"
            span = own.find(f"{W}gridSpan") if own is not None else None
            width = span.get(f"{W}val", "1") if span is not None else "1"
            text = "" if covered else "\n".join(self._cell_lines(cell, depth))
            out.append(Cell(text, columns=int(width) if width.isdigit() else 1))
        return out

    def _cell_lines(self, cell: Any, depth: int) -> Iterator[str]:
        for node in _content(cell):
            if node.tag == f"{W}p":
                shape = self._styles.shape_of(node)
                words = words_of(node)
                label = self._numbering.label(shape.number, shape.depth) if shape.number and words.text else ""
                yield _labelled(label, words.text)
                for box in words.boxes:
                    yield from self._cell_lines(box, _below(depth))
            else:
                inner = [self._cells(cells, _below(depth)) for _, cells in _rows(node)]
                yield flatten(pipe_table(inner))

    def _end_items(self) -> None:
        if self._items:
            self.draft.add(BlockKind.LIST, "\n".join(self._items))
            self._items = []

    def _end_code(self) -> None:
        if self._code:
            self.draft.add(BlockKind.CODE, "\n".join(self._code))
            self._code = []

    def _end_runs(self) -> None:
        self._end_items()
        self._end_code()


def _below(depth: int) -> int:
    """Return the depth inside a table or text box; what is nested too deeply is refused, never left out."""
    if depth >= _DEEPEST:
        raise BrokenDocumentError("The tables or text boxes are nested too deeply to be read whole.")
    return depth + 1


def _content(body: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in order, through content controls and accepted changes."""
    for node in body:
        if node.tag in {f"{W}p", f"{W}tbl"}:
            yield node
        elif node.tag in _THROUGH:
            yield from _content(node)


def _rows(table: Any) -> Iterator[tuple[int, list[Any]]]:
    """Yield each row's columns left out at its beginning, and its cells."""
    for node in table:
        if node.tag == f"{W}tr":
            before = node.find(f"{W}trPr/{W}gridBefore")
            width = before.get(f"{W}val", "0") if before is not None else "0"
            yield (int(width) if width.isdigit() else 0), list(_row_cells(node))
        elif node.tag in _THROUGH:
            yield from _rows(node)


def _row_cells(row: Any) -> Iterator[Any]:
    for node in row:
        if node.tag == f"{W}tc":
            yield node
        elif node.tag in _THROUGH:
            yield from _row_cells(node)


def _notes(root: Any | None, kind: str) -> dict[str, str]:
    if root is None:
        return {}
    found = {}
    for note in root.findall(f"{W}{kind}"):
        if note.get(f"{W}type") in {None, "normal"}:
            lines = [words_of(paragraph).text for paragraph in note.findall(f"{W}p")]
            found[note.get(f"{W}id", "")] = "\n".join(filter(None, lines))
    return found


def _labelled(label: str, text: str) -> str:
    if not label or not text:
        return text
    if label == BULLET or not is_wide(label[-1]) or label[-1] not in "、．）】」：":
        return f"{label} {text}"
    return label + text


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
