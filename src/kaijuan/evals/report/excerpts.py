"""The part of a document to show beside a question: where most of its words are, with those words marked."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from kaijuan.core.spans import Span, merge
from kaijuan.core.text.analyse import Term, analyse

LENGTH = 200
"""Characters of an excerpt."""
_UNSEEN = frozenset("\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Characters that change how others are shown, or are shown as nothing."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Some text, marked where the question shares it."""

    text: str
    marked: bool


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """Pieces that follow one another; `before` and `after` say whether the document goes on there."""

    pieces: tuple[Piece, ...]
    before: bool
    after: bool


def excerpt(text: str, question: str, length: int = LENGTH) -> Excerpt:
    """Return the `length` characters of a text that share most with a question."""
    text = clean(text)
    terms = analyse(question)
    # Single characters mark too much, unless the question is one.
    wanted = {term.text for term in terms if not term.weak and len(term.span) > 1} or {term.text for term in terms}
    shared = [term for term in _terms(text) if term.text in wanted and len(term.span)]
    start = _best_start([(term.span.start, term.text) for term in shared], length)
    start = _back_to_word(text, start)
    window = Span(start, min(len(text), start + length))
    spans = [both for term in shared if (both := term.span.intersect(window))]
    return Excerpt(pieces=tuple(_pieces(text, window, spans)), before=start > 0, after=window.end < len(text))


@lru_cache(maxsize=512)
def _terms(text: str) -> Sequence[Term]:
    # A document is shown as expected and in both rankings; it is analysed once.
    return tuple(analyse(text))


def clean(text: str) -> str:
    """Return text without characters that are not seen or that turn the reading direction; blanks run together."""
    kept = (" " if letter.isspace() else "\ufffd" if _hidden(letter) else letter for letter in text)
    return " ".join("".join(kept).split())


def _hidden(letter: str) -> bool:
    return letter in _UNSEEN or unicodedata.category(letter) in ("Cc", "Cs", "Co", "Cn")


def _best_start(found: Sequence[tuple[int, str]], length: int) -> int:
    """Return where the window with the most different shared terms begins, a little before the first of them."""
    best, start = 0, 0
    for place, (at, _) in enumerate(found):
        terms = set()
        for other, term in found[place:]:
            if other >= at + length:
                break
            terms.add(term)
        if len(terms) > best:
            best, start = len(terms), at
    return max(0, start - length // 6)


def _back_to_word(text: str, start: int) -> int:
    """Move a start back to where a Latin word begins."""
    while start > 0 and text[start - 1].isascii() and text[start - 1].isalnum():
        start -= 1
    return start


def _pieces(text: str, window: Span, spans: Sequence[Span]) -> list[Piece]:
    pieces, at = [], window.start
    for span in merge(spans):
        if span.start > at:
            pieces.append(Piece(text=text[at : span.start], marked=False))
        pieces.append(Piece(text=span.of(text), marked=True))
        at = span.end
    if at < window.end:
        pieces.append(Piece(text=text[at : window.end], marked=False))
    return pieces
