"""What the style of a Word paragraph means: heading level, list, quote, code, caption. English and Chinese names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kaijuan.ingest.parsers.docx_numbering import W, value_of

_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre)\s*([1-9])(?!\d)", re.I)
_ROLES = (
    ("title", re.compile(r"^(?:title|标题|標題|文档标题)$", re.I)),
    ("contents", re.compile(r"^(?:toc|目录|目錄)\b|^table of figures|^图表目录", re.I)),
    ("caption", re.compile(r"^(?:caption|题注|標號)$", re.I)),
    ("quote", re.compile(r"^(?:intense )?quote$|引用$", re.I)),
    ("code", re.compile(r"^(?:html preformatted|source code|code|代码|源代码)", re.I)),
)
_DEEPEST_CHAIN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """A paragraph style with all it inherits."""

    level: int = 0
    role: str = ""
    number: str = ""
    depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What one paragraph is."""

    level: int
    role: str
    number: str
    depth: int


class Styles:
    """The styles of a document, by id."""

    def __init__(self, root: Any | None) -> None:
        nodes = root.findall(f"{W}style") if root is not None else []
        self._nodes = {node.get(f"{W}styleId", ""): node for node in nodes}
        self._known: dict[str, Style] = {}
        self._default = next(
            (
                node.get(f"{W}styleId", "")
                for node in nodes
                if node.get(f"{W}default") == "1" and node.get(f"{W}type") == "paragraph"
            ),
            "",
        )

    def shape_of(self, paragraph: Any) -> Shape:
        """Return what a `w:p` is; its own settings win over its style's."""
        own = paragraph.find(f"{W}pPr")
        style_id = value_of(own.find(f"{W}pStyle")) if own is not None else ""
        style = self._style(style_id or self._default)
        level = _outline(own) if own is not None and own.find(f"{W}outlineLvl") is not None else style.level
        number, depth = _numbering(own)
        if number is None:
            number = style.number
        return Shape(
            level=level, role=style.role, number="" if number == "0" else number, depth=_first(depth, style.depth)
        )

    def _style(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._inherit(style_id)
        return self._known[style_id]

    def _inherit(self, style_id: str) -> Style:
        level, role, number, depth = 0, "", None, None
        settled = False
        for _ in range(_DEEPEST_CHAIN):  # a style may, in a broken file, be based on itself
            node = self._nodes.get(style_id)
            if node is None:
                break
            name = value_of(node.find(f"{W}name"))
            own = node.find(f"{W}pPr")
            if not settled:
                level, role, settled = _meaning(name, own)
            found, at = _numbering(own)
            number = found if number is None else number
            depth = at if depth is None else depth
            style_id = value_of(node.find(f"{W}basedOn"))
        return Style(level=level, role=role, number=number or "", depth=depth)


def _meaning(name: str, own: Any | None) -> tuple[int, str, bool]:
    if found := _HEADING.match(name):
        return int(found[1]), "", True
    role = next((role for role, pattern in _ROLES if pattern.search(name)), "")
    if role:
        return 0, role, True
    if own is not None and own.find(f"{W}outlineLvl") is not None:
        return _outline(own), "", True
    return 0, "", False


def _outline(own: Any) -> int:
    text = value_of(own.find(f"{W}outlineLvl"))
    return int(text) + 1 if text.isdigit() and int(text) < 9 else 0


def _numbering(own: Any | None) -> tuple[str | None, int | None]:
    if own is None or (node := own.find(f"{W}numPr")) is None:
        return None, None
    depth = value_of(node.find(f"{W}ilvl"))
    number = node.find(f"{W}numId")
    return (None if number is None else value_of(number)), (int(depth) if depth.isdigit() else None)


def _first(*values: int | None) -> int:
    return next((min(value, 8) for value in values if value is not None), 0)
