"""Running headers, footers and page numbers: told by their place and by coming again on other pages."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kaijuan.ingest.parsers.pdf_lines import Line

_ZONE_SHARE = 0.13
_OUTERMOST = 3
_SAME_PLACE = 4.0
"""Points by which a running line may move from page to page."""
_LEAST_REPEATS = 3
_LONGEST_NUMBER = 5
"""Lines of fewer characters may count the pages."""
# Possessive, because several parts match blanks: a line of 500 would be divided among them in every way.
_PAGE_NUMBER = re.compile(
    r"[\s\-–—·•|\[(（]*+(?:page|p\.|第)?+\s*+(?:\d{1,6}|[ivxlc]{1,7})\s*+(?:页|頁)?+"
    r"(?:\s*+(?:/|of|共|，共|,)\s*+\d{1,4}\s*+(?:页|頁)?+)?+[\s\-–—·•|\])）]*+",
    re.I,
)

Key = tuple[str, str, int]


def without_furniture(pages: Sequence[list[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """Return the lines of each page without what `furniture_of` tells."""
    gone = furniture_of(pages, heights)
    return [
        [line for at, line in enumerate(lines) if at not in places] for lines, places in zip(pages, gone, strict=True)
    ]


def furniture_of(pages: Iterable[Sequence[Line]], heights: Sequence[float]) -> list[set[int]]:
    """Return for each page the positions of the lines that are repeated at its top and bottom.

    A line goes when its text, digits apart, stands at the same height on at least three pages; page numbers when
    they are on at least two pages and a third of them. Only the outermost lines of a page can go.
    """
    rims = [_rim(lines, height) for lines, height in zip(pages, heights, strict=True)]
    places = _repeated(rims)
    numbered = _numbered_zones(rims)
    gone = [
        {
            line.at
            for line in rim.outer
            if (line.is_number and line.zone in numbered) or any(key in places for key in line.keys)
        }
        for rim in rims
    ]
    _add_counting(rims, gone)
    return gone


@dataclass(frozen=True, slots=True)
class _Outer:
    """One of the outermost lines in the margins; `at` is its position among the page's lines."""

    at: int
    zone: str
    keys: tuple[Key, Key]
    is_number: bool


@dataclass(frozen=True, slots=True)
class _Rim:
    """What is kept of a page: its outermost lines, and positions and texts of its lowest lines, lowest first."""

    outer: list[_Outer]
    low: list[tuple[int, str]]


def _rim(lines: Sequence[Line], height: float) -> _Rim:
    by_height = sorted(range(len(lines)), key=lambda at: lines[at].y0)
    top = [at for at in by_height[:_OUTERMOST] if lines[at].y1 <= height * _ZONE_SHARE]
    bottom = [at for at in by_height[-_OUTERMOST:] if lines[at].y0 >= height * (1 - _ZONE_SHARE) and at not in top]
    outer = [_outer(at, zone, lines[at]) for zone, found in (("top", top), ("bottom", bottom)) for at in found]
    low = sorted(by_height, key=lambda at: (-lines[at].y0, at))[: 2 * _OUTERMOST + 1]
    return _Rim(outer, [(at, lines[at].text[:_LONGEST_NUMBER]) for at in low])


def _outer(at: int, zone: str, line: Line) -> _Outer:
    return _Outer(at, zone, _keys(zone, line), bool(_PAGE_NUMBER.fullmatch(line.text)))


def _add_counting(rims: Sequence[_Rim], gone: Sequence[set[int]]) -> None:
    """Add the last line of a page where it counts the pages, wherever it stands: short pages end early."""
    last = [
        next((line for line in rim.low if line[0] not in places), None) for rim, places in zip(rims, gone, strict=True)
    ]
    offsets = [
        int(line[1]) - index if line is not None and line[1].isdecimal() and len(line[1]) < _LONGEST_NUMBER else None
        for index, line in enumerate(last)
    ]
    counts = Counter(offset for offset in offsets if offset is not None)
    if not counts:
        return
    offset, count = counts.most_common(1)[0]
    if count < max(_LEAST_REPEATS, len(rims) / 3):
        return
    for line, found, places in zip(last, offsets, gone, strict=True):
        if line is not None and found == offset:
            places.add(line[0])


def _keys(zone: str, line: Line) -> tuple[Key, Key]:
    text = re.sub(r"\d+|\b[ivxlc]+\b", "#", re.sub(r"\s+", "", line.text.lower()))
    place = int(line.y0 / _SAME_PLACE)
    # Two overlapping bins: lines a hair apart must not fall on both sides of one border.
    return (zone, text, place), (zone, text, -int((line.y0 + _SAME_PLACE / 2) / _SAME_PLACE) - 1)


def _repeated(rims: Sequence[_Rim]) -> set[Key]:
    counts: Counter[Key] = Counter()
    for rim in rims:
        counts.update({key for line in rim.outer for key in line.keys})
    return {key for key, count in counts.items() if count >= _LEAST_REPEATS}


def _numbered_zones(rims: Sequence[_Rim]) -> set[str]:
    seen: dict[str, int] = defaultdict(int)
    for rim in rims:
        for zone in {line.zone for line in rim.outer if line.is_number}:
            seen[zone] += 1
    return {zone for zone, count in seen.items() if count >= 2 and count * 3 >= len(rims)}
