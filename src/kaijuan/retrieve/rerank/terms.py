"""A question and a candidate as rows of term numbers, which are compared quickly."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kaijuan.core.text.analyse import WEIGHTS, TermKind, analyse, keys_of
from kaijuan.core.text.bm25 import term_id
from kaijuan.core.text.characters import HAN
from kaijuan.retrieve.ports import Words

Numbers = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]

_NEGATORS = frozenset(
    ("不", "没", "没有", "无", "非", "未", "勿", "莫", "否", "禁", "禁止", "不得", "不能", "不可")
) | {
    *("不可以", "不会", "不要", "不应", "不是", "not", "no", "never", "none", "without", "cannot", "neither", "nor"),
    *("isn", "doesn", "don", "didn", "wasn", "won", "can't", "isn't", "doesn't", "don't", "didn't", "wasn't", "won't"),
}
NEGATIONS = np.array(sorted(term_id(word) for word in _NEGATORS), dtype=np.uint32)
_CODE = re.compile(r"[(){}\[\]=_;<>]")
_CODE_SHARE = 0.08
"""Of such signs among its characters, from which a text is taken for code; prose has a hundredth."""
_REMEMBERED = 65_536
"""Terms whose numbers are kept: texts repeat their words."""
_LONGEST = 2000
"""Characters of a question that are compared softly."""
_LONG = 5.0
"""Letters from which a longer word says no more; a Han character counts as two and a half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text as numbers: its words in their order, and its pairs of characters, sorted and each once."""

    words: Numbers
    pairs: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a question asks for, each term once, in the order asked."""

    words: Numbers
    weights: Floats
    """What a word counts before its rarity: by its kind, and by its length, since short words are frequent ones."""
    exact: npt.NDArray[np.bool_]
    """Which words are codes, numbers or dates, where near is not enough."""
    denied: npt.NDArray[np.bool_]
    """Which words the question itself denies."""
    pairs: Numbers
    pieces: Numbers
    """Pieces of words by their numbers, each once; empty where nothing compares them."""


_number = lru_cache(maxsize=_REMEMBERED)(term_id)


def numbers(keys: Sequence[str]) -> Numbers:
    """Return the numbers of keys, in their order."""
    return np.array([_number(key) for key in keys], dtype=np.uint32)


def read_text(text: str) -> Text:
    """Return a candidate's text as numbers."""
    words, pairs = keys_of(text)
    return Text(words=numbers(words), pairs=np.unique(numbers(["~" + pair for pair in pairs])))


def code_likeness(text: str) -> float:
    """Return how much a text looks like program code, 0 to 1, by its brackets, equals signs and underscores."""
    share = len(_CODE.findall(text)) / max(1, len(text))
    return min(1.0, share / _CODE_SHARE)


def read_question(text: str, words: Words | None = None) -> Asked:
    """Return what a question asks for; where it holds nothing but function words, these."""
    terms = [term for term in analyse(text) if term.kind not in (TermKind.FORM, TermKind.LEAD)]
    telling = [term for term in terms if not term.weak] or terms
    named = {term.text: term for term in telling if term.kind is not TermKind.BIGRAM}
    denials = [term.span.end for term in terms if term.text in _NEGATORS]
    return Asked(
        words=numbers(list(named)),
        weights=np.array([_weight(term.text, term.kind) for term in named.values()], dtype=np.float64),
        exact=np.array([_is_exact(term.text, term.kind) for term in named.values()], dtype=np.bool_),
        denied=np.array(
            [any(0 <= term.span.start - end <= 1 for end in denials) for term in named.values()], dtype=np.bool_
        ),
        pairs=np.unique(numbers([term.text for term in telling if term.kind is TermKind.BIGRAM])),
        pieces=words.pieces([text[:_LONGEST]])[0] if words else numbers([]),
    )


def _is_exact(key: str, kind: TermKind) -> bool:
    return kind in (TermKind.CODE, TermKind.NUMBER, TermKind.DATE) or any(map(str.isdigit, key))


def _weight(key: str, kind: TermKind) -> float:
    if kind is not TermKind.WORD:
        return min(WEIGHTS[kind], 2.0)
    length = sum(2.5 if re.match(f"[{HAN}]", letter) else 1.0 for letter in key)
    return math.sqrt(min(length, 2 * _LONG) / _LONG)


def among(wanted: Numbers, there: Numbers) -> npt.NDArray[np.bool_]:
    """Say of each number wanted whether it is among those there, which ascend: several times faster than `np.isin`."""
    if not len(there):
        return np.zeros(len(wanted), dtype=np.bool_)
    at = np.minimum(np.searchsorted(there, wanted), len(there) - 1)
    return np.asarray(there[at] == wanted)


def negated(text: Text) -> npt.NDArray[np.bool_]:
    """Say of each word whether one of the two before it denies it."""
    denials = among(text.words, NEGATIONS)
    result = np.zeros(len(denials), dtype=np.bool_)
    result[1:] |= denials[:-1]
    result[2:] |= denials[:-2]
    return result
