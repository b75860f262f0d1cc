"""EPUB books: the chapters of the spine in order, each read as a page; navigation pages are left out."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.described import filled
from kaijuan.ingest.parsers.draft import Draft, Origin
from kaijuan.ingest.parsers.figure_words import PackagePictures
from kaijuan.ingest.parsers.html_blocks import path_in, pieces_of
from kaijuan.ingest.parsers.html_tree import tree_of
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.opc import Element, Package, child, children, descendants
from kaijuan.ingest.parsers.pieces import Piece, write_pieces

if TYPE_CHECKING:
    from kaijuan.ingest.ports import Recogniser

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_FONTS = ("obfuscation", "mangling")
_MOST_CHAPTERS = 20_000


class EpubParser:
    """Parser of kind "epub"."""

    def __init__(self) -> None:
        self.recogniser: Recogniser | None = None

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the chapters' blocks; each chapter counts as a page and names its file in the places."""
        package = Package(data, name)
        book = _Book(package, name)
        pictures = PackagePictures(self.recogniser, package)
        draft = Draft()
        warnings = []
        for number, part in enumerate(book.chapters, 1):
            try:
                pieces = book.pieces(part)
            except BrokenDocumentError as error:
                warnings.append(f"The chapter {part} could not be read: {error.message}")
                continue
            write_pieces(draft, _below_title(pieces, book.toc.get(part, "")), within=part, pages=(number,))
            for picture in book.pictures(part) if pictures.is_on else ():
                pictures.write(draft, "", picture, Origin(place=part, pages=(number,)))
        return draft.finish(
            "epub",
            name,
            title=book.title,
            metadata=book.metadata,
            warnings=[*warnings, *pictures.warnings()],
            pages=len(book.chapters),
        )


def _below_title(pieces: list[Piece], title: str) -> Iterator[Piece]:
    """Yield a chapter, headed as the table of contents names it where its own page has no heading."""
    if title and not any(piece.kind is BlockKind.HEADING for piece in pieces[:3]) and pieces:
        yield Piece(BlockKind.HEADING, title, 1, place=pieces[0].place)
    yield from pieces


class _Book:
    """A book that is open: its chapters in order, their titles, and what is said of it."""

    def __init__(self, package: Package, name: str) -> None:
        self._package = package
        if _ENCRYPTION in package and _is_locked(package.xml(_ENCRYPTION)):
            raise EncryptedDocumentError(f"{name} is protected against copying (DRM).")
        rootfile = next(descendants(package.xml(_CONTAINER), "rootfile"), None)
        self._opf = unquote(rootfile.get("full-path", "")) if rootfile is not None else ""
        root = package.xml(self._opf)
        metadata = child(root, "metadata")
        self.title = _first(metadata, "title")
        self.metadata = _metadata(metadata)
        items = {node.get("id", ""): node for node in children(child(root, "manifest"), "item")}
        nav = {key for key, node in items.items() if "nav" in (node.get("properties") or "").split()}
        spine = child(root, "spine")
        order = [node.get("idref", "") for node in children(spine, "itemref")]
        parts = [self._part(items[key]) for key in order if key in items and key not in nav and _is_page(items[key])]
        self.chapters = [part for part in dict.fromkeys(parts) if part in package][:_MOST_CHAPTERS]
        if not self.chapters:
            raise BrokenDocumentError(f"{name} names no chapter that it holds.")
        ncx = items.get(spine.get("toc", "")) if spine is not None else None
        self.toc = self._toc([items[key] for key in nav] or ([ncx] if ncx is not None else []))

    def _part(self, item: Element) -> str:
        return posixpath.normpath(posixpath.join(posixpath.dirname(self._opf), unquote(item.get("href", ""))))

    def pieces(self, part: str) -> list[Piece]:
        root = tree_of(_text(self._package.read(part)))
        body = root.find(".//body")
        return pieces_of(root if body is None else body, dropped=_is_navigation, place_of=path_in(root))

    def pictures(self, part: str) -> list[str]:
        """Return the parts of a chapter's pictures, in their order."""
        sources = [node.get("src") or "" for node in tree_of(_text(self._package.read(part))).iter("img")]
        folder = posixpath.dirname(part)
        return list(dict.fromkeys(posixpath.normpath(posixpath.join(folder, unquote(source))) for source in sources))

    def _toc(self, items: list[Element]) -> dict[str, str]:
        """Return the titles of chapters by their file, from a navigation page or an NCX."""
        titles: dict[str, str] = {}
        for item in items:
            part = self._part(item)
            try:
                root = self._package.xml(part)
            except BrokenDocumentError:
                continue  # a damaged table of contents costs titles, not text
            for href, title in (*_ncx_entries(root), *_nav_entries(root)):
                target = posixpath.normpath(posixpath.join(posixpath.dirname(part), unquote(href.partition("#")[0])))
                if title:
                    titles.setdefault(target, title)
        return titles


def _text(data: bytes) -> str:
    declared = data[:200].partition(b"encoding=")[2][1:30].split(b'"')[0].split(b"'")[0]
    return decode(data, declared=declared.decode("ascii", "replace")).text


def _ncx_entries(root: Element) -> Iterator[tuple[str, str]]:
    for point in descendants(root, "navPoint"):
        content, label = child(point, "content"), child(point, "navLabel", "text")
        if content is not None and label is not None:
            yield content.get("src", ""), squeeze("".join(label.itertext()))


def _nav_entries(root: Element) -> Iterator[tuple[str, str]]:
    for nav in descendants(root, "nav"):
        for link in descendants(nav, "a"):
            yield link.get("href", ""), squeeze("".join(link.itertext()))


def _is_page(item: Element) -> bool:
    return (item.get("media-type") or "application/xhtml+xml") in _PAGES


def _is_navigation(node: Any) -> bool:
    return node.tag == "nav" or node.get("hidden") is not None


def _is_locked(root: Element) -> bool:
    """Say whether more than fonts is encrypted; fonts are only made unusable elsewhere."""
    methods = [node.get("Algorithm", "") for node in descendants(root, "EncryptionMethod")]
    return any(not any(word in method for word in _FONTS) for method in methods)


def _metadata(node: Element | None) -> dict[str, Scalar | tuple[str, ...]]:
    identifiers = [squeeze("".join(at.itertext())) for at in children(node, "identifier")]
    isbn = next((at.rpartition(":")[2] for at in identifiers if _is_isbn(at.rpartition(":")[2])), "")
    return filled(
        author=tuple(squeeze("".join(at.itertext())) for at in children(node, "creator")),
        issuer=_first(node, "publisher"),
        published=_first(node, "date")[:10],
        lang=_first(node, "language"),
        isbn=isbn,
        keywords=tuple(squeeze("".join(at.itertext())) for at in children(node, "subject")),
        description=_without_tags(_first(node, "description")),
    )


def _without_tags(text: str) -> str:
    """Return a blurb without the HTML that shops put into it."""
    return squeeze(" ".join(tree_of(text).itertext())) if "<" in text else text


def _is_isbn(text: str) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    return len(digits) in {10, 13} and digits[:-1].isdigit() and (digits[-1].isdigit() or digits[-1] in "xX")


def _first(node: Element | None, name: str) -> str:
    found = child(node, name)
    return squeeze("".join(found.itertext())) if found is not None else ""
