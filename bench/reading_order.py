"""How well a text keeps the reading order of pages with several columns: Kendall's tau of words that occur once.

The references are boxes drawn by hand on the page images (bench/gold/reading_order.json: file, page from 1, boxes as
left, top, right, bottom in points, in the order in which a reader goes). The words in a box, line by line, are the
order that is wanted. Footnotes, captions, formulas and running heads, whose right place is a matter of taste, lie
outside the boxes and are not asked for.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pypdfium2
from scipy.stats import kendalltau

GOLD = Path(__file__).resolve().parent / "gold" / "reading_order.json"
FEWEST = 8
"""Words that must be found before an order can be told."""
_WORD = re.compile(r"[a-zäöüß]{4,}|[\u4e00-\u9fff]{3,}", re.I)
_HYPHEN = re.compile(r"[-\u00ad\x02\ufffe]\s*")
_HAN = 3
"""Characters of Chinese that stand for a word."""


def words_of(text: str) -> list[str]:
    """Return the words in order; of Chinese, every three characters that follow each other."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        run = match.group().lower()
        if run[0] < "\u4e00":
            found.append(run)
        else:
            found += [run[at : at + _HAN] for at in range(len(run) - _HAN + 1)]
    return found


@cache
def gold() -> dict[str, dict[str, list[list[float]]]]:
    """Return the boxes by file and page."""
    found: dict[str, dict[str, list[list[float]]]] = json.loads(GOLD.read_text(encoding="utf-8"))
    return found


def wanted(path: Path, boxes: dict[str, list[list[float]]]) -> list[str]:
    """Return the words of the boxes in the order to be read, those alone that stand nowhere else in the file.

    A word that stands once on each of two pages of boxes (an exam paper may be printed twice) counts as two.
    """
    file = pypdfium2.PdfDocument(str(path))
    try:
        everywhere = _counts([file[page].get_textpage().get_text_bounded() for page in range(len(file))])
        pages = [[word for box in boxes[page] for word in _inside(file, page, box)] for page in sorted(boxes, key=int)]
    finally:
        file.close()
    counts = [Counter(words) for words in pages]
    single = {word for word in everywhere if sum(count[word] == 1 for count in counts) == everywhere[word]}
    return [word for words in pages for word in words if word in single]


def _counts(pages: Sequence[str]) -> Counter[str]:
    """Return how often each word occurs, also when hyphens at ends of lines are undone."""
    return Counter(words_of("\n".join(pages))) | Counter(words_of(_HYPHEN.sub("", "\n".join(pages))))


def _inside(file: pypdfium2.PdfDocument, page: str, box: Sequence[float]) -> list[str]:
    sheet = file[int(page) - 1]
    left, top, right, bottom = box
    height = sheet.get_height()
    text = sheet.get_textpage().get_text_bounded(left, height - bottom, right, height - top)
    return words_of(text)


def tau(text: str, order: Sequence[str]) -> tuple[float | None, float]:
    """Return Kendall's tau of the wanted words that a text holds as often, and their share of all that are wanted."""
    asked = Counter(order)
    places: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(words_of(text)):
        if word in asked:
            places[word].append(at)
    left = {word: iter(found) for word, found in places.items() if len(found) == asked[word]}
    found = [next(left[word]) for word in order if word in left]
    share = len(found) / max(len(order), 1)
    if len(found) < FEWEST:
        return None, share
    return float(kendalltau(range(len(found)), found).statistic), share
