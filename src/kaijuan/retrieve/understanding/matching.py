"""Where words stand in a question: whole words in spaced scripts, any place in unspaced ones, the longest first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from kaijuan.core.glossary import HEAD
from kaijuan.core.spans import Span
from kaijuan.core.text.characters import HAN

LONGEST = 1000
"""Characters of a question that are looked at for names."""
_LONGEST_SHORT = 12
_LATIN = re.compile(rf"(?:(?![{HAN}])[\w&/.+-])+")
_HAN_RUN = re.compile(rf"[{HAN}]+")


def places(name: str, question: str) -> Iterator[Span]:
    """Yield where a folded name stands in a folded question."""
    if not name:
        return
    at = question.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_within_word(question, at) or _within_word(question, end)):
            yield Span(at, end)
        at = question.find(name, end)


def _within_word(question: str, at: int) -> bool:
    """Say whether a place lies between two letters of one word."""
    return 0 < at < len(question) and _joined(question[at - 1], question[at])


def _joined(left: str, right: str) -> bool:
    return all(character.isalnum() and not _HAN_RUN.match(character) for character in (left, right))


def longest(found: Collection[Span]) -> list[Span]:
    """Return the spans of which none lies within a longer one, in order."""
    kept: list[Span] = []
    for span in sorted(found, key=lambda span: (-len(span), span.start)):
        if not any(other.contains(span) for other in kept):
            kept.append(span)
    return sorted(kept)


def short_keys(question: str) -> list[str]:
    """Return what in a folded question may be a short name: whole Latin words, and short runs of Han characters."""
    keys: dict[str, None] = {}
    for match in _LATIN.finditer(question[:LONGEST]):
        word = match.group().strip("&/.+-")
        if 2 <= len(word) <= _LONGEST_SHORT:
            keys[word] = None
    for match in _HAN_RUN.finditer(question[:LONGEST]):
        run = match.group()
        for size in range(2, 9):
            keys.update(dict.fromkeys(run[at : at + size] for at in range(len(run) - size + 1)))
    return list(keys)


def heads(question: str) -> list[str]:
    """Return how a full name that stands in a folded question may begin."""
    question = question[:LONGEST]
    starts = (at for at in range(len(question) - HEAD + 1) if not _within_word(question, at) and question[at] != " ")
    return list(dict.fromkeys(question[at : at + HEAD] for at in starts))
