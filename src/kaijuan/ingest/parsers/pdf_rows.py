"""Rows of a ruled table that no rule parts: a band of cells that each hold a column of numbers is several rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from kaijuan.ingest.parsers.pdf_lines import Line, PrintedCell

_SAME_HEIGHT = 0.35
_NUMBER_SHARE = 0.5
_NUMBER = re.compile(r"[\s$¥￥€£%()（）\d.,+\-–—/:*†‡年月日]+")


def is_number(text: str) -> bool:
    """Say whether words are an amount, a date, or a dash for none."""
    return bool(_NUMBER.fullmatch(text)) and any(char.isdigit() or char in "-–—" for char in text)


def is_amount(text: str) -> bool:
    """Say whether a word is a number or a sign that goes with one."""
    return bool(_NUMBER.fullmatch(text))


def part_rows(cells: Sequence[PrintedCell]) -> list[PrintedCell]:
    """Return the cells with bands of several printed rows parted; merged cells reach over all rows they did before."""
    bands: dict[int, list[PrintedCell]] = defaultdict(list)
    for cell in cells:
        if cell.rows == 1:
            bands[cell.row].append(cell)
    levels = {row: _levels(band) for row, band in bands.items()}
    start, at = {}, 0
    for row in range(max((cell.row + cell.rows for cell in cells), default=0)):
        start[row] = at
        at += max(len(levels.get(row, [])), 1)
    start[len(start)] = at
    parted: list[PrintedCell] = []
    for cell in cells:
        heights = levels.get(cell.row, []) if cell.rows == 1 else []
        if len(heights) > 1 and len(cell.lines) > 1:
            parted += _parted(cell, heights, start[cell.row])
        else:
            cell.rows, cell.row = start[cell.row + cell.rows] - start[cell.row], start[cell.row]
            parted.append(cell)
    return sorted(parted, key=lambda cell: (cell.row, cell.column))


def _levels(band: Sequence[PrintedCell]) -> list[float]:
    """Return the middle heights of the printed rows that all cells of a band share, none where they do not."""
    several = [cell for cell in band if len(cell.lines) > 1 and cell.columns == 1]
    if len(several) < 2:
        return []
    longest = max(several, key=lambda cell: len(cell.lines))
    heights = [_middle(line) for line in longest.lines]
    if any(later <= earlier for earlier, later in pairwise(heights)):
        return []
    lines = [line for cell in several for line in cell.lines]
    numbers = sum(1 for line in lines if is_number(line.text))
    if numbers < _NUMBER_SHARE * len(lines):
        return []
    for cell in several:
        levels = [_level(line, heights) for line in cell.lines]
        if None in levels or len(set(levels)) < len(levels):
            return []
    return heights


def _level(line: Line, heights: Sequence[float]) -> int | None:
    middle = _middle(line)
    near = min(range(len(heights)), key=lambda at: abs(heights[at] - middle))
    return near if abs(heights[near] - middle) <= _SAME_HEIGHT * line.height else None


def _parted(cell: PrintedCell, heights: Sequence[float], row: int) -> list[PrintedCell]:
    return [
        PrintedCell(row + (_level(line, heights) or 0), cell.column, [line], columns=cell.columns)
        for line in cell.lines
    ]


def _middle(line: Line) -> float:
    return (line.y0 + line.y1) / 2
