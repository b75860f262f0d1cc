"""Figures of a PDF page: the drawing or picture next to a caption, and the labels that stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kaijuan.ingest.parsers.pdf_graphics import Box, Graphics
from kaijuan.ingest.parsers.pdf_lines import CAPTION, Line

_OF_FIGURE = re.compile(r"figure|fig|图|圖", re.I)
_CELL = 12.0
"""Width of the squares, in points, in which the page is looked at: what touches the same or the next one is one."""
_LEAST_WIDTH, _LEAST_HEIGHT = 48.0, 30.0
_MOST_GAP = 48.0
_MARGIN = 6.0
_LONG_LABEL = 60
_PAGE_SHARE = 0.9

Square = tuple[int, int]


def mark_figures(lines: Sequence[Line], graphics: Graphics) -> None:
    """Tell the captions of figures where their figure stands, and the lines in a figure that they are its labels."""
    captions = [line for line in lines if line.table is None and CAPTION.match(line.text)]
    captions = [line for line in captions if _OF_FIGURE.match(line.text)]
    if not captions or not (graphics.pictures or graphics.drawn):
        return
    left = list(_drawings(graphics))
    for nearest in (_above, _below):
        for caption in captions:
            box = nearest(caption, left) if caption.caption_of is None else None
            if box is None:
                continue
            left.remove(box)
            caption.caption_of = box
            for line in lines:
                if line is not caption and line.table is None and _is_label(line, box):
                    line.figure = box


def _drawings(graphics: Graphics) -> Iterator[Box]:
    """Yield the boxes of what is drawn together."""
    boxes = [*graphics.pictures, *graphics.drawn]
    boxes += [(rule.start, rule.at, rule.end, rule.at) for rule in graphics.lying]
    boxes += [(rule.at, rule.start, rule.at, rule.end) for rule in graphics.standing]
    right, bottom = max(box[2] for box in boxes), max(box[3] for box in boxes)
    boxes = [box for box in boxes if (box[2] - box[0]) * (box[3] - box[1]) < _PAGE_SHARE * right * bottom]
    held: dict[Square, list[int]] = {}
    for number, box in enumerate(boxes):
        for square in _squares(box):
            held.setdefault(square, []).append(number)
    seen: set[Square] = set()
    for square in held:
        if square in seen:
            continue
        members = _reached(square, held, seen)
        found = [boxes[number] for number in members]
        x0, y0 = min(box[0] for box in found), min(box[1] for box in found)
        x1, y1 = max(box[2] for box in found), max(box[3] for box in found)
        if x1 - x0 >= _LEAST_WIDTH and y1 - y0 >= _LEAST_HEIGHT:
            yield x0, y0, x1, y1


def _squares(box: Box) -> Iterator[Square]:
    for column in range(int(box[0] // _CELL), int(box[2] // _CELL) + 1):
        for row in range(int(box[1] // _CELL), int(box[3] // _CELL) + 1):
            yield column, row


def _reached(start: Square, held: dict[Square, list[int]], seen: set[Square]) -> set[int]:
    members: set[int] = set()
    waiting = [start]
    seen.add(start)
    while waiting:
        column, row = waiting.pop()
        members.update(held[column, row])
        for near in ((column + a, row + b) for a in (-1, 0, 1) for b in (-1, 0, 1)):
            if near in held and near not in seen:
                seen.add(near)
                waiting.append(near)
    return members


def _above(caption: Line, boxes: Sequence[Box]) -> Box | None:
    near = [box for box in _over(caption, boxes) if -_MARGIN <= caption.y0 - box[3] <= _MOST_GAP]
    return max(near, key=lambda box: box[3], default=None)


def _below(caption: Line, boxes: Sequence[Box]) -> Box | None:
    near = [box for box in _over(caption, boxes) if -_MARGIN <= box[1] - caption.y1 <= _MOST_GAP]
    return min(near, key=lambda box: box[1], default=None)


def _over(caption: Line, boxes: Sequence[Box]) -> list[Box]:
    return [box for box in boxes if min(box[2], caption.x1) - max(box[0], caption.x0) > 0]


def _is_label(line: Line, box: Box) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    inside = box[0] - _MARGIN <= x <= box[2] + _MARGIN and box[1] - _MARGIN <= y <= box[3] + _MARGIN
    return inside and len(line.text) <= _LONG_LABEL and not CAPTION.match(line.text)


def place_of(page: int, box: Box) -> str:
    """Return the place of a figure in words: the page, and its box in points from the top left corner."""
    return f"page {page}, {', '.join(str(round(edge)) for edge in box)}"
