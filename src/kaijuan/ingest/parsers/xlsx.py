"""Excel workbooks: each sheet a section, cells as shown, merged, hidden and commented ones known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, OversizeDocumentError
from kaijuan.ingest.parsers.charts import chart_of
from kaijuan.ingest.parsers.draft import Draft, stem
from kaijuan.ingest.parsers.figure_words import PackagePictures
from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.number_formats import general, shown_number, shown_text
from kaijuan.ingest.parsers.opc import (
    Element,
    Package,
    Relation,
    child,
    children,
    descendants,
    is_on,
    local,
    number_of,
    relation_id,
    shown_nodes,
    value_of,
)
from kaijuan.ingest.parsers.pptx_text import paragraphs_of
from kaijuan.ingest.parsers.sheet_regions import Area
from kaijuan.ingest.parsers.sheets import Figure, Remark, Sheet, SheetCell, write_sheets
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.xlsx_styles import Styles

if TYPE_CHECKING:
    from kaijuan.ingest.ports import Recogniser

_MOST_CELLS = 2_000_000
_LAST_COLUMN = 16_383
_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})$")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


class XlsxParser:
    """Parser of kind "xlsx". Formulas without a stored value are kept as they are written."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return a heading for each sheet with content, its tables, lone texts, charts and comments."""
        book = _Book(Package(data, name), name)
        draft = Draft()
        sheets = list(book.sheets())
        warnings = write_sheets(draft, sheets, pictures=PackagePictures(self.recogniser, book.package))
        metadata = book.package.properties()
        title = str(metadata.pop("title", "")) or stem(name)
        made = draft.finish("xlsx", name, title=title, metadata=metadata, warnings=warnings, pages=len(sheets))
        # A table's own style may paint the ground of white headers.
        painted = any(sheet.tables for sheet in sheets)
        return made if painted else with_hidden(made, book.unseen)


class _Entry(NamedTuple):
    name: str
    part: str
    hidden: bool


class _Book:
    """A workbook that is open: its strings, styles and sheets."""

    def __init__(self, package: Package, name: str) -> None:
        self.package = package
        self._name = name
        self._main = package.main()
        root = package.xml(self._main)
        relations = package.relations(self._main)
        self._since_1904 = is_on(value_of(child(root, "workbookPr"), "date1904"))
        self._entries = [
            _Entry(value_of(node, "name"), relation.part, value_of(node, "state") in {"hidden", "veryHidden"})
            for node in children(child(root, "sheets"), "sheet")
            if (relation := relations.get(relation_id(node))) and relation.part in package
        ]
        self._styles = Styles(_root_of(package, relations, "styles"))
        strings = next((at.part for at in relations.values() if at.role == "sharedStrings" and at.part in package), "")
        self._strings = [_string(node) for node in package.elements(strings, "si")] if strings else []
        self._people = {
            value_of(node, "id"): value_of(node, "displayName")
            for part in package.related(self._main, "person")
            for node in children(package.xml(part), "person")
        }
        self._cells = 0
        self.unseen: list[str] = []

    def sheets(self) -> Iterator[Sheet]:
        for entry in self._entries:
            sheet = Sheet(name=entry.name, hidden=entry.hidden)
            self._read_cells(sheet, entry.part)
            for relation in self.package.relations(entry.part).values():
                if relation.part in self.package:
                    self._read_related(sheet, relation)
            sheet.remarks.sort(key=lambda remark: (remark.row, remark.column))
            yield sheet

    def _read_cells(self, sheet: Sheet, part: str) -> None:
        row = -1
        for node in self.package.elements(part, "row", "col", "mergeCell"):
            tag = local(node)
            if tag == "row":
                row = number_of(node.get("r"), row + 2) - 1
                if is_on(node.get("hidden")):
                    sheet.hidden_rows.add(row)
                if cells := self._row(node):
                    sheet.rows[row] = cells
            elif tag == "col" and is_on(node.get("hidden")):
                last = min(number_of(node.get("max")), _LAST_COLUMN + 1)
                sheet.hidden_columns.update(range(number_of(node.get("min"), 1) - 1, last))
            elif tag == "mergeCell" and (area := area_of(node.get("ref") or "")):
                sheet.merges.append(area)

    def _row(self, node: Element) -> dict[int, SheetCell]:
        cells: dict[int, SheetCell] = {}
        column = -1
        for cell in node:
            if local(cell) != "c":
                continue
            found = _ADDRESS.match(cell.get("r") or "")
            column = _column(found[1]) if found else column + 1
            shown = self._cell(cell)
            if shown is not None:
                cells[column] = shown
        self._cells += len(cells)
        if self._cells > _MOST_CELLS:
            raise OversizeDocumentError(
                f"{self._name} has more than {_MOST_CELLS:,} filled cells.", hint="Split it, or save it as CSV."
            )
        return cells

    def _cell(self, cell: Element) -> SheetCell | None:
        kind = cell.get("t") or "n"
        style = self._styles.of(number_of(cell.get("s")))
        text, number = "", False
        for part in cell:
            if part.tag.endswith("}v"):
                text = part.text or ""
        if kind == "inlineStr":
            text = _string(child(cell, "is"))
        elif not text:
            formula = child(cell, "f")
            said = (formula.text or "") if formula is not None else ""
            # WPS puts pictures into cells by a formula that says nothing to anybody.
            text = f"={said}" if said and "DISPIMG(" not in said else ""
        elif kind == "s":
            at = number_of(text, -1)
            text = self._strings[at] if 0 <= at < len(self._strings) else ""
        elif kind == "str":
            text = _unescaped(text)
        elif kind == "b":
            text, number = ("TRUE" if text == "1" else "FALSE"), True
        elif kind == "n":
            text, number = self._number(text, style.code)
        if kind in {"s", "str", "inlineStr"}:
            text = shown_text(text, style.code)
        self.unseen.extend([text] if style.unseen and not number else [])
        return SheetCell(text.strip(), number, style.strong) if text.strip() else None

    def _number(self, text: str, code: str) -> tuple[str, bool]:
        try:
            value = float(text)
        except ValueError:
            return text, False
        shown = general(value) if code == "General" else shown_number(value, code, since_1904=self._since_1904)
        # A format such as ";;;" hides what the cell holds; the value is what people look for.
        return shown if shown.strip() else general(value), True

    def _read_related(self, sheet: Sheet, relation: Relation) -> None:
        if relation.role == "table":
            root = self.package.xml(relation.part)
            if area := area_of(root.get("ref") or ""):
                sheet.tables.append((area, number_of(root.get("headerRowCount"), 1)))
        elif relation.role in {"comments", "threadedComment"}:
            self._read_comments(sheet, relation)
        elif relation.role == "drawing":
            sheet.figures.extend(self._drawn(relation.part))

    def _read_comments(self, sheet: Sheet, relation: Relation) -> None:
        root = self.package.xml(relation.part)
        authors = ["".join(node.itertext()) for node in children(child(root, "authors"), "author")]
        nodes = (
            children(root, "threadedComment")
            if relation.role == "threadedComment"
            else children(child(root, "commentList"), "comment")
        )
        for node in nodes:
            area = area_of(node.get("ref") or "")
            text = " ".join("".join(at.text or "" for at in descendants(node, _text_tag(relation))).split())
            if relation.role == "comments" and text.startswith("[Threaded comment]"):
                continue  # the old form of a thread, for programs that know no threads, says it again
            author = self._people.get(value_of(node, "personId"), "") or _author(authors, node)
            text = text.removeprefix(f"{author}:").strip() if author else text
            if area and text:
                sheet.remarks.append(Remark(area[0], area[1], f"{author}: {text}" if author else text))

    def _drawn(self, part: str) -> Iterator[Figure]:
        """Yield charts, text boxes and pictures with a description."""
        relations = self.package.relations(part)
        for anchor in self.package.xml(part):
            start = child(anchor, "from")
            at = (
                number_of(_content(child(start, "row"))),
                number_of(_content(child(start, "col"))),
            )
            for node in shown_nodes(anchor):
                relation = relations.get(relation_id(node)) if local(node) == "chart" else None
                if relation and relation.part in self.package:
                    chart = chart_of(self.package.xml(relation.part))
                    yield Figure(BlockKind.CAPTION, chart.title, at, chart.table)
                elif local(node) == "txBody":
                    lines = (paragraph.text for paragraph in paragraphs_of(node))
                    yield Figure(BlockKind.PARAGRAPH, "\n".join(filter(None, lines)), at)
                elif local(node) == "pic":
                    held = relations.get(relation_id(next(descendants(node, "blip"), None)))
                    yield Figure(BlockKind.FIGURE, _described(node), at, picture=held.part if held else "")


def _described(picture: Element) -> str:
    return alt_text(value_of(next(descendants(picture, "cNvPr"), None), "descr"))


def _text_tag(relation: Relation) -> str:
    return "text" if relation.role == "threadedComment" else "t"


def _author(authors: list[str], node: Element) -> str:
    at = number_of(node.get("authorId"), -1)
    author = authors[at] if 0 <= at < len(authors) else ""
    return "" if author.startswith("tc=") else author.strip()


def _content(node: Element | None) -> str:
    return (node.text or "").strip() if node is not None else ""


def _root_of(package: Package, relations: dict[str, Relation], role: str) -> Element | None:
    part = next((at.part for at in relations.values() if at.role == role and at.part in package), "")
    try:
        return package.xml(part) if part else None
    except BrokenDocumentError:
        return None  # without styles numbers are shown in full, which is better than not at all


def _string(node: Element | None) -> str:
    """Return the words of a string item; how to pronounce them (rPh) is no part of it."""
    if node is None:
        return ""
    parts = []
    for at in node:
        if local(at) == "t":
            parts.append(at.text or "")
        elif local(at) == "r":
            parts.extend(t.text or "" for t in children(at, "t"))
    return _unescaped("".join(parts))


def _unescaped(text: str) -> str:
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace("\x00", "")


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return min(number - 1, _LAST_COLUMN)


def area_of(reference: str) -> Area | None:
    """Return the area that a reference names (A1:B2, or one cell), None when it is none."""
    first, _, last = reference.partition(":")
    start, end = _ADDRESS.match(first), _ADDRESS.match(last or first)
    if not start or not end:
        return None
    rows = sorted((int(start[2]) - 1, int(end[2]) - 1))
    columns = sorted((_column(start[1]), _column(end[1])))
    return max(rows[0], 0), columns[0], max(rows[1], 0), columns[1]
