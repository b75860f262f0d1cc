"""Program text printed in a PDF: lines of one width, kept as printed with their indentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from kaijuan.ingest.parsers.joining import is_wide
from kaijuan.ingest.parsers.pdf_lines import Line

_MOST_SHARE = 0.5
"""A document of which more is typewritten is not all code: it was written on a typewriter."""
_FEW_LINES = 2
_NEAR = 3.0
"""Heights of a line between two that belong together, with blank lines between them."""
_BLANK = 1.6
"""Distances between two lines from which an empty one stands between them."""
_MOST_INDENT = 60
_MOST_WIDE = 0.15
"""Share of Han in a line of code: comments, texts between quotes."""
_BULLETS = "•·●○■□▪▫◆◇►➢➤✓"
_ADDRESS = re.compile(r"\w@\w[\w.-]*\.\w|\}@")


class Typewriting:
    """Tells what is printed in letters of one width as code from what was written on a typewriter."""

    def __init__(self) -> None:
        self._fixed = 0
        self._total = 0

    def see(self, lines: Iterable[Line]) -> None:
        """Count lines; all of a document are needed before the first is settled."""
        for line in lines:
            self._fixed += len(line.text) if line.fixed else 0
            self._total += len(line.text)

    def settle(self, lines: Sequence[Line]) -> None:
        """Take lines of one width for ordinary ones where most of the document is so, or where one stands alone."""
        may_be_code = self._fixed <= _MOST_SHARE * self._total
        for line in lines:
            line.fixed = line.fixed and may_be_code and _is_typed(line)
        near = [_belong(before, after) for before, after in pairwise(lines)]
        alone = [
            line
            for at, line in enumerate(lines)
            if line.fixed and not (at > 0 and near[at - 1]) and not (at < len(near) and near[at])
        ]
        for line in alone:
            line.fixed = False


def _is_typed(line: Line) -> bool:
    """Say whether the characters may be code: the font is known of one of each run only, and runs mix fonts."""
    wide = sum(is_wide(char) for char in line.text)
    if not line.edges or line.text[0] in _BULLETS or _ADDRESS.search(line.text):
        return False
    return wide <= _MOST_WIDE * len(line.text)


def _belong(before: Line, after: Line) -> bool:
    return before.fixed and after.fixed and is_next(before, after)


def is_next(before: Line, line: Line) -> bool:
    """Say whether a line of code goes on with the one before it in its column."""
    same = before.page == line.page and before.column == line.column
    return same and 0 < line.y1 - before.y1 <= _NEAR * max(line.height, before.height)


def betweens(lines: Sequence[Line]) -> list[str]:
    """Return what stands before each line: nothing, or line ends and the blanks by which it is indented.

    The leftmost line of each page and column has none.
    """
    if len(lines) < _FEW_LINES:
        return [""] * len(lines)
    width = _width(lines)
    steps = [after.y1 - before.y1 for before, after in pairwise(lines) if is_next(before, after)]
    usual = median(steps) if steps else 0.0
    left: dict[tuple[int, int], float] = {}
    for line in lines:
        key = (line.page, line.column)
        left[key] = min(line.x0, left.get(key, line.x0))
    found: list[str] = []
    for at, line in enumerate(lines):
        before = lines[at - 1] if at else None
        empty = before is not None and is_next(before, line) and line.y1 - before.y1 > _BLANK * usual > 0
        ends = "" if before is None else "\n\n" if empty else "\n"
        blanks = round((line.x0 - left[line.page, line.column]) / width) if width else 0
        found.append(ends + " " * min(max(blanks, 0), _MOST_INDENT))
    return found


def _width(lines: Sequence[Line]) -> float:
    """Return the width of one character, in points; 0 where no line tells."""
    widths = [(line.edges[-1] - line.edges[0]) / (len(line.edges) - 1) for line in lines if len(line.edges) > 1]
    return median(widths) if widths else 0.0
