"""OpenDocument files (ISO/IEC 26300): texts, spreadsheets and presentations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError
from kaijuan.ingest.parsers.described import filled
from kaijuan.ingest.parsers.draft import Draft, Origin, stem
from kaijuan.ingest.parsers.figure_words import PackagePictures
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.odf_sheets import sheets_of
from kaijuan.ingest.parsers.odf_styles import Styles
from kaijuan.ingest.parsers.odf_text import Reader
from kaijuan.ingest.parsers.opc import Element, Package, child, children, descendants, local, number_of, value_of
from kaijuan.ingest.parsers.pieces import Piece, write_pieces
from kaijuan.ingest.parsers.sheets import write_sheets
from kaijuan.ingest.parsers.slide_order import Placed, in_reading_order
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.unseen_odf import unseen_in

if TYPE_CHECKING:
    from kaijuan.ingest.ports import Recogniser

_MANIFEST = "META-INF/manifest.xml"
_UNITS = {"cm": 1.0, "mm": 0.1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6, "px": 2.54 / 96}


class OdtParser:
    """Parser of kind "odt". Page headers and footers, deleted text, comments and indexes are left out."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the text's blocks, each with the number of its paragraph."""
        file = _File(data, name)
        draft = Draft()
        reader = Reader(file.styles)
        pictures = file.pictures(self.recogniser)
        body = file.body("text")
        write_pieces(draft, reader.blocks(body), pictures=pictures)
        metadata = file.metadata()
        title = str(metadata.pop("title", "")) or reader.title
        made = draft.finish("odt", name, title=title, metadata=metadata, warnings=pictures.warnings())
        return with_hidden(made, unseen_in(body, file.styles))


class OdsParser:
    """Parser of kind "ods"."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return a heading for each sheet with content, its tables, lone texts and comments."""
        file = _File(data, name)
        draft = Draft()
        sheets = list(sheets_of(file.body("spreadsheet"), file.styles))
        warnings = write_sheets(draft, sheets, pictures=file.pictures(self.recogniser))
        metadata = file.metadata()
        title = str(metadata.pop("title", "")) or stem(name)
        return draft.finish("ods", name, title=title, metadata=metadata, warnings=warnings, pages=len(sheets))


class OdpParser:
    """Parser of kind "odp"."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the slides' blocks, each slide a page, notes behind it."""
        file = _File(data, name)
        draft = Draft()
        pictures = file.pictures(self.recogniser)
        pages = list(children(file.body("presentation"), "page"))
        for number, page in enumerate(pages, 1):
            draft.leave_headings()
            hidden = file.styles.is_hidden(value_of(page, "style-name"))
            place = f"slide {number}{' (hidden)' if hidden else ''}"
            write_pieces(draft, _slide(page, file.styles), within=place, pages=(number,), pictures=pictures)
            for notes in children(page, "notes"):
                origin = Origin(place=f"slide {number} notes", pages=(number,))
                for piece in _notes(notes, file.styles):
                    draft.add(BlockKind.PARAGRAPH, piece.text, origin=origin)
        metadata = file.metadata()
        title = str(metadata.pop("title", "")) or draft.first_heading or stem(name)
        return draft.finish("odp", name, title=title, metadata=metadata, warnings=pictures.warnings(), pages=len(pages))


class _File:
    """An OpenDocument package that is open."""

    def __init__(self, data: bytes, name: str) -> None:
        self._package = Package(data, name)
        self._name = name
        manifest = self._package.xml(_MANIFEST) if _MANIFEST in self._package else None
        if next(descendants(manifest, "encryption-data"), None) is not None:
            raise EncryptedDocumentError(f"{name} is protected with a password.")
        self._content = self._package.xml("content.xml")
        shared = self._package.xml("styles.xml") if "styles.xml" in self._package else None
        self.styles = Styles(self._content, shared)

    def pictures(self, recogniser: Recogniser | None) -> PackagePictures:
        return PackagePictures(recogniser, self._package)

    def body(self, kind: str) -> Element:
        found = child(self._content, "body", kind)
        if found is None:
            raise BrokenDocumentError(f"{self._name} has no {kind} in it.")
        return found

    def metadata(self) -> dict[str, Scalar | tuple[str, ...]]:
        if "meta.xml" not in self._package:
            return {}
        try:
            meta = child(self._package.xml("meta.xml"), "meta")
        except BrokenDocumentError:
            return {}
        said = {
            local(node): squeeze("".join(node.itertext())) for node in (meta if meta is not None else ()) if local(node)
        }
        return filled(
            title=said.get("title"),
            author=said.get("initial-creator") or said.get("creator"),
            subject=said.get("subject"),
            description=said.get("description"),
            keywords=tuple(squeeze("".join(node.itertext())) for node in children(meta, "keyword")),
            created=said.get("creation-date"),
            modified=said.get("date"),
        )


def _slide(page: Element, styles: Styles) -> Iterator[Piece]:
    reader = Reader(styles, numbered=False)
    shapes = [node for node in page if local(node) in {"frame", "custom-shape", "g", "rect", "ellipse", "text-box"}]
    titles = [shape for shape in shapes if value_of(shape, "class") == "title"]
    others = [Placed(shape, _box(shape)) for shape in shapes if shape not in titles]
    for title in titles:
        text = " ".join(squeeze(piece.text) for piece in reader.blocks(title))
        yield Piece(BlockKind.HEADING, text, 1)
    for shape in in_reading_order(others):
        if value_of(shape, "class") not in {"page-number", "footer", "header", "date-time", "page"}:
            yield from reader.shape(shape)


def _notes(notes: Element, styles: Styles) -> Iterator[Piece]:
    for frame in children(notes, "frame"):
        if value_of(frame, "class") == "notes":
            yield from Reader(styles, numbered=False).blocks(frame)


def _box(shape: Element) -> tuple[float, float, float, float] | None:
    sides = [_length(value_of(shape, name)) for name in ("x", "y", "width", "height")]
    left, top, width, height = sides
    if left is None or top is None:
        return None
    return left, top, left + (width or 0.0), top + (height or 0.0)


def _length(text: str) -> float | None:
    """Return a length in centimetres, None for none."""
    unit = text[-2:]
    try:
        return float(text[:-2]) * _UNITS[unit]
    except (ValueError, KeyError):
        return float(number_of(text)) if text.isdigit() else None
