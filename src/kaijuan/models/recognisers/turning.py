"""How the lines on a page run: upright, upside down, to either side, or in columns of upright characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
import numpy.typing as npt

from kaijuan.models.recognisers.detecting import Image, Quad, cut_out, sides

UPRIGHT, DOWNWARD, OVER, UPWARD = range(4)
"""Quarter turns clockwise of the direction in which a line is read."""
TALL = 1.5
"""A rectangle so much higher than wide holds a line that does not run across."""
_INK = 0.06
_MOST_CELL = 1.15
_CELL_GAP = 0.08


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A column of upright characters laid out as a line: the line, and the column's share at each end of a cell."""

    line: Image
    places: tuple[tuple[float, float, float, float], ...]
    """For each cell: from and to in the line, from and to in the column, as shares of their lengths."""


def is_tall(quad: Quad) -> bool:
    """Say whether a rectangle is clearly higher than wide."""
    across, down = sides(quad)
    return down > TALL * across


def turned(quad: Quad, turn: int) -> Quad:
    """Return the corners beginning where a line that is turned so begins."""
    return np.roll(quad, -turn, axis=0)


def longest(quads: Sequence[Quad], count: int) -> list[Quad]:
    """Return the longest of some rectangles."""
    return sorted(quads, key=lambda quad: -max(sides(quad)))[:count]


def as_line(image: Image, column: Quad) -> Cells:
    """Lay the characters of a column side by side.

    The network reads lines only; a column of upright characters, turned as a whole, is lying on its side.
    """
    part = cut_out(image, column)
    height, width = part.shape[:2]
    cells = _cells(part)
    gap = max(round(_CELL_GAP * width), 1)
    paper = int(np.median(part))
    total = sum(bottom - top + gap for top, bottom in cells)
    line = np.full((width, total, 3), paper, np.uint8)
    places = []
    at = 0
    for top, bottom in cells:
        size = bottom - top
        # Each keeps its shape: it is as wide as the column, and is laid into a box as long as it is high.
        cell = part[top:bottom]
        shrunk = min(1.0, size / width) if size < width / 2 else 1.0
        across = max(round(width * shrunk), 1)
        line = _widened(line, at + across + gap, paper)
        line[:, at : at + across] = paper
        start = (width - size) // 2 if size <= width else 0
        shown = cell if size <= width else np.asarray(cv2.resize(cell, (width, width)), np.uint8)
        rows = min(shown.shape[0], width)
        left = max((width - across) // 2, 0)
        line[start : start + rows, at : at + across] = shown[:rows, left : left + across]
        places.append((float(at), float(at + across + gap), top / height, bottom / height))
        at += across + gap
    line = line[:, : max(at, 1)]
    return Cells(line=line, places=tuple((a / at, b / at, top, bottom) for a, b, top, bottom in places))


def _widened(line: Image, width: int, paper: int) -> Image:
    if line.shape[1] >= width:
        return line
    more = np.full((line.shape[0], width - line.shape[1], 3), paper, np.uint8)
    return np.concatenate([line, more], axis=1)


def _cells(column: Image) -> list[tuple[int, int]]:
    """Return from which row to which each character of a column stands."""
    width = column.shape[1]
    grey = column.mean(axis=2)
    contrast = np.abs(grey - np.median(grey))
    ink: npt.NDArray[np.bool_] = (contrast > 60).mean(axis=1) > _INK
    edges = np.flatnonzero(np.diff(np.concatenate([[False], ink, [False]]).astype(np.int8)))
    cells: list[tuple[int, int]] = []
    for top, bottom in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if cells and bottom - cells[-1][0] <= _MOST_CELL * width:
            cells[-1] = (cells[-1][0], bottom)  # parts of one character, one over the other
        else:
            cells += _split(top, bottom, width)
    return cells or [(0, column.shape[0])]


def _split(top: int, bottom: int, width: int) -> list[tuple[int, int]]:
    count = max(round((bottom - top) / width), 1)
    marks = [top + (bottom - top) * at // count for at in range(count + 1)]
    return list(pairwise(marks))
