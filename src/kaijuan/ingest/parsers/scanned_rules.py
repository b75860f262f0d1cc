"""Rules printed on a scanned page, by which its tables are told; runs cut where a rule goes through them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

import cv2
import numpy as np

from kaijuan.ingest.parsers.pdf_graphics import Graphics, Rule, merged
from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.recognised import Frame

if TYPE_CHECKING:
    from kaijuan.ingest.ports import PageImage

_SHORTEST_SHARE = 0.03
_LEAST_DOTS = 24
_LETTERS = 3.5
"""A rule is longer than a stroke of a letter: at least this share of the page, this many dots, and so many lines of
text are high."""
_THICKEST = 12
_SLANT = 0.02
_MOST_RULES = 600
_CONTRAST = 20
_WITHIN = 1.0
_MEET = 2.0
"""Points."""


def rules_of(image: PageImage, runs: Sequence[Run], frame: Frame) -> Graphics:
    """Return the rules on a page, in its upright frame, in which `runs` are its text."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    scale = frame.width / image.shape[1]
    text = median([run.height for run in runs if run.upright] or [0.0]) / scale
    shortest = max(_LETTERS * text, _LEAST_DOTS)
    found = Graphics()
    inks = {along: _ink(np.asarray(grey, np.uint8), along=along) for along in (True, False)}
    for along in (True, False):
        # Where a rule crosses another, nothing lighter lies beside it: the other one stands in for it there.
        crossing = _opened(inks[not along], shortest, along=not along)
        for start, end in _strokes(np.maximum(inks[along], crossing), shortest, along=along):
            _add(found, *(frame.inward((x * scale, y * scale)) for x, y in (start, end)))
    lines = [run for run in runs if run.upright]
    lying = [rule for rule in merged(found.lying) if not any(_is_stroke(rule, run) for run in lines)]
    standing = merged(found.standing)
    height = text * scale
    found.lying = [_ended(rule, standing, height) for rule in lying]
    found.standing = [_ended(rule, lying, height) for rule in standing]
    return found


def _is_stroke(rule: Rule, run: Run) -> bool:
    """Say whether a lying rule is made of the strokes of a line of text."""
    inside = run.y0 + 0.2 * run.height < rule.at < run.y1 - 0.2 * run.height
    return inside and min(rule.end, run.x1) - max(rule.start, run.x0) > 0.6 * rule.length


def _ended(rule: Rule, others: Sequence[Rule], height: float) -> Rule:
    """Return a rule that ends where it meets the last of those across it, not with a letter that touches it there."""
    met = [
        other.at
        for other in others
        if other.start - _MEET <= rule.at <= other.end + _MEET and rule.start - _MEET <= other.at <= rule.end + _MEET
    ]
    if len(met) < 2:
        return rule
    first, last = min(met), max(met)
    return Rule(
        rule.at,
        first if first - rule.start < height else rule.start,
        last if rule.end - last < height else rule.end,
    )


def _ink(grey: PageImage, *, along: bool) -> PageImage:
    """Return 1 where a dot may belong to a thin stroke along the rows of an image (or its columns), 0 elsewhere."""
    # Darker than what lies on both sides of it: thin grey rules on uneven paper, and the edge of a coloured ground.
    across = np.ones((_THICKEST, 1) if along else (1, _THICKEST), np.uint8)
    ink = (cv2.morphologyEx(grey, cv2.MORPH_BLACKHAT, across) > _CONTRAST).astype(np.uint8)
    return np.asarray(cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), np.uint8)


def _opened(ink: PageImage, least: float, *, along: bool) -> PageImage:
    """Return what is left of the ink where all shorter strokes are taken away."""
    height, width = ink.shape[:2]
    shortest = round(max((width if along else height) * _SHORTEST_SHARE, least))
    kernel = np.ones((1, shortest) if along else (shortest, 1), np.uint8)
    return np.asarray(cv2.morphologyEx(ink, cv2.MORPH_OPEN, kernel), np.uint8)


def _strokes(ink: PageImage, least: float, *, along: bool) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield both ends of each long thin stroke along the rows of an image, or along its columns."""
    strokes = _opened(ink, least, along=along)
    # A rule a little out of true is opened into steps; this joins them again.
    strokes = np.asarray(cv2.dilate(strokes, np.ones((3, 5) if along else (5, 3), np.uint8)), np.uint8)
    count, _, boxes, _ = cv2.connectedComponentsWithStats(strokes, connectivity=8)
    for left, top, wide, high, area in boxes[1 : min(count, _MOST_RULES)].tolist():
        length, thick = (wide, high) if along else (high, wide)
        if thick > _THICKEST + _SLANT * length or area > _THICKEST * length:
            continue
        if along:
            yield (left, top + high / 2), (left + wide, top + high / 2)
        else:
            yield (left + wide / 2, top), (left + wide / 2, top + high)


def _add(found: Graphics, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x0, y0), (x1, y1) = start, end
    if abs(x1 - x0) >= abs(y1 - y0):
        found.lying.append(Rule((y0 + y1) / 2, min(x0, x1), max(x0, x1)))
    else:
        found.standing.append(Rule((x0 + x1) / 2, min(y0, y1), max(y0, y1)))


def cut_at_rules(runs: Sequence[Run], standing: Sequence[Rule]) -> list[Run]:
    """Return the runs, cut where a rule stands between two characters: what is in two cells was read as one."""
    cut: list[Run] = []
    for run in runs:
        middle = (run.y0 + run.y1) / 2
        through = sorted(
            rule.at
            for rule in standing
            if rule.start <= middle <= rule.end and run.x0 + _WITHIN < rule.at < run.x1 - _WITHIN
        )
        cut += _pieces(run, through) if run.upright and through else [run]
    return cut


def _pieces(run: Run, through: Sequence[float]) -> Iterator[Run]:
    centres = [(left + right) / 2 for left, right in zip(run.lefts, run.rights, strict=True)]
    marks = [0, *(sum(1 for centre in centres if centre < at) for at in through), len(centres)]
    borders = [run.x0, *through, run.x1]
    for (start, end), (left, right) in zip(pairwise(marks), pairwise(borders), strict=True):
        while start < end and run.chars[start].isspace():
            start += 1
        while end > start and run.chars[end - 1].isspace():
            end -= 1
        if start == end:
            continue
        lefts = [max(value, left) for value in run.lefts[start:end]]
        rights = [min(value, right) for value in run.rights[start:end]]
        yield replace(
            run, chars=run.chars[start:end], lefts=lefts, rights=rights, x0=lefts[0], x1=max(rights[-1], lefts[0])
        )
