"""Short numbered lines (一、, （一）, 1., 第三条) that head the text below them, in files that mark no headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum

from kaijuan.ingest.parsers.headings import SENTENCE_END, numbered_level
from kaijuan.ingest.parsers.joining import ARTICLE, is_wide

_WIDEST = 40
"""Columns (a Han character takes two); from here on a line may have been broken by a program."""
_WIDE_BODY = 30
_HAN = "一二三四五六七八九十百"


class Style(Enum):
    """How such a line is numbered."""

    ARTICLE = "第三条"
    HAN = "一、"
    BRACKET = "（一）"
    DIGIT = "1."


_PATTERNS = {
    Style.ARTICLE: re.compile(rf"{ARTICLE}(?:[\s\u3000]|$)"),
    Style.HAN: re.compile(rf"[{_HAN}]{{1,4}}、\s*+\S"),
    Style.BRACKET: re.compile(rf"[（(][{_HAN}]{{1,4}}[)）]\s*+\S"),
    Style.DIGIT: re.compile(r"\d{1,2}[.．、](?!\d)\s*+\S"),
}
_LEVELS = {Style.ARTICLE: 4, Style.HAN: 4, Style.BRACKET: 5, Style.DIGIT: 6}
"""Below 编, 章 and 节."""
_MARKED = re.compile(r"\s*+(?:[-*•·●○■□▪–]\s|\(?\d{1,3}[.)、）]|[（(][一二三四五六七八九十\d]{1,3}[)）])")
_LEAST_DIGITS = 2
"""Items counted in digits are mostly lists: one alone proves nothing."""


def width(line: str) -> int:
    """Return the columns of a line; a Han character takes two."""
    return sum(2 if is_wide(char) else 1 for char in line)


def heading_styles(lines: Sequence[str]) -> frozenset[Style]:
    """Return the styles of numbering that head text in these lines: most short lines so numbered have text below.

    So the items of a list, and what follows its last one, stay what they are.
    """
    seen: Counter[Style] = Counter()
    heads: Counter[Style] = Counter()
    filled = [line for line in lines if line.strip()]
    for at, line in enumerate(filled):
        style = _style(line)
        if style and is_short(line):
            seen[style] += 1
            heads[style] += at + 1 < len(filled) and is_body(filled[at + 1])
    return frozenset(
        style
        for style, count in heads.items()
        if count * 2 > seen[style] and (style is not Style.DIGIT or count >= _LEAST_DIGITS)
    )


def heading_level(line: str, following: str, styles: frozenset[Style]) -> int:
    """Return the level of a line of one of `styles` that heads the line below it, or 0."""
    style = _style(line)
    return _LEVELS[style] if style in styles and is_short(line) and is_body(following) else 0


def _style(line: str) -> Style | None:
    line = line.strip()
    return next((style for style, pattern in _PATTERNS.items() if pattern.match(line)), None)


def is_short(line: str) -> bool:
    """Say whether a line is short enough for a heading and ends no sentence."""
    line = line.strip()
    return len(line) > 1 and width(line) < _WIDEST and line[-1] not in SENTENCE_END


def is_body(line: str) -> bool:
    """Say whether a line is running text: no item, heading or rest of the line above, and like a sentence."""
    line = line.strip()
    if not line or _style(line) or _MARKED.match(line) or numbered_level(line) or _goes_on(line):
        return False
    return line[-1] in f"{SENTENCE_END}…" or width(line) >= _WIDE_BODY


def _goes_on(line: str) -> bool:
    return line[0].isascii() and line[0].islower()
