"""Where sentences begin and end, in Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kaijuan.core.spans import Span, trim
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.stopwords import ABBREVIATIONS, NUMBERED

_NUMERAL = "一二三四五六七八九十百零"
_ITEM = (
    r"[-*+]\s|[•·●○▪■□◆|]|#{1,6}\s|\(?\d{1,3}[.)、）](?!\d)"
    rf"|[（(][{_NUMERAL}\d]{{1,3}}[)）]|[{_NUMERAL}]{{1,3}}、|第[{_NUMERAL}\d]{{1,5}}[条章节款]"
)
"""How a list item, heading or table row begins."""
_END = re.compile(
    rf"(?P<wide>[。！？｡；][。！？｡；!?.…]*|(?<=[{HAN}])\.(?=[{HAN}]))"
    r"|(?P<asked>[!?][。！？!?.…]*)"
    r"|(?P<dot>…+|(?<!\.)\.++(?=[\s\"'”’»」』)）\]】]|$))"
    rf"|(?P<line>\n(?=[^\S\n]*\n)|(?<!\d,)\n(?=[^\S\n]*(?:{_ITEM})))"
)
_FIRST = re.compile(r"[。！？｡；.!?…\n]")
"""What all that `_END` matches begins with."""
_CLOSERS = frozenset("”’»」』)）】〕］]》〉")
_WORD_BEFORE = re.compile(r"(?:^|[\s(\[\"'“‘（])([^\s(\[\"'“‘（]{0,12})$")
_BLANK = re.compile(r"\s*")


def sentences(text: str) -> list[Span]:
    """Return the sentences of `text` in order; disjoint, and together all that is not white space.

    A sentence ends at 。！？；… and .!? with the quotes and brackets that close after it, at a blank line, and
    before a list item, heading or table row. Full stops in numbers, versions, abbreviations and list numbers, and
    marks within addresses, end nothing. Linear in the length of the text.
    """
    found: list[Span] = []
    start = _after_blank(text, 0)
    for match in _marks(text):
        if match.end() <= start:
            continue  # swallowed with the sentence before
        end = match.start() if match.lastgroup == "line" else _closed(text, start, match.end())
        if match.lastgroup != "line" and not _ends(text, start, end, match):
            continue
        _append(found, text, start, end)
        start = _after_blank(text, end)
    _append(found, text, start, len(text))
    return found


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield what `_END` matches, as `finditer` would: in half the time, since one class of characters is looked for
    much faster than a pattern that looks behind at every place."""
    at = 0
    while found := _FIRST.search(text, at):
        match = _END.match(text, found.start())
        at = match.end() if match else found.end()
        if match:
            yield match


def _append(found: list[Span], text: str, start: int, end: int) -> None:
    if start < end:
        span = trim(text, Span(start, end))
        if len(span):
            found.append(span)


def _after_blank(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at


def _closed(text: str, start: int, end: int) -> int:
    """Return where the quotes and brackets end that close directly after a sentence's last mark."""
    while end < len(text):
        mark = text[end]
        straight = mark == '"' and text.count('"', max(start, end - _QUOTED), end) % 2 == 1
        apostrophe = mark == "'" and (end + 1 == len(text) or text[end + 1].isspace())
        if not (mark in _CLOSERS or straight or apostrophe):
            break
        end += 1
    return end


_QUOTED = 2_000
"""Characters looked back over for an open straight quote; a bound, so that the whole stays linear."""


def _ends(text: str, start: int, end: int, match: re.Match[str]) -> bool:
    """Say whether the mark found ends the sentence that began at `start`; `end` is past what closes after it."""
    if match.lastgroup == "wide":
        return True
    following = text[end : end + 1]
    if match.lastgroup == "asked" and following.isascii() and (following.isalnum() or following in set("=&/_%+-")):
        return following == ""
    next_at = _after_blank(text, end)
    after = text[next_at : next_at + 1]
    if after.islower() and after.isascii():
        return False
    return not match.group().startswith(".") or _stops(text, start, match.start(), after)


def _stops(text: str, start: int, at: int, after: str) -> bool:
    """Say whether the full stop at `at` is more than the end of an abbreviation or of a list number."""
    word = _WORD_BEFORE.search(text[max(start, at - 14) : at])
    before = word.group(1).lower() if word else ""
    if before in ABBREVIATIONS or (len(before) == 1 and before.isalpha() and before.isascii()):
        return False
    if before in NUMBERED:
        return not after.isdigit()
    return not (before.isdigit() and at - len(before) == start)
