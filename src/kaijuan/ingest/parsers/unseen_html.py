"""What a web page holds and does not show, as far as its own tree tells. Style sheets are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Element = Any  # lxml has no types of its own

_NOT_SHOWN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0*\s*(?:;|$)"
    r"|font-size\s*:\s*(?:0|0?\.\d+|1)\s*(?:px|pt|em|rem|%)?\s*(?:;|!|$)"
    r"|(?:text-indent|left|top|margin-left)\s*:\s*-\d{4,}",
    re.I,
)
_WHITE = r"(?:#f{3}(?:f{3})?|white|rgba?\(\s*255\s*,\s*255\s*,\s*255\s*(?:,\s*1(?:\.0)?\s*)?\)|transparent)"
_WHITE_TEXT = re.compile(rf"(?:^|;)\s*color\s*:\s*{_WHITE}\s*(?:;|!|$)", re.I)
_GROUND = re.compile(r"background(?:-color|-image)?\s*:\s*([^;]+)", re.I)
_WHITE_GROUND = re.compile(rf"\s*{_WHITE}\b", re.I)
_CANDIDATES = "//*[@style or @hidden or self::font[@color]]"
_NO_WORDS = frozenset({"script", "style", "template"})


def unseen_in_page(root: Element) -> Iterator[str]:
    """Yield the text of each element that is hidden by its own attributes, the outer one where they are nested."""
    last: Element | None = None
    for node in root.xpath(_CANDIDATES):
        if node.tag in _NO_WORDS or (last is not None and _is_below(node, last)):
            continue
        if _is_hidden(node):
            last = node
            yield " ".join(_words(node))


def _is_hidden(node: Element) -> bool:
    style = node.get("style") or ""
    if node.get("hidden") is not None or _NOT_SHOWN.search(style):
        return True
    white = _WHITE_TEXT.search(style) or re.fullmatch(_WHITE, (node.get("color") or "").strip(), re.I)
    return bool(white) and _on_white(node)


def _on_white(node: Element) -> bool:
    """Say whether nothing in the tree paints the ground behind an element in another colour."""
    at: Element | None = node
    while at is not None:
        ground = _GROUND.search(at.get("style") or "")
        painted = at.get("bgcolor") or at.get("background") or (ground[1] if ground else "")
        if painted:
            return bool(_WHITE_GROUND.match(painted))
        if at is not node and at.get("class") and at.tag not in {"html", "body"}:
            return False  # a style sheet may paint it
        at = at.getparent()
    return True


def _words(node: Element) -> Iterator[str]:
    for text in node.itertext():
        parent = text.getparent() if hasattr(text, "getparent") else None
        if parent is None or parent.tag not in _NO_WORDS:
            yield str(text)


def _is_below(node: Element, outer: Element) -> bool:
    return any(above is outer for above in node.iterancestors())
