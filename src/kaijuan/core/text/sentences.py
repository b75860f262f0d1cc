"""Where sentences begin and end, in Chinese and English."""

from __future__ import annotations

import re

from kaijuan.core.spans import Span, trim
from kaijuan.core.text.stopwords import ABBREVIATIONS

_CLOSERS = "\"'”’»」』）)】〕］\\]》〉"
_END = re.compile(
    rf"(?P<wide>[。！？!?｡．]+[。！？!?.…]*|…{{1,}}|；|;(?=\s*$))[{_CLOSERS}]*"
    rf"|(?P<dot>\.{{1,}})[{_CLOSERS}]*(?=\s|$)"
    r"|(?P<line>\n(?=[^\S\n]*(?:\n|(?:[-*+•·●○▪■□◆]|\(?\d{1,3}[.)、）]|[（(][一二三四五六七八九十\d]{1,3}[)）]"
    r"|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十百零\d]{1,5}[条章节款])\s*\S)))"
)
_BEFORE = re.compile(r"(?:^|[\s(\[\"'“‘（])([^\s(\[\"'“‘（]{0,12})$")


def sentences(text: str) -> list[Span]:
    """Return the sentences of `text` in order; disjoint, and together all that is not white space.

    A sentence ends at 。！？；… and .!? with the quotes and brackets that close after it, at a blank line, and
    before a list item. Full stops in numbers, versions, abbreviations and list numbers end nothing. Linear.
    """
    found: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        if match.lastgroup == "dot" and not _ends(text, start, match):
            continue
        _append(found, text, start, match.end())
        start = match.end()
    _append(found, text, start, len(text))
    return found


def _append(found: list[Span], text: str, start: int, end: int) -> None:
    span = trim(text, Span(start, end))
    if len(span):
        found.append(span)


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Say whether a full stop ends the sentence that began at `start`."""
    at = match.start()
    word = _BEFORE.search(text[max(start, at - 14) : at])
    before = word.group(1).lower() if word else ""
    if before in ABBREVIATIONS or (len(before) == 1 and before.isalpha() and before.isascii()):
        return False
    if before.isdigit() and not text[start : at - len(before)].strip():
        return False
    following = re.compile(r"\s*").match(text, match.end())
    after = text[following.end() : following.end() + 1] if following else ""
    return not after.islower()
