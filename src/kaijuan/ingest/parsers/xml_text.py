"""XML: journal articles (JATS), feeds (RSS, Atom) and sheets by their own readers, everything else by its shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree

from kaijuan.core.documents import BlockKind, ParsedDocument
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.feeds import write_feed
from kaijuan.ingest.parsers.jats import write_article
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.opc import Element, local
from kaijuan.ingest.parsers.pieces import Piece, table_piece, write_pieces
from kaijuan.ingest.parsers.pipes import Cell, table_of
from kaijuan.ingest.parsers.spreadsheet_xml import write_workbook

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_DEEPEST = 150
_TITLES = ("title", "head", "heading", "name", "标题", "名称")
_MOST_COLUMNS = 40
_OWN = {
    "article": write_article,
    "rss": write_feed,
    "feed": write_feed,
    "RDF": write_feed,
    "Workbook": write_workbook,
}
"""Readers by the name of the root element; each says whether the document was one of its own."""


class XmlParser:
    """Parser of kind "xml". Entities from outside are not fetched; places are paths of elements."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the blocks of an article, feed or workbook, or of whatever the elements hold."""
        root, warnings = _root(data, name)
        draft = Draft()
        reader = _OWN.get(local(root))
        found = reader(draft, root) if reader else None
        if found is not None:
            return draft.finish("xml", name, title=found.title, metadata=found.metadata, warnings=warnings)
        path = root.getroottree().getpath
        write_pieces(draft, _pieces(root, 1, path))
        return draft.finish("xml", name, title=_title(root), warnings=warnings)


def _root(data: bytes, name: str) -> tuple[Element, tuple[str, ...]]:
    if not data.strip():
        raise EmptyDocumentError(f"{name} is empty.")
    try:
        return _read(data), ()
    except (etree.XMLSyntaxError, ValueError) as error:
        # The declaration may name a wrong encoding; what the bytes say themselves is tried before giving up.
        decoded = decode(data)
        text = _DECLARATION.sub("", decoded.text)
        try:
            return _read(text.encode("utf-8", "replace")), decoded.warnings
        except (etree.XMLSyntaxError, ValueError):
            raise BrokenDocumentError(f"{name} is no sound XML: {error}.") from error


def _read(data: bytes) -> Element:
    """Return the root; entities that the text itself declares are put in, others stay as they are written."""
    safe: dict[str, Any] = {"no_network": True, "remove_comments": True, "remove_pis": True}
    try:
        return etree.fromstring(data, etree.XMLParser(resolve_entities="internal", **safe))
    except etree.XMLSyntaxError as error:
        if "ntity" not in str(error):
            raise
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, **safe))


def _title(root: Element) -> str:
    found = next((child for child in root if local(child) in _TITLES and not len(child)), None)
    return squeeze(found.text or "") if found is not None else ""


def _pieces(node: Element, depth: int, path: Callable[[Element], str]) -> Iterator[Piece]:
    if depth > _DEEPEST:
        raise BrokenDocumentError("The elements are nested too deeply to be read whole.")
    place = path(node)
    children = [child for child in node if local(child)]
    if not children or _is_mixed(node, children):
        text = squeeze("".join(node.itertext())) or _attributes(node)
        yield Piece(BlockKind.PARAGRAPH, text, place=place)
        return
    if rows := _records(children):
        yield from table_piece(table_of(rows), place=place)
        return
    lines: list[str] = [said] if (said := _attributes(node)) else []
    for child in children:
        if local(child) in _TITLES and not len(child):
            yield Piece(BlockKind.HEADING, squeeze(child.text or ""), min(depth, 6), place=path(child))
        elif not len(child) and len(child.text or "") < 200:
            text = squeeze(child.text or "") or _attributes(child)
            if text:
                lines.append(f"{local(child)}: {text}")
        else:
            yield from _listed(lines, place)
            yield from _pieces(child, depth + 1, path)
    yield from _listed(lines, place)


def _listed(lines: list[str], place: str) -> Iterator[Piece]:
    if lines:
        yield Piece(BlockKind.LIST, "\n".join(lines), place=place)
        lines.clear()


def _is_mixed(node: Element, children: list[Element]) -> bool:
    """Say whether an element holds running text with marked words in it."""
    return bool((node.text or "").strip()) or any((child.tail or "").strip() for child in children)


def _attributes(node: Element) -> str:
    return ", ".join(f"{key.rpartition('}')[2]}: {value}" for key, value in node.attrib.items() if value.strip())


def _records(children: list[Element]) -> list[list[Cell]]:
    """Return the rows of a table when the children are like records of short fields; nothing when they are not."""
    if len(children) < 2 or len({local(child) for child in children}) > 1:
        return []
    columns = list(dict.fromkeys(local(field) for child in children for field in child if local(field)))
    flat = all(not len(field) for child in children for field in child)
    once = all(len({local(field) for field in child}) == len(child) for child in children)
    if not 2 <= len(columns) <= _MOST_COLUMNS or not flat or not once:
        return []
    rows = [[Cell(column, header=True) for column in columns]]
    for child in children:
        fields = {local(field): squeeze(field.text or "") or _attributes(field) for field in child}
        rows.append([Cell(fields.get(column, "")) for column in columns])
    return rows
