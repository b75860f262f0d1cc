"""Text layers that may not say what the page shows: fonts with wrong character maps, scans with a bad layer of words.

Such a layer looks like text. What gives it away is odd statistics, or a picture under it that fills the page; then the
page is drawn and recognised, and the layer is kept only if it agrees with what was read.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from kaijuan.ingest.parsers.pdf_lines import Run
from kaijuan.ingest.parsers.pdf_page import PageText
from kaijuan.ingest.ports import RecognisedLine

_LEAST = 40
"""Fewer characters prove nothing."""
_ODD_SHARE = 0.05
_ODD = frozenset({"Cn", "Co", "Cc", "Cs"})
_LEAST_LATIN = 150
_FEW_VOWELS, _MANY_VOWELS = 0.22, 0.62
_VOWELS = frozenset("aeiouyAEIOUYäöüéèáàíóúåæøÄÖÜ")
_FILLS = 0.75
_CHECKED = 3
"""A layer over scans that was right on so many pages is believed on the others."""
_AGREES = 0.85
_SURE = 0.8
_ENOUGH = 0.7


class Doubts:
    """What has been found about the text layers of one document so far."""

    def __init__(self) -> None:
        self._right = 0

    def about(self, text: PageText) -> bool:
        """Say whether the layer of a page should be compared with the page."""
        chars = [char for run in text.runs for char in run.chars if not char.isspace()]
        if len(chars) < _LEAST:
            return False
        if _is_odd(chars):
            return True
        return self._right < _CHECKED and _is_scan(text)

    def agree(self, text: PageText, lines: Sequence[RecognisedLine]) -> bool:
        """Say whether a layer says what was recognised, or what was recognised is too little to judge by."""
        layer = "".join(char for run in text.runs for char in run.chars)
        read = "".join(line.text for line in lines)
        sure = sum(len(line.text) * line.confidence for line in lines) / max(len(read), 1)
        right = sure < _SURE or len(read) < _ENOUGH * len(layer) or likeness(layer, read) >= _AGREES
        self._right += right
        return right


def _is_odd(chars: Sequence[str]) -> bool:
    if sum(1 for char in chars if unicodedata.category(char) in _ODD) > _ODD_SHARE * len(chars):
        return True
    latin = [char for char in chars if char.isascii() and char.isalpha()]
    if len(latin) < max(_LEAST_LATIN, 0.5 * len(chars)):
        return False
    vowels = sum(1 for char in latin if char in _VOWELS) / len(latin)
    return not _FEW_VOWELS <= vowels <= _MANY_VOWELS


def _is_scan(text: PageText) -> bool:
    area = text.width * text.height
    return any((box[2] - box[0]) * (box[3] - box[1]) > _FILLS * area for box in text.graphics.pictures)


def likeness(first: str, second: str) -> float:
    """Return the share of pairs of neighbouring letters that two texts have in common (0 to 1), in whatever order."""
    one, other = _pairs(first), _pairs(second)
    total = max(sum(one.values()), sum(other.values()))
    return sum((one & other).values()) / total if total else 1.0


def _pairs(text: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise(char for char in unicodedata.normalize("NFKC", text).lower() if char.isalnum()))


def words_inside(runs: Sequence[Run], box: tuple[float, float, float, float]) -> bool:
    """Say whether any text of a layer stands in a box."""
    return any(box[0] <= (run.x0 + run.x1) / 2 <= box[2] and box[1] <= (run.y0 + run.y1) / 2 <= box[3] for run in runs)
