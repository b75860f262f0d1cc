"""From text to terms, the same way for what is stored and for what is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from operator import add

from kaijuan.core.spans import Span
from kaijuan.core.text import identifiers
from kaijuan.core.text.characters import HAN, HANGUL, MARKS, UNSPACED
from kaijuan.core.text.expressions import expressions
from kaijuan.core.text.normalise import folded, normalise
from kaijuan.core.text.stopwords import CHINESE, ENGLISH

ANALYSER = "1"
"""Version of everything that decides which terms a text has. Stored with an index; another one means a rebuild."""

Cutter = Callable[[str], Sequence[tuple[str, int, int]]]
"""Cuts a run of ideographs into words, as (word, start, end), overlapping where a word holds words."""


class TermKind(StrEnum):
    """What a term is, and so how much it says. The kind shows in the first character of the key."""

    WORD = "word"
    """A Han word, a Latin word without its ending, or a number; the plain key."""
    FORM = "form"
    """A Latin word as it was typed, where that differs (key "=running")."""
    BIGRAM = "bigram"
    """Two neighbouring characters of a script without blanks (key "~文字")."""
    CODE = "code"
    """A whole identifier, version, model name, measure, path or address in its one spelling (key "#err9988")."""
    LEAD = "lead"
    """The leading part of a longer code (key "<gbt7714")."""
    NUMBER = "number"
    """An ordinal or a counted thing (key "+第12条")."""
    DATE = "date"
    """A day or month (key "@2024-03-05")."""


PREFIXES = {
    TermKind.FORM: "=",
    TermKind.BIGRAM: "~",
    TermKind.CODE: "#",
    TermKind.LEAD: "<",
    TermKind.NUMBER: "+",
    TermKind.DATE: "@",
}
_ORDINAL = "+第"
_KINDS = {prefix: kind for kind, prefix in PREFIXES.items()}

WEIGHTS = {
    TermKind.WORD: 1.0,
    TermKind.FORM: 0.3,
    TermKind.BIGRAM: 0.5,
    TermKind.CODE: 4.0,
    TermKind.LEAD: 0.5,
    TermKind.NUMBER: 0.5,
    TermKind.DATE: 1.0,
}
"""What a term of a kind counts in a query, before its rarity.

Chosen one at a time by nDCG@10 of BM25 alone on up to twelve public sets, the same ones it is reported on. Bigrams:
without them it is 0.4 points less, 0.3 to 0.7 are level, 1 begins to hurt. Forms: 0 loses 0.2 points, 0.8 loses 0.3.
Codes: 2 to 6 are level on nine sets, which hold few; 4 lets a code outweigh a handful of common words of the question.
"""
LETTER_CODE_WEIGHT = 0.7
"""Of a code without a digit (a file or domain name, R&D): its parts tell as much."""
WEAK_WEIGHT = 0.2
"""Of function words, relative to others: 0 to 0.6 are level in nDCG@10, 1 loses 0.8 points."""

LONGEST_STEMMED = 40
"""Letters of a word that is stemmed and remembered; longer ones are no words."""
_SHORT = 300
"""Characters of a text whose terms are remembered: a question is analysed by half a dozen steps, one after another."""
_ANALYSED = 256
_LONGEST_RUN = 4096
"""Ideographs cut into words at once, so that the segmenter's memory stays bounded on unbroken text."""

_BREAK = re.compile("[，；！？、：“”‘’「」『』《》〈〉\t\v\f\u2028\u2029]|\n(?=[^\\S\n]*\n)")
_DASH = re.compile("[\u2010-\u2015\u2212\uff0d]")
_LETTER = rf"[^\W_{UNSPACED}]"
_WORD = rf"(?:{_LETTER}|[{MARKS}])"
_TOKEN = re.compile(
    rf"([{UNSPACED}]+)"
    rf"|{_LETTER}{_WORD}*+"
    rf"(?:(?:[-_]{{1,2}}|[./\\@&+#×*·'’?=%]|://|(?<=\d)[:,](?=\d)){_WORD}++)*+(?:\+\+|#|%)?"
)
_HAN_RUN = re.compile(f"[{HAN}]+")
_HANGUL = re.compile(f"[{HANGUL}]")

Place = tuple[str, int, int]
"""A term's key, and where it starts and ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One occurrence of a term. `text` is its key in an index, `span` its place in the original text."""

    text: str
    span: Span
    kind: TermKind
    weight: float
    """How much the term counts in a query, before its rarity."""
    weak: bool = False
    """A function word, or a bigram that touches one."""


def analyse(text: str, *, cut: Cutter | None = None) -> list[Term]:
    """Return the terms of `text` in order of their places, with spans that count in `text` itself.

    `cut` replaces the word segmenter, for a knowledge base with its own dictionary. Linear in the length of
    `text`; a term is here once for each of its occurrences.
    """
    if cut is None and len(text) <= _SHORT:
        return list(_remembered_terms(text))
    return list(_terms(text, cut))


def _terms(text: str, cut: Cutter | None) -> Iterator[Term]:
    matched, offsets = normalise(marked(text))
    places = sorted(places_of(matched, cut), key=lambda place: place[1:])
    silent = _silent(places)
    for key, start, end in places:
        kind, weak = kind_of(key), _is_weak(key, start, silent)
        weight = _weight(key, kind) * (WEAK_WEIGHT if weak else 1.0)
        yield Term(text=key, span=offsets.back(Span(start, end)), kind=kind, weight=weight, weak=weak)


@lru_cache(maxsize=_ANALYSED)
def _remembered_terms(text: str) -> tuple[Term, ...]:
    return tuple(_terms(text, None))


def keys_of(text: str, *, cut: Cutter | None = None) -> tuple[list[str], list[str]]:
    """Return the keys of all terms of `text`, bigrams apart and without their prefix: `analyse` without places."""
    text = folded(marked(text))
    cut = cut or _cut
    keys: list[str] = []
    bigrams: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if match.lastindex:
            keys += [word for word, _, _ in _words(token, cut)]
            bigrams += map(add, token, token[1:])
        else:
            words, pairs = _token_keys(token)
            keys += words
            bigrams += pairs
    keys += [PREFIXES[TermKind(found.kind)] + found.key for found in expressions(text)]
    return keys, bigrams


def kind_of(key: str) -> TermKind:
    """Return the kind of the term with this key."""
    return _KINDS.get(key[0], TermKind.WORD)


def marked(text: str) -> str:
    """Return `text`, character for character, with what ends a phrase made a full stop before folding hides it."""
    return _DASH.sub("-", _BREAK.sub("。", text))


def places_of(matched: str, cut: Cutter | None = None) -> Iterator[Place]:
    """Yield the terms of normalised text with their places in it, token by token."""
    cut = cut or _cut
    for match in _TOKEN.finditer(matched):
        token, start = match.group(), match.start()
        if match.lastindex:
            yield from ((word, start + left, start + right) for word, left, right in _words(token, cut))
            yield from (("~" + token[at : at + 2], start + at, start + at + 2) for at in range(len(token) - 1))
        else:
            yield from ((key, start + left, start + right) for key, left, right in _token_places(token))
    for found in expressions(matched):
        yield PREFIXES[TermKind(found.kind)] + found.key, found.start, found.end


def _silent(places: Sequence[Place]) -> frozenset[int]:
    """Return the positions of Chinese function words: a bigram that touches one says little."""
    return frozenset(at for key, start, end in places if key in CHINESE for at in range(start, end))


def _is_weak(key: str, start: int, silent: frozenset[int]) -> bool:
    if key[0] == "~":
        return start in silent or start + 1 in silent
    return key.lstrip("=") in ENGLISH or key in CHINESE


def _weight(key: str, kind: TermKind) -> float:
    if key.startswith(_ORDINAL):
        return WEIGHTS[TermKind.CODE]  # 第12条 is the name of an article, not an amount
    if kind is TermKind.CODE and not any(map(str.isdigit, key)):
        return LETTER_CODE_WEIGHT
    return WEIGHTS[kind]


def _cut(run: str) -> Sequence[Place]:
    # Imported late: loading the dictionary takes a tenth of a second, which `import kaijuan` must not cost.
    import rjieba

    words: list[Place] = rjieba.tokenize(run, "search")
    return words


def _words(run: str, cut: Cutter) -> Iterator[Place]:
    for han in _HAN_RUN.finditer(run):
        for at in range(han.start(), han.end(), _LONGEST_RUN):
            words = cut(run[at : min(at + _LONGEST_RUN, han.end())])
            yield from words if at == 0 else ((word, at + left, at + right) for word, left, right in words)


def _token_places(token: str) -> tuple[Place, ...]:
    return _remembered_places(token) if len(token) <= LONGEST_STEMMED else tuple(_analysed(token))


def _token_keys(token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _remembered_keys(token) if len(token) <= LONGEST_STEMMED else _keys(token)


@lru_cache(maxsize=65_536)
def _remembered_places(token: str) -> tuple[Place, ...]:
    return tuple(_analysed(token))


@lru_cache(maxsize=65_536)
def _remembered_keys(token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return _keys(token)


def _keys(token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    places = tuple(_analysed(token))
    return (
        tuple(key for key, _, _ in places if key[0] != "~"),
        tuple(key[1:] for key, _, _ in places if key[0] == "~"),
    )


def _analysed(token: str) -> Iterator[Place]:
    """Yield the terms of one token of letters, digits and joints, with places counted from its start."""
    if token.isalpha():
        yield from _word_places(token, 0)
        if _HANGUL.match(token):
            yield from (("~" + token[at : at + 2], at, at + 2) for at in range(len(token) - 1))
    elif identifiers.is_number(token):
        yield identifiers.canonical(token), 0, len(token)
    else:
        if len(token) <= identifiers.LONGEST_WHOLE and not identifiers.is_date(token):
            yield from _whole_places(token)
        for piece, at in identifiers.pieces(token):
            yield from _word_places(piece, at)
            for run, inner in identifiers.runs(piece):
                yield from _word_places(run, at + inner)


def _whole_places(token: str) -> Iterator[Place]:
    whole = identifiers.canonical(token)
    if identifiers.is_hyphenated(token):
        # A word like others, so that XXL-JOB is found as xxljob and e-mail as email.
        yield from _word_places(whole, 0, len(token))
    yield "#" + whole, 0, len(token)
    for lead in identifiers.leads(token):
        yield "<" + lead, 0, len(token)
    for segment, at in identifiers.segments(token):
        yield "#" + identifiers.canonical(segment), at, at + len(segment)


def _word_places(word: str, start: int, length: int = 0) -> Iterator[Place]:
    end = start + (length or len(word))
    stem = word if len(word) > LONGEST_STEMMED or not word.isalpha() else _stem(word)
    yield stem, start, end
    if stem != word:
        yield "=" + word, start, end


def _stem(word: str) -> str:
    from snowballstemmer.english_stemmer import EnglishStemmer

    # A new stemmer for each new word: the object holds the word it works on and so is not safe between threads.
    stem: str = EnglishStemmer().stemWord(word)
    return stem
