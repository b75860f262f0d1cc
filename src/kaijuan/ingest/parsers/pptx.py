"""PowerPoint presentations: slides in order, titles as headings, lists, tables, charts, diagrams and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers import pipes
from kaijuan.ingest.parsers.charts import chart_of
from kaijuan.ingest.parsers.draft import Draft, Origin, stem
from kaijuan.ingest.parsers.figure_words import PackagePictures
from kaijuan.ingest.parsers.figures import alt_text
from kaijuan.ingest.parsers.opc import (
    Element,
    Package,
    child,
    children,
    descendants,
    is_on,
    local,
    number_of,
    relation_id,
    value_of,
)
from kaijuan.ingest.parsers.pptx_layouts import Box, Layouts, box_of, moved
from kaijuan.ingest.parsers.pptx_text import Counter, Paragraph, paragraphs_of
from kaijuan.ingest.parsers.slide_order import Placed, in_reading_order
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.unseen_slides import unseen_on_slide

if TYPE_CHECKING:
    from kaijuan.ingest.ports import Recogniser

_FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum"})
_TITLES = frozenset({"title", "ctrTitle"})
_DEEPEST = 30
_JUNK_TITLE = re.compile(r"(?:slide|幻灯片)\s*\d+|powerpoint (?:presentation|演示文稿)|演示文稿\s*\d*|无标题.*", re.I)


class PptxParser:
    """Parser of kind "pptx". Dates, page numbers and footers of the slides are left out."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the slides' blocks, each slide a page; hidden slides say so in their places."""
        package = Package(data, name)
        main = package.main()
        root = package.xml(main)
        relations = package.relations(main)
        slides = [
            relations[relation_id(node)].part
            for node in children(child(root, "sldIdLst"), "sldId")
            if relation_id(node) in relations and relations[relation_id(node)].part in package
        ]
        if not slides:
            raise BrokenDocumentError(f"{name} holds no slides.")
        size = child(root, "sldSz")
        pictures = PackagePictures(self.recogniser, package)
        deck = _Deck(package, pictures, number_of(value_of(size, "cx")), number_of(value_of(size, "cy")))
        for number, part in enumerate(slides, 1):
            deck.slide(part, number)
        metadata = package.properties()
        title = str(metadata.pop("title", ""))
        title = deck.draft.first_heading or stem(name) if not title or _JUNK_TITLE.fullmatch(title) else title
        made = deck.draft.finish(
            "pptx",
            name,
            title=title,
            metadata=metadata,
            warnings=[*deck.warnings, *pictures.warnings()],
            pages=len(slides),
        )
        return with_hidden(made, deck.hidden)


class _Deck:
    """A presentation that is being read, and what has been read of it."""

    def __init__(self, package: Package, pictures: PackagePictures, width: int, height: int) -> None:
        self.package = package
        self.pictures = pictures
        self._size = width, height
        self.hidden: list[str] = []
        self.draft = Draft()
        self.layouts = Layouts(package)
        self.warnings: list[str] = []

    def slide(self, part: str, number: int) -> None:
        try:
            root = self.package.xml(part)
        except BrokenDocumentError as error:
            self.warnings.append(f"Slide {number} could not be read: {error.message}")
            return
        hidden = value_of(root, "show", "1") in {"0", "false"}
        self.draft.leave_headings()
        writer = _Slide(self, part, Origin(place=f"slide {number}{' (hidden)' if hidden else ''}", pages=(number,)))
        writer.shapes(child(root, "cSld", "spTree"))
        self.hidden.extend(unseen_on_slide(root, *self._size))
        for notes in self.package.related(part, "notesSlide"):
            self._notes(notes, number)
        for comments in self.package.related(part, "comments"):
            self._comments(comments, number)

    def _notes(self, part: str, number: int) -> None:
        origin = Origin(place=f"slide {number} notes", pages=(number,))
        for shape in descendants(self.package.xml(part), "sp"):
            if _placeholder(shape) == "body":
                text = "\n".join(p.text for p in paragraphs_of(child(shape, "txBody")) if p.text)
                self.draft.add(BlockKind.PARAGRAPH, text, origin=origin)

    def _comments(self, part: str, number: int) -> None:
        origin = Origin(place=f"slide {number} comment", pages=(number,))
        for comment in descendants(self.package.xml(part), "cm"):
            text = " ".join("".join(at.text or "" for at in comment.iter() if local(at) in {"text", "t"}).split())
            self.draft.add(BlockKind.FOOTNOTE, text, origin=origin)


class _Slide:
    """Writes the shapes of one slide: its title first, then the others as people read them."""

    def __init__(self, deck: _Deck, part: str, origin: Origin) -> None:
        self._deck = deck
        self._draft = deck.draft
        self._part = part
        self._origin = origin
        self._relations = deck.package.relations(part)
        self._list: list[str] = []

    def shapes(self, tree: Element | None) -> None:
        found = list(_flat(tree, 0))
        titles = [shape for shape in found if _placeholder(shape) in _TITLES]
        others = [Placed(shape, self._box(shape)) for shape in found if shape not in titles]
        for shape in (*titles, *in_reading_order(others)):
            self._shape(shape)
        self._end_list()

    def _box(self, shape: Element) -> Box | None:
        """Return where a shape stands: by its own word, else as its layout has it; groups move what is in them."""
        box = box_of(shape) or self._deck.layouts.box(self._part, shape)
        for group in shape.iterancestors():
            if box and local(group) == "grpSp":
                box = moved(box, group)
        return box

    def _shape(self, shape: Element) -> None:
        kind, name = _placeholder(shape), local(shape)
        if kind in _FURNITURE:
            return
        if name == "graphicFrame":
            self._frame(shape)
        elif name == "pic":
            self._figure(shape)
        elif kind in _TITLES:
            text = " ".join(p.text for p in paragraphs_of(child(shape, "txBody")) if p.text)
            self._draft.add(BlockKind.HEADING, text, level=1, origin=self._origin)
        else:
            self._text(shape, kind)
        self._end_list()

    def _text(self, shape: Element, kind: str | None) -> None:
        counter = Counter()
        for paragraph in paragraphs_of(child(shape, "txBody")):
            bullet = self._deck.layouts.bullet(self._part, shape, paragraph, kind)
            marker = counter.marker(bullet, paragraph.level)
            if not paragraph.text:
                continue
            if marker:
                self._list.append("  " * paragraph.level + f"{marker} {paragraph.text}".replace("\n", "\n  "))
            else:
                self._end_list()
                self._plain(paragraph)

    def _plain(self, paragraph: Paragraph) -> None:
        if paragraph.is_formula:
            origin = Origin(place=self._origin.place, pages=self._origin.pages, syntax="latex")
            self._draft.add(BlockKind.FORMULA, paragraph.text, origin=origin)
        else:
            self._draft.add(BlockKind.PARAGRAPH, paragraph.text, origin=self._origin)

    def _end_list(self) -> None:
        if self._list:
            self._draft.add(BlockKind.LIST, "\n".join(self._list), origin=self._origin)
            self._list = []

    def _figure(self, shape: Element) -> None:
        said = alt_text(value_of(next(descendants(shape, "cNvPr"), None), "descr"))
        held = self._relations.get(relation_id(next(descendants(shape, "blip"), None)))
        self._deck.pictures.write(self._draft, said, held.part if held else "", self._origin)

    def _frame(self, frame: Element) -> None:
        table = next(descendants(frame, "tbl"), None)
        if table is not None:
            self._draft.add_table(pipes.draw(_cells(table)), origin=self._origin)
            return
        for node in frame.iter():
            if local(node) == "chart" and relation_id(node):
                self._chart(relation_id(node))
            elif local(node) == "relIds":
                self._diagram(value_of(node, "dm"))
        self._figure(frame)

    def _chart(self, id: str) -> None:
        relation = self._relations.get(id)
        if relation is None or relation.part not in self._deck.package:
            return
        chart = chart_of(self._deck.package.xml(relation.part))
        self._draft.add(BlockKind.CAPTION, chart.title, origin=self._origin)
        self._draft.add_table(chart.table, origin=self._origin)

    def _diagram(self, id: str) -> None:
        relation = self._relations.get(id)
        if relation is None or relation.part not in self._deck.package:
            return
        lines = diagram_lines(self._deck.package.xml(relation.part))
        self._draft.add(BlockKind.LIST, "\n".join(lines), origin=self._origin)


def _flat(tree: Element | None, depth: int) -> Iterator[Element]:
    """Yield the shapes, those of groups in their place; what is only there for older programs is left out."""
    if tree is None or depth > _DEEPEST:
        return
    for node in tree:
        name = local(node)
        if name in {"sp", "graphicFrame", "pic", "cxnSp"}:
            yield node
        elif name in {"grpSp", "Choice"}:
            yield from _flat(node, depth + 1)
        elif name == "AlternateContent":
            choice = child(node, "Choice")
            yield from _flat(choice if choice is not None else child(node, "Fallback"), depth + 1)


def _placeholder(shape: Element) -> str | None:
    """Return what a shape stands in for ("title", "body", ...), None for a shape of its own."""
    holder = next((at for at in shape if local(at).startswith("nv")), None)
    found = child(holder, "nvPr", "ph")
    return None if found is None else value_of(found, "type", "obj")


def _cells(table: Element) -> Iterator[pipes.Placed]:
    header = is_on(value_of(child(table, "tblPr"), "firstRow"))
    for row, line in enumerate(children(table, "tr")):
        for column, cell in enumerate(children(line, "tc")):
            if is_on(value_of(cell, "hMerge")) or is_on(value_of(cell, "vMerge")):
                continue
            text = "\n".join(p.text for p in paragraphs_of(child(cell, "txBody")) if p.text)
            rows, columns = number_of(value_of(cell, "rowSpan"), 1), number_of(value_of(cell, "gridSpan"), 1)
            yield pipes.Placed(row, column, pipes.Cell(text, max(rows, 1), max(columns, 1), header and row == 0))


def diagram_lines(root: Element) -> list[str]:
    """Return the texts of a diagram (SmartArt) as the lines of a list, nested as its nodes are."""
    texts: dict[str, str] = {}
    first = ""
    for point in children(child(root, "ptLst"), "pt"):
        kind, id = value_of(point, "type", "node"), value_of(point, "modelId")
        if kind == "doc":
            first = id
        elif kind in {"node", "asst"}:
            lines = (p.text for p in paragraphs_of(child(point, "t")))
            texts[id] = " ".join(filter(None, lines))
    below: dict[str, list[tuple[int, str]]] = {}
    for link in children(child(root, "cxnLst"), "cxn"):
        if value_of(link, "type", "parOf") == "parOf":
            order = number_of(value_of(link, "srcOrd"))
            below.setdefault(value_of(link, "srcId"), []).append((order, value_of(link, "destId")))
    out: list[str] = []
    seen: set[str] = set()

    def walk(id: str, depth: int) -> None:
        for _, inner in sorted(below.get(id, ())):
            if inner in seen or depth > _DEEPEST:
                continue
            seen.add(inner)
            if texts.get(inner):
                out.append("  " * depth + f"- {texts[inner]}")
            walk(inner, depth + 1)

    walk(first, 0)
    return out + [f"- {text}" for id, text in texts.items() if id not in seen and text]
