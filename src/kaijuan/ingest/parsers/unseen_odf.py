"""What an OpenDocument text holds and does not show: text not displayed, white on no ground, or tiny."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.ingest.parsers.odf_styles import Styles
from kaijuan.ingest.parsers.opc import Element, child, descendants, local, value_of

_LENGTH = re.compile(r"([\d.]+)\s*(pt|in|cm|mm|px)")
_POINTS = {"pt": 1.0, "in": 72.0, "cm": 72 / 2.54, "mm": 72 / 25.4, "px": 0.75}
_LEAST = 2.0
"""Points from which text counts as meant to be read."""
_TEXTS = ("p", "h")


def unseen_in(body: Element, styles: Styles) -> Iterator[str]:
    """Yield what is hidden of each paragraph that hides something."""
    for name in _TEXTS:
        for paragraph in descendants(body, name):
            if parts := list(_hidden_in(paragraph, styles)):
                yield "".join(parts)


def _hidden_in(paragraph: Element, styles: Styles) -> Iterator[str]:
    own = value_of(paragraph, "style-name")
    if _hides(styles, (own,), paragraph):
        yield "".join(paragraph.itertext())
        return
    for span in descendants(paragraph, "span"):
        if _hides(styles, (value_of(span, "style-name"), own), paragraph):
            yield "".join(span.itertext())


def _hides(styles: Styles, names: tuple[str, ...], paragraph: Element) -> bool:
    if _said(styles, names, "display") == "none":
        return True
    if 0 < _points(_said(styles, names, "font-size")) < _LEAST:
        return True
    return _said(styles, names, "color").lower() == "#ffffff" and not _is_painted(styles, names, paragraph)


def _said(styles: Styles, names: tuple[str, ...], attribute: str) -> str:
    """Return what the nearest style says of the text, "" where none says anything."""
    for name in names:
        for style in styles.chain(name):
            if said := value_of(child(style, "text-properties"), attribute):
                return said
    return ""


def _is_painted(styles: Styles, names: tuple[str, ...], paragraph: Element) -> bool:
    """Say whether the text, or a cell, frame or section around it, may have a ground on which white can be read."""
    if any(_paints(styles, name) for name in names):
        return True
    for above in paragraph.iterancestors():
        if local(above) in {"frame", "custom-shape", "text-box", "page"}:
            return True  # drawn shapes and slides are mostly painted
        if local(above) in {"table-cell", "table-row", "table", "section"} and _paints(
            styles, value_of(above, "style-name")
        ):
            return True
    return False


def _paints(styles: Styles, name: str) -> bool:
    grounds = (
        value_of(node, attribute)
        for style in styles.chain(name)
        for node in style
        for attribute in ("background-color", "fill-color")
    )
    return any(ground and ground.lower() not in {"transparent", "#ffffff"} for ground in grounds)


def _points(length: str) -> float:
    found = _LENGTH.fullmatch(length.strip())
    return float(found[1]) * _POINTS[found[2]] if found and found[1].count(".") < 2 else 0.0
