"""Word documents: body in order, headings, lists with their numbers, tables, footnotes, text boxes, charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.charts import chart_of
from kaijuan.ingest.parsers.docx_numbering import Numbering, W
from kaijuan.ingest.parsers.docx_styles import Shape, Styles
from kaijuan.ingest.parsers.docx_tables import CellReader, Table, below, content, labelled
from kaijuan.ingest.parsers.docx_text import Words, words_of
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.figure_words import PackagePictures
from kaijuan.ingest.parsers.headings import numbered_level
from kaijuan.ingest.parsers.opc import Package, parsed
from kaijuan.ingest.parsers.pptx import diagram_lines
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.unseen_word import unseen_in_body

if TYPE_CHECKING:
    from kaijuan.ingest.ports import Recogniser

_LONG_ITEM = 120
"""A numbered paragraph longer than this is a clause of a contract, not an item of a list."""
_ROLE_KINDS = {"caption": BlockKind.CAPTION, "quote": BlockKind.QUOTE, "code": BlockKind.CODE}
_NAMESPACES = (
    (
        b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    ),
    (b"http://purl.oclc.org/ooxml/officeDocument/math", b"http://schemas.openxmlformats.org/officeDocument/2006/math"),
)


class DocxParser:
    """Parser of kind "docx". Page headers and footers, comments, deleted text and tables of contents are left out."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the document's blocks, each with the number of its paragraph; core properties become metadata."""
        package = Package(data, name)
        parts = _parts(package)
        body = parts["document"].find(f"{W}body")
        if body is None:
            raise BrokenDocumentError(f"{name} has no body.")
        pictures = PackagePictures(self.recogniser, package)
        writer = _Writer(package, parts, pictures)
        writer.write(body)
        properties = package.properties()
        title = writer.title or str(properties.pop("title", ""))
        made = writer.draft.finish("docx", name, title=title, metadata=properties, warnings=pictures.warnings())
        return with_hidden(made, unseen_in_body(body))


def _parts(package: Package) -> dict[str, Any]:
    """Return the roots of the parts that matter, by role."""
    main = package.main()
    parts = {"document": _root(package, main)}
    for relation in package.relations(main).values():
        if relation.role in {"styles", "numbering", "footnotes", "endnotes"} and relation.part in package:
            parts.setdefault(relation.role, _root(package, relation.part))
    return parts


def _root(package: Package, part: str) -> Any:
    data = package.read(part)
    # The strict flavour of the standard says the same in namespaces of its own.
    for strict, usual in _NAMESPACES:
        data = data.replace(strict, usual)
    return parsed(data, f"The part {part}")


class _Writer:
    """Goes through the body and appends blocks; list items wait until their list has ended."""

    def __init__(self, package: Package, parts: dict[str, Any], pictures: PackagePictures) -> None:
        self.draft = Draft()
        self.title = ""
        self._package = package
        self._pictures = pictures
        self._relations = package.relations(package.main())
        self._styles = Styles(parts.get("styles"))
        self._numbering = Numbering(parts.get("numbering"))
        self._notes = {kind: _notes(parts.get(f"{kind}s"), kind) for kind in ("footnote", "endnote")}
        self._items: list[str] = []
        self._code: list[str] = []
        self._number = 0
        self._run_from = 0

    def write(self, body: Any, depth: int = 0) -> None:
        for node in content(body):
            if node.tag == f"{W}p":
                self._paragraph(node, depth)
            else:
                self._table(node, depth)
        self._end_runs()

    def _here(self, syntax: str = "") -> Origin:
        return Origin(place=f"para {self._number}", syntax=syntax)

    def _paragraph(self, node: Any, depth: int) -> None:
        self._number += 1
        shape = self._styles.shape_of(node)
        words = words_of(node)
        if words.text and shape.role != "contents":
            self._place(shape, words)
        for kind, note in words.footnotes:
            if text := self._notes[kind].get(note, ""):
                self._end_runs()
                self.draft.add(BlockKind.FOOTNOTE, text, origin=self._here())
        for box in words.boxes:
            self._end_runs()
            self.write(box, below(depth))
        self._draw(words)

    def _draw(self, words: Words) -> None:
        if words.pictures or words.images or words.drawings:
            self._end_runs()
        parts = [self._relations[id].part for id in words.images if id in self._relations]
        if len(parts) == 1:
            self._pictures.write(self.draft, " ".join(words.pictures), parts[0], self._here())
            parts = []
        else:
            for said in words.pictures:
                self.draft.add(BlockKind.FIGURE, said, origin=self._here())
        for part in parts:
            self._pictures.write(self.draft, "", part, self._here())
        for kind, id in words.drawings:
            relation = self._relations.get(id)
            if relation is None or relation.part not in self._package:
                continue
            root = self._package.xml(relation.part)
            if kind == "chart":
                chart = chart_of(root)
                self.draft.add(BlockKind.CAPTION, chart.title, origin=self._here())
                self.draft.add_table(chart.table, origin=self._here())
            else:
                self.draft.add(BlockKind.LIST, "\n".join(diagram_lines(root)), origin=self._here())

    def _place(self, shape: Shape, words: Words) -> None:
        label = self._numbering.label(shape.number, shape.depth) if shape.number else ""
        text = labelled(label, words.text)
        level = shape.level or (0 if shape.number or shape.role else numbered_level(words.text))
        if shape.role == "code":
            self._end_items()
            self._run_from = self._run_from or self._number
            self._code.append(words.text)
            return
        if label and not level and len(text) <= _LONG_ITEM:
            self._end_code()
            lead = "  " * shape.depth
            self._run_from = self._run_from or self._number
            self._items.append(lead + text.replace("\n", "\n  " + lead))
            return
        self._end_runs()
        if shape.role == "title":
            self.title = self.title or words.text
            self.draft.add(BlockKind.HEADING, _one_line(words.text), level=1, origin=self._here())
        elif level:
            self.draft.add(BlockKind.HEADING, _one_line(text), level=level, origin=self._here())
        elif words.formulas_only:
            self.draft.add(BlockKind.FORMULA, text, origin=self._here("latex"))
        else:
            self.draft.add(_ROLE_KINDS.get(shape.role, BlockKind.PARAGRAPH), text, origin=self._here())

    def _table(self, node: Any, depth: int) -> None:
        self._end_runs()
        table = Table(node)
        if table.is_frame:
            # One column is a frame around text, not a table.
            for cell in table.contents():
                self.write(cell, below(depth))
            return
        place = f"table after para {self._number}"
        made = table.drawn(CellReader(self._styles, self._numbering), depth)
        self._number += sum(1 for _ in node.iter(f"{W}p"))
        self.draft.add_table(made, origin=Origin(place=place))

    def _end_items(self) -> None:
        if self._items:
            self.draft.add(BlockKind.LIST, "\n".join(self._items), origin=Origin(place=f"para {self._run_from}"))
            self._items = []
            self._run_from = 0

    def _end_code(self) -> None:
        if self._code:
            self.draft.add(BlockKind.CODE, "\n".join(self._code), origin=Origin(place=f"para {self._run_from}"))
            self._code = []
            self._run_from = 0

    def _end_runs(self) -> None:
        self._end_items()
        self._end_code()


def _notes(root: Any | None, kind: str) -> dict[str, str]:
    if root is None:
        return {}
    found = {}
    for note in root.findall(f"{W}{kind}"):
        if note.get(f"{W}type") in {None, "normal"}:
            lines = [words_of(paragraph).text for paragraph in note.iter(f"{W}p")]
            found[note.get(f"{W}id", "")] = "\n".join(filter(None, lines))
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))
