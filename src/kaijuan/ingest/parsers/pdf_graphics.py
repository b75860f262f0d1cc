"""What is drawn on a PDF page beside text: rules, filled areas and pictures, as shown (origin top left, in points)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2.raw as pdfium

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1."""
Place = Callable[[float, float, float, float], Box]
Matrix = tuple[float, float, float, float, float, float]

_MOST_OBJECTS = 20_000
_MOST_SEGMENTS = 400
_DEEPEST = 4
_THIN = 3.0
"""A filled area thinner than this is a rule."""
_SLANT = 1.0
_SAME_LINE = 1.6
"""Rules closer than this many points are one (double rules, cells that draw their own borders)."""
_GAP = 3.0
_SHORTEST = 4.0
_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


@dataclass(slots=True)
class Rule:
    """A straight line along an axis: at `at`, from `start` to `end`."""

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """Return how long it is, in points."""
        return self.end - self.start


@dataclass(slots=True)
class Graphics:
    """Rules that lie and stand, areas with their colour in the order they are painted, and pictures."""

    lying: list[Rule] = field(default_factory=list)
    standing: list[Rule] = field(default_factory=list)
    areas: list[tuple[Box, int]] = field(default_factory=list)
    """Filled areas, colour 0xRRGGBB."""
    pictures: list[Box] = field(default_factory=list)
    drawn: list[Box] = field(default_factory=list)
    """Boxes of paths that are neither rules nor filled rectangles: drawings."""


def graphics_of(page: Any, place: Place) -> Graphics:
    """Return what is drawn on a page; beyond 20,000 objects nothing is looked at (maps, plans)."""
    found = Graphics()
    reader = _Reader(found, place)
    reader.read(page.raw, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, _IDENTITY, 0)
    found.lying = merged(found.lying)
    found.standing = merged(found.standing)
    return found


class _Reader:
    """Walks through objects; what forms hold is moved by the matrices around it."""

    def __init__(self, found: Graphics, place: Place) -> None:
        self._found = found
        self._place = place
        self._left = _MOST_OBJECTS
        self._edges = [ctypes.c_float() for _ in range(4)]
        self._refs = [ctypes.byref(edge) for edge in self._edges]
        self._fill = ctypes.c_int()
        self._stroke = ctypes.c_int()
        self._colour = [ctypes.c_uint() for _ in range(4)]
        self._colour_refs = [ctypes.byref(part) for part in self._colour]

    def read(self, holder: Any, count: Any, get: Any, matrix: Matrix, depth: int) -> None:
        for index in range(count(holder)):
            self._left -= 1
            if self._left < 0:
                return
            shown = get(holder, index)
            kind = pdfium.FPDFPageObj_GetType(shown)
            if kind == pdfium.FPDF_PAGEOBJ_PATH:
                self._path(shown, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_IMAGE:
                self._keep(self._found.pictures, shown, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_SHADING:
                self._keep(self._found.drawn, shown, matrix)
            elif kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
                inner = _times(_matrix_of(shown), matrix)
                self.read(shown, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject, inner, depth + 1)

    def _keep(self, boxes: list[Box], shown: Any, matrix: Matrix) -> None:
        box = self._box(shown, matrix)
        if box is not None:
            boxes.append(box)

    def _box(self, shown: Any, matrix: Matrix) -> Box | None:
        if not pdfium.FPDFPageObj_GetBounds(shown, *self._refs):
            return None
        x0, y0, x1, y1 = (edge.value for edge in self._edges)
        if matrix != _IDENTITY:
            x0, y0, x1, y1 = _moved((x0, y0, x1, y1), matrix)
        return self._place(x0, y0, x1, y1)

    def _path(self, shown: Any, matrix: Matrix) -> None:
        box = self._box(shown, matrix)
        if box is None or not pdfium.FPDFPath_GetDrawMode(shown, self._fill, self._stroke):
            return
        filled = self._fill.value != pdfium.FPDF_FILLMODE_NONE
        stroked = bool(self._stroke.value)
        if not (filled or stroked):
            return  # a clipping path
        width, height = box[2] - box[0], box[3] - box[1]
        if min(width, height) <= _THIN and max(width, height) >= _SHORTEST:
            self._rule(box)
            return
        segments = pdfium.FPDFPath_CountSegments(shown)
        if not 2 <= segments <= _MOST_SEGMENTS:
            self._found.drawn.append(box)
            return
        edges = list(_straight(shown, segments, _times(_matrix_of(shown), matrix)))
        flat = [self._place(*edge) for edge in edges if edge is not None]
        flat = [edge for edge in flat if edge[2] - edge[0] <= _SLANT or edge[3] - edge[1] <= _SLANT]
        if len(flat) < len(edges):
            self._found.drawn.append(box)
        elif stroked:
            for edge in flat:
                self._rule(edge)
        if filled and len(flat) == len(edges) <= 5:
            self._area(shown, box)

    def _area(self, shown: Any, box: Box) -> None:
        if pdfium.FPDFPageObj_GetFillColor(shown, *self._colour_refs) and self._colour[3].value:
            red, green, blue, _ = (part.value for part in self._colour)
            self._found.areas.append((box, red << 16 | green << 8 | blue))
        else:
            self._found.drawn.append(box)  # a pattern: it may show anything

    def _rule(self, box: Box) -> None:
        x0, y0, x1, y1 = box
        if x1 - x0 >= y1 - y0:
            if x1 - x0 >= _SHORTEST:
                self._found.lying.append(Rule((y0 + y1) / 2, x0, x1))
        elif y1 - y0 >= _SHORTEST:
            self._found.standing.append(Rule((x0 + x1) / 2, y0, y1))


def _straight(path: Any, count: int, matrix: Matrix) -> Iterator[Box | None]:
    """Yield the straight edges of a path in page space, None for each curve."""
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = (0.0, 0.0)
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = _point(x.value, y.value, matrix)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield _between(last, point)
        else:
            yield None
        last = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            if last != start:
                yield _between(last, start)
            last = start


def _between(a: tuple[float, float], b: tuple[float, float]) -> Box:
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


def _matrix_of(shown: Any) -> Matrix:
    found = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(shown, found):
        return _IDENTITY
    return found.a, found.b, found.c, found.d, found.e, found.f


def _times(first: Matrix, then: Matrix) -> Matrix:
    if then == _IDENTITY:
        return first
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (
        a * p + b * r,
        a * q + b * s,
        c * p + d * r,
        c * q + d * s,
        e * p + f * r + t,
        e * q + f * s + u,
    )


def _point(x: float, y: float, matrix: Matrix) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _moved(box: Box, matrix: Matrix) -> Box:
    corners = [_point(x, y, matrix) for x in (box[0], box[2]) for y in (box[1], box[3])]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def merged(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules put together where they go on from each other: dashes, borders that every cell draws."""
    groups: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if groups and rule.at - groups[-1][0].at <= _SAME_LINE:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return [rule for group in groups for rule in _joined(group)]


def _joined(group: Sequence[Rule]) -> Iterator[Rule]:
    at = sum(rule.at for rule in group) / len(group)
    last: Rule | None = None
    for rule in sorted(group, key=lambda rule: rule.start):
        if last is not None and rule.start <= last.end + _GAP:
            last.end = max(last.end, rule.end)
            continue
        if last is not None:
            yield last
        last = Rule(at, rule.start, rule.end)
    if last is not None:
        yield last
