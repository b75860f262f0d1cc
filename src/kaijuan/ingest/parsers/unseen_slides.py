"""What a slide holds and does not show: tiny text, text outside the slide, white text where nothing is painted."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.ingest.parsers.opc import Element, child, descendants, local, number_of, value_of

_TINY = 200
"""Hundredths of a point."""
_GROUNDS = frozenset({"bg1", "lt1"})
_FILLS = frozenset({"solidFill", "gradFill", "blipFill", "pattFill", "grpFill"})


def unseen_on_slide(root: Element, width: int, height: int) -> Iterator[str]:
    """Yield the hidden text of each shape. White counts only on slides without fills, pictures and a ground."""
    bare = child(root, "cSld", "bg") is None and not any(
        local(node) in {"pic", "graphicFrame"} or (local(node) in _FILLS and local(node.getparent()) == "spPr")
        for node in root.iter()
    )
    for shape in descendants(root, "sp"):
        outside = _is_outside(shape, width, height)
        runs = [node for node in descendants(shape, "r") if outside or _is_hidden(node, bare)]
        yield "".join(text.text or "" for run in runs for text in descendants(run, "t"))


def _is_hidden(run: Element, bare: bool) -> bool:
    properties = child(run, "rPr")
    if 0 < number_of(value_of(properties, "sz")) <= _TINY:
        return True
    fill = child(properties, "solidFill")
    if not bare or fill is None:
        return False
    named, coded = child(fill, "schemeClr"), child(fill, "srgbClr")
    return value_of(named) in _GROUNDS or value_of(coded).upper() == "FFFFFF"


def _is_outside(shape: Element, width: int, height: int) -> bool:
    place = child(shape, "spPr", "xfrm")
    start, size = child(place, "off"), child(place, "ext")
    if start is None or size is None or not width or not height:
        return False
    left, top = number_of(value_of(start, "x")), number_of(value_of(start, "y"))
    right, bottom = left + number_of(value_of(size, "cx")), top + number_of(value_of(size, "cy"))
    return left >= width or top >= height or right <= 0 or bottom <= 0
