"""Journal articles in JATS (ANSI/NISO Z39.96): front matter, sections, tables, figures, formulas and references."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.core.documents import BlockKind
from kaijuan.errors import BrokenDocumentError
from kaijuan.ingest.parsers.described import Described, filled
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.joining import squeeze
from kaijuan.ingest.parsers.opc import Element, child, children, descendants, local, number_of
from kaijuan.ingest.parsers.pieces import Piece, table_piece, write_pieces
from kaijuan.ingest.parsers.pipes import Cell, table_of

_DEEPEST = 60
_INLINE_BLOCKS = frozenset(
    {"list", "disp-formula", "disp-quote", "table-wrap", "fig", "def-list", "boxed-text", "code"}
)
_SKIPPED = frozenset({"object-id", "graphic", "media", "alternatives", "label", "title", "sec-meta", "counts"})


def write_article(draft: Draft, root: Element) -> Described | None:
    """Append an article to a draft; None when the root is no journal article."""
    meta = child(root, "front", "article-meta")
    if meta is None:
        return None
    title = _words(child(meta, "title-group", "article-title"))
    authors = tuple(filter(None, map(_person, _contributors(meta))))
    write_pieces(draft, _Reader(root).article(root, meta, title, authors))
    journal = child(root, "front", "journal-meta")
    metadata = filled(
        author=authors,
        doi=next((_words(at) for at in children(meta, "article-id") if at.get("pub-id-type") == "doi"), ""),
        journal=_words(next(descendants(journal, "journal-title"), None)),
        issuer=_words(next(descendants(journal, "publisher-name"), None)),
        published=_date(meta),
        keywords=tuple(filter(None, map(_words, descendants(meta, "kwd")))),
        lang=root.get("{http://www.w3.org/XML/1998/namespace}lang"),
    )
    return Described(title, metadata)


class _Reader:
    """Yields the pieces of an article, with their paths as places."""

    def __init__(self, root: Element) -> None:
        self._path = root.getroottree().getpath

    def article(self, root: Element, meta: Element, title: str, authors: tuple[str, ...]) -> Iterator[Piece]:
        if title:
            yield Piece(BlockKind.HEADING, title, 1, place=self._path(meta))
        yield Piece(BlockKind.PARAGRAPH, ", ".join(authors), place=self._path(meta))
        affiliations = [_affiliation(node) for node in descendants(meta, "aff")]
        yield Piece(BlockKind.PARAGRAPH, "; ".join(filter(None, affiliations)), place=self._path(meta))
        for abstract in children(meta, "abstract"):
            yield Piece(
                BlockKind.HEADING, _words(child(abstract, "title")) or "Abstract", 2, place=self._path(abstract)
            )
            yield from self.inside(abstract, 2)
        yield from self.inside(child(root, "body"), 1)
        yield from self.inside(child(root, "back"), 1)
        # Tables and figures may be gathered behind the text.
        yield from self.inside(child(root, "floats-group"), 1)

    def inside(self, node: Element | None, level: int, depth: int = 0) -> Iterator[Piece]:
        if node is None:
            return
        if depth > _DEEPEST:
            raise BrokenDocumentError("The sections or lists are nested too deeply to be read whole.")
        for part in node:
            tag = local(part)
            if not tag or tag in _SKIPPED:
                continue
            yield from self._part(part, tag, level, depth + 1)

    def _part(self, part: Element, tag: str, level: int, depth: int) -> Iterator[Piece]:
        place = self._path(part)
        if tag in {"sec", "ack", "app", "ref-list", "glossary", "notes", "fn-group"}:
            heading = _words(child(part, "title")) or {"ack": "Acknowledgments", "ref-list": "References"}.get(tag, "")
            if heading:
                yield Piece(BlockKind.HEADING, heading, level + 1, place=place)
            if tag == "ref-list":
                yield Piece(BlockKind.LIST, "\n".join(_references(part)), place=place)
            else:
                yield from self.inside(part, level + (1 if heading else 0), depth)
        elif tag == "p":
            yield from self._paragraph(part, level, depth)
        elif tag in {"list", "def-list"}:
            yield Piece(BlockKind.LIST, "\n".join(_items(part, 0)), place=place)
        elif tag == "table-wrap":
            yield from self._table(part)
        elif tag in {"fig", "fig-group"}:
            yield Piece(BlockKind.CAPTION, _captioned(part), place=place)
            yield from (Piece(BlockKind.CAPTION, _captioned(at), place=self._path(at)) for at in children(part, "fig"))
        elif tag in {"disp-formula", "code", "disp-quote", "fn"}:
            yield _leaf(part, tag, place)
        else:
            yield from (
                self.inside(part, level, depth)
                if len(part)
                else iter((Piece(BlockKind.PARAGRAPH, _words(part), place=place),))
            )

    def _paragraph(self, part: Element, level: int, depth: int) -> Iterator[Piece]:
        """Yield a paragraph's text, and what stands in it but is a block of its own."""
        inner = [node for node in part.iter() if local(node) in _INLINE_BLOCKS]
        outer = [node for node in inner if not any(above in inner for above in node.iterancestors())]
        yield Piece(BlockKind.PARAGRAPH, squeeze(_text_without(part, set(outer))), place=self._path(part))
        for node in outer:
            yield from self._part(node, local(node), level, depth)

    def _table(self, wrap: Element) -> Iterator[Piece]:
        yield Piece(BlockKind.CAPTION, _captioned(wrap), place=self._path(wrap))
        for table in descendants(wrap, "table"):
            rows = [
                [_cell(cell, local(row.getparent()) == "thead") for cell in row if local(cell) in {"td", "th"}]
                for row in descendants(table, "tr")
            ]
            yield from table_piece(table_of(rows), place=self._path(table))
        for foot in children(wrap, "table-wrap-foot"):
            yield Piece(BlockKind.FOOTNOTE, _words(foot), place=self._path(foot))


def _leaf(part: Element, tag: str, place: str) -> Piece:
    if tag == "disp-formula":
        tex = next(descendants(part, "tex-math"), None)
        text = "".join(tex.itertext()).strip() if tex is not None else _words(part)
        return Piece(BlockKind.FORMULA, text, place=place, syntax="latex" if tex is not None else "")
    if tag == "code":
        return Piece(BlockKind.CODE, "".join(part.itertext()), place=place, syntax=part.get("language", ""))
    kind = BlockKind.FOOTNOTE if tag == "fn" else BlockKind.QUOTE
    return Piece(kind, _words(part), place=place)


def _text_without(node: Element, left_out: set[Element]) -> str:
    parts = [node.text or ""]
    for part in node:
        if part not in left_out and local(part):
            parts.append(_text_without(part, left_out))
        parts.append(part.tail or "")
    return "".join(parts)


def _words(node: Element | None) -> str:
    return squeeze("".join(node.itertext())) if node is not None else ""


def _captioned(node: Element) -> str:
    caption = child(node, "caption")
    parts = [_words(part) for part in caption] if caption is not None else []
    return " ".join(filter(None, [_words(child(node, "label")), *parts]))


def _items(node: Element, depth: int) -> list[str]:
    lines = []
    ordered = (node.get("list-type") or "").startswith(("order", "alpha", "roman"))
    for number, item in enumerate((at for at in node if local(at) in {"list-item", "def-item"}), 1):
        label = _words(child(item, "label"))
        marker = label or (f"{number}." if ordered else "-")
        inner = [part for part in item if local(part) in {"list", "def-list"}]
        nested = [at for part in item for at in part.iter() if local(at) in {"list", "def-list"}]
        text = squeeze(_text_without(item, {*inner, *nested, *children(item, "label")}))
        lines.append(f"{'  ' * depth}{marker} {text}")
        for part in nested[:1] if depth < _DEEPEST else ():
            lines.extend(_items(part, depth + 1))
    return lines


def _references(node: Element) -> Iterator[str]:
    for ref in descendants(node, "ref"):
        label = _words(child(ref, "label"))
        text = squeeze(_text_without(ref, set(children(ref, "label"))))
        if text:
            yield f"{label.rstrip('.')}. {text}" if label and label.rstrip(".").isdigit() else f"- {text}"


def _cell(cell: Element, in_head: bool) -> Cell:
    rows, columns = number_of(cell.get("rowspan"), 1), number_of(cell.get("colspan"), 1)
    return Cell(_words(cell), rows, columns, local(cell) == "th" or in_head)


def _contributors(meta: Element) -> Iterator[Element]:
    for group in children(meta, "contrib-group"):
        yield from (at for at in children(group, "contrib") if at.get("contrib-type", "author") == "author")


def _person(contributor: Element) -> str:
    name = next(descendants(contributor, "name"), None)
    if name is None:
        collective = next((at for at in contributor.iter() if local(at) in {"collab", "string-name"}), None)
        return _words(collective)
    given, surname = _words(child(name, "given-names")), _words(child(name, "surname"))
    # Eastern names are written with the surname first, and without a blank.
    return f"{surname}{given}" if name.get("name-style") == "eastern" else f"{given} {surname}".strip()


def _affiliation(node: Element) -> str:
    return squeeze(_text_without(node, set(children(node, "label")))).strip(" ,;")


def _date(meta: Element) -> str:
    for node in children(meta, "pub-date"):
        parts = [number_of(_words(child(node, name))) for name in ("year", "month", "day")]
        kept = [f"{part:02d}" for part in parts[1:]] if all(parts) else [f"{parts[1]:02d}"] if parts[1] else []
        if parts[0]:
            return "-".join([str(parts[0]), *kept])
    return ""
