"""From text to terms, the same way for what is stored and for what is asked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from kaijuan.core.spans import Span
from kaijuan.core.text import identifiers
from kaijuan.core.text.characters import HAN, HANGUL, MARKS, UNSPACED
from kaijuan.core.text.expressions import expressions
from kaijuan.core.text.normalise import normalise
from kaijuan.core.text.stopwords import CHINESE, ENGLISH

ANALYSER = "1"
"""Version of everything that decides which terms a text has. Stored with an index; another one means a rebuild."""

Cutter = Callable[[str], Sequence[tuple[str, int, int]]]
"""Cuts a run of ideographs into words, as (word, start, end), overlapping where a word holds words."""


class TermKind(StrEnum):
    """What a term is, and so how much it says. Kinds that could collide have a prefix in their key."""

    WORD = "word"
    """A Han word, or a Latin word as it was typed where its stem differs (key "=running")."""
    STEM = "stem"
    """A Latin word without its ending, or a number; the plain key."""
    BIGRAM = "bigram"
    """Two neighbouring characters of a script without blanks (key "~文字")."""
    CODE = "code"
    """A whole identifier, version, model name or measure in its one spelling (key "#err9988")."""
    LEAD = "lead"
    """The leading part of a longer code, or a named piece of a path (key "<gb/t7714")."""
    NUMBER = "number"
    """An ordinal or a counted thing (key "+第12条")."""
    DATE = "date"
    """A day or month (key "@2024-03-05")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of a text. `text` is its key in an index, `span` where it stands in the original."""

    text: str
    span: Span
    kind: TermKind
    weight: float
    """How much the term counts in a query, before its rarity."""


class RawTerm(NamedTuple):
    """A term before its place is led back to the original."""

    key: str
    start: int
    end: int
    kind: TermKind
    weak: bool
    """A function word, or made of one."""


WEIGHTS = {
    TermKind.WORD: 1.0,
    TermKind.STEM: 1.0,
    TermKind.BIGRAM: 0.3,
    TermKind.CODE: 3.0,
    TermKind.LEAD: 1.0,
    TermKind.NUMBER: 0.5,
    TermKind.DATE: 1.0,
}
FORM_WEIGHT = 0.2
"""Of a Latin word as typed, beside its stem."""
WEAK_WEIGHT = 0.1
"""Of function words, relative to others."""

LONGEST_STEMMED = 40
_LONGEST_RUN = 4096
"""Ideographs cut into words at once, so that the segmenter's memory stays bounded on unbroken text."""

_BREAKS = {ord(character): "。" for character in "，；！？、：“”‘’「」『』《》〈〉\t\v\f\u2028\u2029"} | {
    ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d"
}
_BLANK_LINE = re.compile(r"\n(?=[^\S\n]*\n)")
_LETTER = rf"[^\W_{UNSPACED}]"
_WORD = rf"(?:{_LETTER}|[{MARKS}])"
_TOKEN = re.compile(
    rf"(?P<run>[{UNSPACED}]+)"
    rf"|(?P<code>{_LETTER}{_WORD}*"
    rf"(?:(?:[-_]{{1,2}}|[./\\@&+#×*·'’?=%]|://|(?<=\d)[:,](?=\d)){_WORD}+)*(?:\+\+|#)?)"
)
_HAN_RUN = re.compile(f"[{HAN}]+")
_HANGUL = re.compile(f"[{HANGUL}]")


def analyse(text: str, *, cut: Cutter | None = None) -> list[Term]:
    """Return the terms of `text` in order of their places, with spans that count in `text` itself.

    `cut` replaces the word segmenter, for a knowledge base with its own dictionary. Linear in the length of
    `text`; every term of a kind that an index holds is here once for each of its occurrences.
    """
    folded, offsets = normalise(marked(text))
    return [
        Term(
            text=raw.key,
            span=offsets.back(Span(raw.start, raw.end)),
            kind=raw.kind,
            weight=weight_of(raw),
        )
        for raw in sorted(raw_terms(folded, cut), key=lambda raw: (raw.start, raw.end))
    ]


def marked(text: str) -> str:
    """Return `text`, character for character, with what ends a phrase made a full stop before folding hides it."""
    text = text.translate(_BREAKS)
    return _BLANK_LINE.sub("。", text) if "\n" in text else text


def weight_of(raw: RawTerm) -> float:
    """Return the weight of a term in a query."""
    weight = FORM_WEIGHT if raw.kind is TermKind.WORD and raw.key[0] == "=" else WEIGHTS[raw.kind]
    return weight * WEAK_WEIGHT if raw.weak else weight


def raw_terms(folded: str, cut: Cutter | None = None) -> Iterator[RawTerm]:
    """Yield the terms of normalised text, token by token."""
    cut = cut or _cut
    for match in _TOKEN.finditer(folded):
        if match.lastgroup == "run":
            yield from _run_terms(match.group(), match.start(), cut)
        else:
            yield from _token_terms(match.group(), match.start())
    for found in expressions(folded):
        kind = TermKind(found.kind)
        yield RawTerm(_PREFIX[kind] + found.key, found.start, found.end, kind, False)


_PREFIX = {TermKind.CODE: "#", TermKind.LEAD: "<", TermKind.NUMBER: "+", TermKind.DATE: "@"}


def _cut(run: str) -> Sequence[tuple[str, int, int]]:
    # Imported late: loading the dictionary takes a tenth of a second, which `import kaijuan` must not cost.
    import rjieba

    words: list[tuple[str, int, int]] = rjieba.tokenize(run, "search")
    return words


def _run_terms(run: str, start: int, cut: Cutter) -> Iterator[RawTerm]:
    silent: set[int] = set()
    for han in _HAN_RUN.finditer(run):
        for at in range(han.start(), han.end(), _LONGEST_RUN):
            for word, left, right in cut(run[at : min(at + _LONGEST_RUN, han.end())]):
                weak = word in CHINESE
                if weak:
                    silent.update(range(at + left, at + right))
                yield RawTerm(word, start + at + left, start + at + right, TermKind.WORD, weak)
    for at in range(len(run) - 1):
        weak = at in silent or at + 1 in silent
        yield RawTerm("~" + run[at : at + 2], start + at, start + at + 2, TermKind.BIGRAM, weak)


def _token_terms(token: str, start: int) -> Iterator[RawTerm]:
    if token.isalpha():
        yield from _word_terms(token, start)
        if _HANGUL.match(token):
            for at in range(len(token) - 1):
                yield RawTerm("~" + token[at : at + 2], start + at, start + at + 2, TermKind.BIGRAM, False)
        return
    if token.isdigit():
        yield RawTerm(token, start, start + len(token), TermKind.STEM, False)
        return
    if len(token) <= identifiers.LONGEST_WHOLE:
        yield from _code_terms(token, start)
    for piece, at in identifiers.pieces(token):
        yield from _word_terms(piece, start + at)
        for run, inner in identifiers.runs(piece):
            yield from _word_terms(run, start + at + inner)


def _code_terms(token: str, start: int) -> Iterator[RawTerm]:
    end = start + len(token)
    bare = token.replace("'", "").replace("’", "")
    if not bare.isalpha():
        yield RawTerm("#" + identifiers.canonical(token), start, end, TermKind.CODE, False)
    for lead in identifiers.leads(token):
        yield RawTerm("<" + lead, start, end, TermKind.LEAD, False)
    for piece, at in identifiers.segments(token):
        yield RawTerm("#" + identifiers.canonical(piece), start + at, start + at + len(piece), TermKind.CODE, False)


def _word_terms(word: str, start: int) -> Iterator[RawTerm]:
    weak = word in ENGLISH
    stem = _stem(word) if len(word) <= LONGEST_STEMMED else word
    yield RawTerm(stem, start, start + len(word), TermKind.STEM, weak)
    if stem != word:
        yield RawTerm("=" + word, start, start + len(word), TermKind.WORD, weak)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    from snowballstemmer.english_stemmer import EnglishStemmer

    # A new stemmer for each new word: the object holds the word it works on and so is not safe between threads.
    stem: str = EnglishStemmer().stemWord(word)
    return stem
