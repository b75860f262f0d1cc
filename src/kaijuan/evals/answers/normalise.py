"""One spelling of an answer, so that what is compared is what is said and not how it is written.

English as SQuAD has it (Rajpurkar et al., 2016): lower case, no articles, no punctuation, single blanks. Chinese as
CMRC 2018 has it (Cui et al., 2019): no punctuation, each ideograph a token of its own, Latin words and numbers whole.
Both after the engine's own folding, so that full width, traditional characters and layout blanks do not count. Two
deviations: a point between digits stays (10.4 is not 104), and initials are one word (U.S. is us).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kaijuan.core.text.characters import UNSPACED
from kaijuan.core.text.normalise import folded

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_SEGMENT = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_WIDE = re.compile("[\u3001-\u3004\u3006\u3008-\u303f！（），：；？]")
"""Chinese marks: they part words without blanks, while a mark of ASCII within a word vanishes, as in SQuAD."""
_KEPT_POINT = "\ue000"
"""Stands for the point of a number while marks are removed: a private character that `folded` leaves alone."""


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return the one spelling of an answer: folded, without articles and marks."""
    text = folded(_WIDE.sub(" ", text)).replace(_KEPT_POINT, "")
    text = _INITIALS.sub(lambda found: found[0].replace(".", ""), text)
    text = _POINT.sub(_KEPT_POINT, _THOUSANDS.sub("", text))
    bare = "".join(letter for letter in text if unicodedata.category(letter)[0] not in "PS")
    # Folded again: marks that are gone may have kept blanks between ideographs apart.
    return folded(" ".join(_ARTICLES.sub(" ", bare).replace(_KEPT_POINT, ".").split()))


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of the one spelling: ideographs one by one, all else by blanks."""
    return tuple(_SEGMENT.findall(plain(text)))


_WORD = re.compile(rf"\d+(?:\.\d+)*|[{UNSPACED}]|[^\W\d_{UNSPACED}]+")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return ideographs, Latin words and numbers in order, for finding one text within another.

    Unlike `tokens` it parts at every mark and between letters and digits, so that a hyphen more or less does not matter
    (Spider-Man, Spider Man) and a short answer is not found inside a longer word or number.
    """
    text = _APOSTROPHE.sub("", folded(text))
    text = _INITIALS.sub(lambda found: found[0].replace(".", ""), text)
    return tuple(_WORD.findall(_ARTICLES.sub(" ", _THOUSANDS.sub("", text))))
