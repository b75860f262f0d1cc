"""Text as it is matched: one width, one case, one script, no layout. For comparing only; the original is kept."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator

from kaijuan.core.spans import OffsetMap
from kaijuan.core.text.characters import EAST_ASIAN, INVISIBLE
from kaijuan.core.text.simplified import SIMPLIFIED

HARD = "\uffff"
"""Stands for a character that cannot be folded alone. A noncharacter; where a text holds it, it folds to itself."""
LONGEST_UNIT = 32
"""Characters folded together. Unicode's stream-safe limit is 30 marks; it keeps hostile text linear."""
MOST_PASSES = 8
"""Passes until nothing changes. Two or three do; the limit only bounds what no real text reaches."""

_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_LAYOUT = re.compile(rf"\s(?:\s+|(?<=[^ ])|(?<=[{EAST_ASIAN}] )(?=[{EAST_ASIAN}]))")
"""White space that does not stay as it is: all but a lone blank outside East Asian text."""
_NOT_ASCII = re.compile("([^\x00-\x7f]+)")
_HARD_RUN = re.compile(rf"[^{HARD}\s]?{HARD}+")
_SIMPLIFIED = {ord(old): new for old, new in SIMPLIFIED.items()}

Edit = tuple[int, int, str]
"""Characters start to end of a text, and what replaces them."""


def normalise(text: str) -> tuple[str, OffsetMap]:
    """Return `text` folded for matching, and the way back to the original's characters.

    NFKC, case folding, traditional to simplified character by character, invisible characters removed, white
    space between East Asian characters removed and any other run of it made one blank. Idempotent:
    normalising the result changes nothing. Linear in the length of the text.
    """
    offsets: OffsetMap | None = None
    for folded, edits in _passes(text):
        if edits:
            step = _offsets(len(text), edits)
            offsets = step if offsets is None else offsets.then(step)
        text = folded
    return text, offsets or OffsetMap(range(len(text)), range(1, len(text) + 1))


def folded(text: str) -> str:
    """Return `normalise(text)` without the way back, which costs more than the folding."""
    for result, _ in _passes(text):
        text = result
    return text


def _passes(text: str) -> Iterator[tuple[str, list[Edit]]]:
    """Fold until nothing changes, yielding each state and the edits that led to it."""
    for _ in range(MOST_PASSES):
        result, edits = _fold(text)
        if result == text:
            return
        yield result, edits
        if text.isascii():
            return  # one pass settles it
        text = result


def _fold(text: str) -> tuple[str, list[Edit]]:
    pieces = _NOT_ASCII.split(text)
    pieces[::2] = map(str.lower, pieces[::2])  # ASCII is most of an English text, and this is ten times faster
    pieces[1::2] = (piece.translate(_FOLDED) for piece in pieces[1::2])
    result = "".join(pieces)
    edits = list(_hard_edits(text, result))
    layout = [(*match.span(), _blank(match)) for match in _LAYOUT.finditer(text)]
    edits = sorted(edits + layout) if edits and layout else edits or layout
    return (_apply(result, edits), edits) if edits else (result, edits)


def _blank(match: re.Match[str]) -> str:
    text, start, end = match.string, match.start(), match.end()
    between = start > 0 and end < len(text) and _is_east_asian(text[start - 1]) and _is_east_asian(text[end])
    return "" if between else " "


_is_east_asian = re.compile(f"[{EAST_ASIAN}]").match


def _hard_edits(text: str, folded: str) -> Iterator[Edit]:
    if HARD not in folded:
        return
    for run in _HARD_RUN.finditer(folded):
        start = run.start()
        for at in range(start + 1, run.end()):
            if not _joins(text[at]) or at - start >= LONGEST_UNIT:
                yield from _unit_edit(text, start, at)
                start = at
        yield from _unit_edit(text, start, run.end())


def _unit_edit(text: str, start: int, end: int) -> Iterator[Edit]:
    """Fold one character with the marks that join it; invisible ones at its end belong to nobody."""
    visible = end
    while visible > start and _INVISIBLE.match(text[visible - 1]):
        visible -= 1
    if visible > start:
        yield start, visible, _settled(text[start:visible])
    if visible < end:
        yield visible, end, ""


def _joins(character: str) -> bool:
    """Say whether normalisation may join this character to the one before it."""
    if _INVISIBLE.match(character):
        return True
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


def _settled(piece: str) -> str:
    """Return the fixed point of folding one character or one character with its marks."""
    for _ in range(MOST_PASSES):
        folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", piece)).casefold()
        folded = unicodedata.normalize("NFKC", folded).translate(_SIMPLIFIED)
        if folded == piece:
            break
        piece = folded
    return piece


class _Folding(dict[int, str]):
    """Code point to its folded character, learnt as characters are met: a cache bounded by Unicode itself."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        folded = character if character.isspace() else _settled(character)
        if len(folded) != 1 or _joins(character) or _joins(folded):
            folded = HARD
        self[point] = folded
        return folded


_FOLDED = _Folding()


def _apply(text: str, edits: Iterable[Edit]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, new in edits:
        pieces += (text[at:start], new)
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _offsets(length: int, edits: Iterable[Edit]) -> OffsetMap:
    origins, ends = array("L"), array("L")  # machine integers: a list of them takes nine times the memory
    at = 0
    for start, end, new in edits:
        origins.extend(range(at, start))
        ends.extend(range(at + 1, start + 1))
        origins.extend([start] * len(new))
        ends.extend([end] * len(new))
        at = end
    origins.extend(range(at, length))
    ends.extend(range(at + 1, length + 1))
    return OffsetMap(origins, ends)
