"""HTML pages without navigation, advertising and scripts, hierarchy kept. The block mapping is in html_blocks.py."""

from __future__ import annotations

import re
from typing import Any

from kaijuan.core.documents import BlockKind, ParsedDocument, Scalar
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.parsers.draft import Draft
from kaijuan.ingest.parsers.html_blocks import path_in, pieces_of
from kaijuan.ingest.parsers.html_tree import tree_of
from kaijuan.ingest.parsers.pieces import Piece, write_pieces
from kaijuan.ingest.parsers.unseen import with_hidden
from kaijuan.ingest.parsers.unseen_html import unseen_in_page

_DECLARED = re.compile(
    rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I
)
_FURNITURE_ROLES = frozenset(
    {"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog"}
)
_FURNITURE_TAGS = frozenset({"nav", "aside", "footer", "menu", "search"})
_FURNITURE_WORDS = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navbox|navigation|breadcrumbs?|cookies?|advert\w*|ads?|sidebar|share|sharing|social|"
    r"pagination|related|newsletter|subscribe|popup|modal|skip-link|jump-link|editsection|noprint|headerlink|"
    r"comments?|footer|navheader|navfooter|interlanguage|dropdown)(?:$|[\s_-])",
    re.I,
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_MAIN_SHARE = 0.3
_FURNITURE_SHARE = 0.4
"""An element that holds more of the page's text than this is content, whatever it is called."""


class HtmlParser:
    """Parser of kind "html"."""

    def parse(self, data: bytes, name: str) -> ParsedDocument:
        """Return the blocks of the page's main part; title, language, author and description become metadata."""
        found = _DECLARED.search(data[:8192])
        decoded = decode(data, declared=found[1].decode("ascii", "replace") if found else "")
        root = tree_of(decoded.text)
        pieces = _main_pieces(root)
        draft = Draft()
        write_pieces(draft, pieces)
        metadata = _metadata(root)
        title = _title(root, pieces)
        made = draft.finish("html", name, title=title, metadata=metadata, warnings=decoded.warnings)
        return with_hidden(made, unseen_in_page(root))


def _main_pieces(root: Any) -> list[Piece]:
    body = root.find("body") if root.tag == "html" else root
    body = root if body is None else body
    whole = _length(body)
    path = path_in(root)
    for main in _candidates(body):
        if _length(main) >= whole * _MAIN_SHARE:
            pieces = pieces_of(main, dropped=_Furniture(_length(main)), place_of=path)
            if pieces:
                return pieces
    # A page that is furniture only (a menu kept as a file) is still the document that was asked for.
    return pieces_of(body, dropped=_Furniture(whole), place_of=path) or pieces_of(
        body, dropped=_is_hidden, place_of=path
    )


def _candidates(body: Any) -> list[Any]:
    """Return the elements that call themselves the page's main part, when there is exactly one of a sort."""
    found = []
    for query in (".//main", ".//*[@role='main']", ".//article"):
        nodes = body.xpath(query)
        if len(nodes) == 1:
            found.append(nodes[0])
    return found


class _Furniture:
    """Says which elements are navigation, advertising and the like, on a page with `whole` characters of content."""

    def __init__(self, whole: int) -> None:
        self._most = whole * _FURNITURE_SHARE

    def __call__(self, node: Any) -> bool:
        if _is_hidden(node):
            return True
        tag = node.tag
        if tag in {"header", "form"}:
            return self._is_small(node) and not _has_heading(node)
        named = tag in _FURNITURE_TAGS or (node.get("role") or "").lower() in _FURNITURE_ROLES
        if not named:
            # Headings and inline elements carry such words in ids of their own right ("#related-work").
            words = (
                f"{node.get('class') or ''}" if tag[:1] == "h" else f"{node.get('class') or ''} {node.get('id') or ''}"
            )
            named = tag not in {"html", "body", "main", "article"} and bool(_FURNITURE_WORDS.search(words))
        return named and self._is_small(node)

    def _is_small(self, node: Any) -> bool:
        return _length(node) < self._most


def _is_hidden(node: Any) -> bool:
    if node.get("hidden") is not None or (node.get("aria-hidden") or "").lower() == "true":
        return node.tag not in {"math"}
    return bool(_HIDDEN.search(node.get("style") or ""))


def _has_heading(node: Any) -> bool:
    return any(next(node.iter(tag), None) is not None for tag in ("h1", "h2"))


def _length(node: Any) -> int:
    return sum(
        len(text.strip())
        for text in node.xpath(
            ".//text()[not(parent::script or parent::style or parent::noscript or parent::template)]"
        )
    )


def _title(root: Any, pieces: list[Piece]) -> str:
    """Return the page's title; a heading that its beginning repeats is better, for it lacks the site's name."""
    node = root.find(".//head/title")
    title = " ".join((node.text or "").split()) if node is not None else ""
    for piece in pieces:
        if piece.kind is BlockKind.HEADING and piece.level == 1:
            return piece.text if not title or piece.text in title else title
    return title or _meta(root, "og:title")


def _metadata(root: Any) -> dict[str, Scalar | tuple[str, ...]]:
    values: dict[str, Scalar | tuple[str, ...]] = {}
    for key, names in {
        "author": ("author", "article:author"),
        "description": ("description", "og:description"),
        "published": ("article:published_time", "date", "dc.date"),
        "keywords": ("keywords",),
    }.items():
        if value := next(filter(None, (_meta(root, name) for name in names)), ""):
            values[key] = value
    if language := (root.get("lang") or "").strip():
        values["lang"] = language
    return values


def _meta(root: Any, name: str) -> str:
    for node in root.iter("meta"):
        if (node.get("name") or node.get("property") or "").lower() == name:
            return " ".join((node.get("content") or "").split())
    return ""
