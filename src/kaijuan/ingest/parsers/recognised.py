"""Recognised lines of a page as runs: set upright for finding the reading order, and carried back to the page as shown.

Scans lie on their side, stand on their head, or are a degree or two out of true; a column of vertical Japanese reads
like a line turned to the right. All of them become upright runs in a frame of their own; what is kept of a line in the
end is its place on the page as it is shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from kaijuan.core.documents import PageBox, ParsedDocument, TextLine
from kaijuan.core.packed_lines import packed
from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.ports import RecognisedLine

_SIZE_SHARE = 0.75
"""A line's box is higher than its font's size by about this much: ascent, descent and the network's margin."""
_ALIKE = 1.25
"""Lines of one size differ so much by what letters are in them."""
_TRUE = 0.002
_MOST_TILT = 0.3
"""Radians. Less than the first needs no mending; more than the second is no page out of true."""
_LONG = 6
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """How the upright frame of a page lies on the page as shown. Lengths in points."""

    width: float
    height: float
    """Of the page as shown."""
    turn: int = 0
    """Quarter turns, clockwise, by which its lines are turned on the page."""
    tilt: float = 0.0
    """Radians, clockwise, by which they are out of true besides."""
    unit: float = 1.0
    """How many of the units of the page's boxes a point is."""

    @property
    def size(self) -> Point:
        """Return width and height of the upright frame."""
        return (self.height, self.width) if self.turn % 2 else (self.width, self.height)

    @property
    def shown(self) -> Point:
        """Return width and height of the page as shown, in the units of its boxes."""
        return round(self.width * self.unit, 1), round(self.height * self.unit, 1)

    def inward(self, point: Point) -> Point:
        """Return where a point of the page lies in the frame."""
        x, y = point
        width, height = self.width, self.height
        turned = ((x, y), (y, width - x), (width - x, height - y), (height - y, x))[self.turn]
        return self._tilted(turned, -self.tilt)

    def outward(self, point: Point) -> Point:
        """Return where a point of the frame lies on the page."""
        x, y = self._tilted(point, self.tilt)
        width, height = self.width, self.height
        return ((x, y), (width - y, x), (width - x, height - y), (y, height - x))[self.turn]

    def _tilted(self, point: Point, angle: float) -> Point:
        if not angle:
            return point
        middle_x, middle_y = (side / 2 for side in self.size)
        x, y = point[0] - middle_x, point[1] - middle_y
        cos, sin = math.cos(angle), math.sin(angle)
        return middle_x + x * cos - y * sin, middle_y + x * sin + y * cos

    def placed(self, line: TextLine) -> TextLine:
        """Return a line of the frame as it stands on the page; characters keep places of their own if it is level."""
        box = line.box
        corners = [self.outward((x, y)) for x in (box.x0, box.x1) for y in (box.y0, box.y1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        middle = (box.y0 + box.y1) / 2
        edges = [self.outward((edge, middle))[0] for edge in line.edges] if self.turn == 0 else []
        return TextLine(
            span=line.span,
            box=PageBox(
                page=box.page,
                x0=self._unit(min(xs), self.width),
                y0=self._unit(min(ys), self.height),
                x1=self._unit(max(xs), self.width),
                y1=self._unit(max(ys), self.height),
            ),
            edges=tuple(self._unit(edge, self.width) for edge in edges),
        )

    def _unit(self, value: float, most: float) -> float:
        return round(min(max(value, 0.0), most) * self.unit, 1)


def runs_of(lines: Sequence[RecognisedLine], *, width: float, height: float, scale: float) -> tuple[list[Run], Frame]:
    """Return the runs of a page of `width` by `height` points in their upright frame. `scale` is points a dot."""
    shown = [_Shown(line, [(x * scale, y * scale) for x, y in line.corners]) for line in lines if line.text.strip()]
    frame = _frame(shown, width, height)
    runs = [_run(line, frame) for line in shown]
    _settle(runs)
    return runs, frame


@dataclass(frozen=True, slots=True)
class _Shown:
    line: RecognisedLine
    corners: list[Point]

    @property
    def angle(self) -> float:
        """Return the direction of reading, radians clockwise from rightwards, from 0 to 2 pi."""
        (x0, y0), (x1, y1) = self.corners[:2]
        return math.atan2(y1 - y0, x1 - x0) % (2 * math.pi)

    @property
    def turn(self) -> int:
        return round(self.angle / (math.pi / 2)) % 4


def _frame(shown: Sequence[_Shown], width: float, height: float) -> Frame:
    turns: Counter[int] = Counter()
    for found in shown:
        turns[found.turn] += len(found.line.text)
    turn = max(turns, key=lambda key: (turns[key], -key)) if turns else 0
    tilts = [
        (found.angle - turn * math.pi / 2 + math.pi) % (2 * math.pi) - math.pi
        for found in shown
        if found.turn == turn and len(found.line.text) >= _LONG
    ]
    tilt = median(tilts) if tilts else 0.0
    return Frame(width=width, height=height, turn=turn, tilt=tilt if _TRUE < abs(tilt) < _MOST_TILT else 0.0)


def _run(shown: _Shown, frame: Frame) -> Run:
    line = shown.line
    corners = [frame.inward(corner) for corner in shown.corners]
    across, down = frame.size
    upright = shown.turn == frame.turn
    if upright:
        left, right = (corners[0][0] + corners[3][0]) / 2, (corners[1][0] + corners[2][0]) / 2
        top, bottom = (corners[0][1] + corners[1][1]) / 2, (corners[2][1] + corners[3][1]) / 2
    else:
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        top, bottom = min(y for _, y in corners), max(y for _, y in corners)
    left, right = max(left, 0.0), min(max(right, left + 0.1), across)
    shares = line.edges or [place / len(line.text) for place in range(len(line.text) + 1)]
    edges = [left + (right - left) * share for share in shares]
    return Run(
        chars=list(line.text),
        lefts=edges[:-1],
        rights=edges[1:],
        x0=edges[0] if upright else left,
        y0=max(top, 0.0),
        x1=max(edges[-1], edges[0] + 0.1) if upright else right,
        y1=min(max(bottom, top + 0.1), down),
        size=(bottom - top if upright else right - left) * _SIZE_SHARE,
        bold=False,
        upright=upright,
        downward=(shown.turn - frame.turn) % 4 == 1,
        confidence=line.confidence,
        recognised=True,
    )


def _settle(runs: Sequence[Run]) -> None:
    """Give lines that are about as high as each other one size: a line of small letters has no smaller font."""
    left = sorted((run for run in runs if run.upright), key=lambda run: run.size)
    while left:
        middle = _weighted_middle(left)
        alike = [run for run in left if middle / _ALIKE <= run.size <= middle * _ALIKE]
        left = [run for run in left if not middle / _ALIKE <= run.size <= middle * _ALIKE]
        for run in alike:
            run.size = round(middle * 2) / 2 or middle


def _weighted_middle(runs: Sequence[Run]) -> float:
    half = sum(len(run.chars) for run in runs) / 2
    counted = 0
    for run in runs:
        counted += len(run.chars)
        if counted >= half:
            return run.size
    return runs[-1].size


def as_shown(parsed: ParsedDocument, frames: Mapping[int, Frame]) -> ParsedDocument:
    """Return the document with the lines of recognised pages where they stand on the page as shown."""
    if not frames:
        return parsed
    return replace(
        parsed,
        blocks=tuple(replace(block, lines=packed(_shown_lines(block.lines, frames))) for block in parsed.blocks),
    )


def _shown_lines(lines: Iterable[TextLine], frames: Mapping[int, Frame]) -> Iterable[TextLine]:
    for line in lines:
        frame = frames.get(line.box.page)
        yield line if frame is None else frame.placed(line)
