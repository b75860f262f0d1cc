"""Headings told by their numbering alone, for formats that do not mark them."""

from __future__ import annotations

import re

_LONGEST = 60
_HAN_NUMBER = "[零〇一二三四五六七八九十百千0-9]{1,8}"
_UNITS = {"编": 1, "篇": 1, "部分": 1, "章": 2, "回": 2, "节": 3, "條": 4, "编之": 1}
_HAN = re.compile(rf"第{_HAN_NUMBER}(部分|[编篇章回节節編])(?:[\s　:：]+\S.*|之{_HAN_NUMBER}.*|)$")
_ENGLISH = re.compile(
    r"(part|chapter|section|article|appendix)\s+(\d{1,3}|[IVXLC]{1,6}|[A-Z])\b[.:]?(?:\s+[A-Z].*|)$", re.I
)
_ENGLISH_LEVELS = {"part": 1, "chapter": 2, "appendix": 2, "section": 3, "article": 3}
_DECIMAL = re.compile(r"(\d{1,2}(?:\.\d{1,3}){1,4})\.?[ \t　]+(\S.*)$")
SENTENCE_END = "。．.！!？?；;，,：:、"


def numbered_level(line: str) -> int:
    """Return the heading level that a line's numbering clearly shows (第一章 总则, Chapter 3, 1.2 Title), or 0.

    Only short lines without a sentence's end count: 第三条 and the like open sentences more often than sections.
    """
    line = line.strip()
    if not 2 <= len(line) <= _LONGEST or line[-1] in SENTENCE_END:
        return 0
    if found := _HAN.match(line):
        return {"编": 1, "編": 1, "篇": 1, "部分": 1, "章": 2, "回": 2}.get(found[1], 3)
    if found := _ENGLISH.match(line):
        return _ENGLISH_LEVELS[found[1].lower()]
    if found := _DECIMAL.match(line):
        words = found[2]
        if words[0].isalpha() and not words[0].islower() and not re.search(r"[。；;]|\.{3}|\d$", words):
            return min(found[1].count(".") + 1, 6)
    return 0
