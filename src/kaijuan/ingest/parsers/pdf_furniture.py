"""Running headers, footers and page numbers: told by their place and by coming again on other pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from kaijuan.ingest.parsers.pdf_lines import Line

_ZONE_SHARE = 0.13
_OUTERMOST = 3
_SAME_PLACE = 4.0
"""Points by which a running line may move from page to page."""
_LEAST_REPEATS = 3
# Possessive, because several parts match blanks: a line of 500 would be divided among them in every way.
_PAGE_NUMBER = re.compile(
    r"[\s\-–—·•|\[(（]*+(?:page|p\.|第)?+\s*+(?:\d{1,6}|[ivxlc]{1,7})\s*+(?:页|頁)?+"
    r"(?:\s*+(?:/|of|共|，共|,)\s*+\d{1,4}\s*+(?:页|頁)?+)?+[\s\-–—·•|\])）]*+",
    re.I,
)

Key = tuple[str, str, int]


def without_furniture(pages: Sequence[list[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """Return the lines of each page without what is repeated at its top and bottom.

    A line goes when its text, digits apart, stands at the same height on at least three pages; page numbers when
    they are on at least two pages and a third of them. Only the outermost lines of a page can go.
    """
    edges = [_outer(lines, height) for lines, height in zip(pages, heights, strict=True)]
    places = _repeated(edges)
    numbered = _numbered_zones(edges, len(pages))
    kept = []
    for lines, outer in zip(pages, edges, strict=True):
        gone = set()
        for zone, line in outer:
            is_number = bool(_PAGE_NUMBER.fullmatch(line.text)) and zone in numbered
            if is_number or any(key in places for key in _keys(zone, line)):
                gone.add(id(line))
        kept.append([line for line in lines if id(line) not in gone])
    return _without_counting(kept)


def _without_counting(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Drop the last line of a page where it counts the pages, wherever it stands: short pages end early."""
    last = [max(lines, key=lambda line: line.y0) if lines else None for lines in pages]
    offsets = [
        int(line.text) - index if line is not None and line.text.isdecimal() and len(line.text) < 5 else None
        for index, line in enumerate(last)
    ]
    counts = Counter(offset for offset in offsets if offset is not None)
    if not counts:
        return list(pages)
    offset, count = counts.most_common(1)[0]
    if count < max(_LEAST_REPEATS, len(pages) / 3):
        return list(pages)
    return [
        [line for line in lines if line is not low] if found == offset else lines
        for lines, low, found in zip(pages, last, offsets, strict=True)
    ]


def _outer(lines: Sequence[Line], height: float) -> list[tuple[str, Line]]:
    """Return the outermost lines in the top and bottom margins."""
    by_height = sorted(lines, key=lambda line: line.y0)
    top = [("top", line) for line in by_height[:_OUTERMOST] if line.y1 <= height * _ZONE_SHARE]
    bottom = [("bottom", line) for line in by_height[-_OUTERMOST:] if line.y0 >= height * (1 - _ZONE_SHARE)]
    return top + [pair for pair in bottom if pair[1] not in [line for _, line in top]]


def _keys(zone: str, line: Line) -> tuple[Key, Key]:
    text = re.sub(r"\d+|\b[ivxlc]+\b", "#", re.sub(r"\s+", "", line.text.lower()))
    place = int(line.y0 / _SAME_PLACE)
    # Two overlapping bins: lines a hair apart must not fall on both sides of one border.
    return (zone, text, place), (zone, text, -int((line.y0 + _SAME_PLACE / 2) / _SAME_PLACE) - 1)


def _repeated(edges: Sequence[Sequence[tuple[str, Line]]]) -> set[Key]:
    counts: Counter[Key] = Counter()
    for outer in edges:
        counts.update({key for zone, line in outer for key in _keys(zone, line)})
    return {key for key, count in counts.items() if count >= _LEAST_REPEATS}


def _numbered_zones(edges: Sequence[Sequence[tuple[str, Line]]], pages: int) -> set[str]:
    seen: dict[str, int] = defaultdict(int)
    for outer in edges:
        for zone in {zone for zone, line in outer if _PAGE_NUMBER.fullmatch(line.text)}:
            seen[zone] += 1
    return {zone for zone, count in seen.items() if count >= 2 and count * 3 >= pages}
