"""What the shapes of a slide inherit from its layout and master: places, and the marks of lists."""

from __future__ import annotations

from collections.abc import Iterator

from kaijuan.ingest.parsers.opc import Element, Package, child, descendants, local, number_of, value_of
from kaijuan.ingest.parsers.pptx_text import Paragraph

_BODIES = frozenset({"body", "obj", "subTitle", "half", "chart", "tbl", "clipArt", "dgm", "media", "pic"})
Box = tuple[float, float, float, float]
"""Left, top, right, bottom in the units of the file (EMU)."""


def box_of(shape: Element) -> Box | None:
    """Return where a shape says that it stands."""
    frame = child(shape, "spPr", "xfrm")
    frame = child(shape, "xfrm") if frame is None else frame
    start, size = child(frame, "off"), child(frame, "ext")
    if start is None or size is None:
        return None
    left, top = number_of(start.get("x")), number_of(start.get("y"))
    return left, top, left + number_of(size.get("cx")), top + number_of(size.get("cy"))


def moved(box: Box, group: Element) -> Box:
    """Return a box inside a group as it stands outside of it."""
    frame = child(group, "grpSpPr", "xfrm")
    parts = [child(frame, name) for name in ("off", "ext", "chOff", "chExt")]
    if any(part is None for part in parts):
        return box
    (x, y), (width, height), (inner_x, inner_y), (inner_width, inner_height) = (
        (
            number_of(value_of(part, "x" if at % 2 == 0 else "cx")),
            number_of(value_of(part, "y" if at % 2 == 0 else "cy")),
        )
        for at, part in enumerate(parts)
    )
    across, down = width / (inner_width or 1), height / (inner_height or 1)
    left, top, right, bottom = box
    return (
        x + (left - inner_x) * across,
        y + (top - inner_y) * down,
        x + (right - inner_x) * across,
        y + (bottom - inner_y) * down,
    )


class Layouts:
    """What slides inherit: the shapes of their layout and of its master, and the master's styles."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._chains: dict[str, list[Element]] = {}

    def box(self, part: str, shape: Element) -> Box | None:
        """Return where a placeholder stands by its layout or master, None when neither says."""
        return next((box for twin in self._twins(part, shape) if (box := box_of(twin))), None)

    def _twins(self, part: str, shape: Element) -> Iterator[Element]:
        mark = next(descendants(shape, "ph"), None)
        for root in self._chain(part) if mark is not None else ():
            for twin in descendants(child(root, "cSld", "spTree"), "sp"):
                if _is_twin(mark, next(descendants(twin, "ph"), None)):
                    yield twin

    def bullet(self, part: str, shape: Element, paragraph: Paragraph, kind: str | None) -> Element | None:
        """Return what marks a paragraph of a shape as an item: its own word, else the nearest inherited one."""
        for properties in self._properties(part, shape, paragraph, kind):
            for at in properties if properties is not None else ():
                if local(at) in {"buNone", "buChar", "buAutoNum", "buBlip"}:
                    return at
        return None

    def _properties(
        self, part: str, shape: Element, paragraph: Paragraph, kind: str | None
    ) -> Iterator[Element | None]:
        level = f"lvl{paragraph.level + 1}pPr"
        yield paragraph.properties
        yield child(shape, "txBody", "lstStyle", level)
        if kind is None:
            return
        for twin in self._twins(part, shape):
            yield child(twin, "txBody", "lstStyle", level)
        chain = self._chain(part)
        if chain and kind in _BODIES:
            yield child(chain[-1], "txStyles", "bodyStyle", level)

    def _chain(self, part: str) -> list[Element]:
        """Return the layout of a slide and the master of that, read once."""
        layouts = self._package.related(part, "slideLayout")
        key = layouts[0] if layouts else ""
        if key not in self._chains:
            masters = self._package.related(key, "slideMaster") if key else []
            self._chains[key] = [self._package.xml(at) for at in (*layouts[:1], *masters[:1])]
        return self._chains[key]


def _is_twin(mark: Element | None, other: Element | None) -> bool:
    """Say whether two placeholders are one on two levels: the same number, or the same kind."""
    if mark is None or other is None:
        return False
    index, other_index = value_of(mark, "idx"), value_of(other, "idx")
    if index and other_index:
        return index == other_index
    return value_of(mark, "type", "obj") == value_of(other, "type", "obj")
