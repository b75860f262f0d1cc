"""Footnotes of a PDF: small lines at the foot of a column, below a short rule or behind a mark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kaijuan.ingest.parsers.pdf_graphics import Rule
from kaijuan.ingest.parsers.pdf_lines import Line

_SMALLER = 0.93
_MARK = re.compile(
    r"(?:\d{1,3}(?=\s|[^\d\s.,:;%)）、/–—-])|[*†‡§¶]{1,3}|[①-⑳]|[\[〔]\d{1,3}[\]〕]|注\d{0,2}[:：])\s*\S"
)
_WEAK_MARK = re.compile(r"[\[]\d")
"""References are numbered so too: only below a rule is it a note."""
_SHORT, _LONGEST_SHARE = 28.0, 0.5
_UPPER_SHARE = 0.45
_LEAST_BODY = 3


def mark_separators(lines: Sequence[Line], rules: Sequence[Rule]) -> None:
    """Mark lines that stand right below a short rule at the left of their column."""
    short = [rule for rule in rules if rule.length >= _SHORT]
    if not short:
        return
    for at, line in enumerate(lines):
        before = lines[at - 1] if at and lines[at - 1].column == line.column else None
        top = before.y1 - 3 if before is not None and before.y1 < line.y1 else line.y0 - 2.5 * line.height
        line.ruled_off = line.table is None and any(
            top <= rule.at <= line.y0 + 3
            and abs(rule.start - line.left) <= 2 * line.size
            and rule.length <= _LONGEST_SHARE * max(line.right - line.left, 1.0)
            for rule in short
        )


def notes_among(lines: Sequence[Line], size: float) -> set[int]:
    """Return the positions of a page's lines that are footnotes. `size` is that of the running text."""
    small = [bool(line.edges) and line.size <= _SMALLER * size and not line.outline for line in lines]
    if not lines:
        return set()
    # Where all is small (an abstract, a list of references) only a rule tells notes from it.
    is_small_page = len(lines) - sum(small) < _LEAST_BODY
    bottom = max(line.y1 for line in lines)
    found: set[int] = set()
    for column in {line.column for line in lines}:
        own = [at for at, line in enumerate(lines) if line.column == column]
        first = len(own)
        while first > 0 and small[own[first - 1]]:
            first -= 1
        starts = (
            k
            for k in range(first, len(own))
            if _starts(lines[own[k]], bottom) and (lines[own[k]].ruled_off or not is_small_page)
        )
        if (start := next(starts, None)) is not None:
            found.update(own[start:])
    return found


def _starts(line: Line, bottom: float) -> bool:
    if line.y0 < _UPPER_SHARE * bottom:
        return False
    return line.ruled_off or (is_marked(line) and not _WEAK_MARK.match(line.text))


def is_marked(line: Line) -> bool:
    """Say whether a line begins with the mark of a note."""
    return bool(_MARK.match(line.text))
