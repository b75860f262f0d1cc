"""The sentences that say most about a whole document, without a model: central, early, unlike each other.

Of every paragraph only the beginning is looked at, where writers say what it is about (Baxendale, "Machine-made index
for technical literature", 1958); of these sentences those are taken whose words most other sentences share, as in
Radev et al., "Centroid-based summarization of multiple documents" (2004), each unlike those taken before it (Carbonell
and Goldstein, "The use of MMR", 1998).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kaijuan.core.documents import Block, BlockKind
from kaijuan.core.spans import Span
from kaijuan.core.text.characters import HAN
from kaijuan.core.text.sentences import sentences
from kaijuan.core.text.stopwords import CHINESE, ENGLISH

_TELLING = frozenset({BlockKind.PARAGRAPH, BlockKind.QUOTE, BlockKind.LIST})
_SEEN = 400
"""Characters looked at of each block."""
_LEADING = 2
"""Sentences taken of each block."""
_MOST = 300
"""Sentences compared; of a document with more, evenly spread ones."""
_SHORTEST, _LONGEST = 8, 240
_EARLY = 0.3
"""What the first sentence gains over the last, as a share of the best score."""
_UNLIKE = 0.5
"""What is taken off a sentence all of whose words were said already."""
_WORDS = re.compile(rf"[{HAN}]+|[^\W\d_{HAN}][^\W_{HAN}]+")
_STOPS = ENGLISH | CHINESE


@dataclass(frozen=True, slots=True)
class _Said:
    span: Span
    words: frozenset[str]


def summary(
    text: str, blocks: Sequence[Block], most_tokens: int, size: Callable[[str], int], avoid: Sequence[Span] = ()
) -> list[Span]:
    """Return the sentences of a summary in reading order, together at most `most_tokens` as `size` measures them.

    None shares a character with the spans to `avoid`. Linear in the number of blocks. No sentence fits, no summary.
    """
    found = _candidates(text, blocks)
    said = _spread([one for one in found if all(one.span.intersect(place) is None for place in avoid)])
    if not said:
        return []
    shared = Counter(word for one in said for word in one.words)
    # A word of one sentence says nothing of the whole, one of nearly all sentences nothing of any.
    weights = {word: count for word, count in shared.items() if 1 < count <= max(2, 0.6 * len(said))}
    scores = [_central(one, weights) for one in said]
    best = max(scores) or 1.0
    scores = [score / best + _EARLY * (1 - at / len(said)) for at, score in enumerate(scores)]
    return sorted(_taken(text, said, scores, most_tokens, size))


def _candidates(text: str, blocks: Sequence[Block]) -> Iterator[_Said]:
    for block in blocks:
        if block.kind not in _TELLING:
            continue
        start = block.span.start
        beginning = text[start : min(block.span.end, start + _SEEN)]
        for sentence in sentences(beginning)[:_LEADING]:
            cut = sentence.end == len(beginning) and start + sentence.end < block.span.end
            if _SHORTEST <= len(sentence) <= _LONGEST and not cut:
                words = frozenset(_words(sentence.of(beginning)))
                if len(words) > 1:
                    yield _Said(sentence.shift(start), words)


def _spread(said: list[_Said]) -> list[_Said]:
    if len(said) <= _MOST:
        return said
    return [said[at * len(said) // _MOST] for at in range(_MOST)]


def _words(sentence: str) -> Iterator[str]:
    for run in _WORDS.findall(sentence):
        if run[0].isascii() or len(run) < 2:
            if (word := run.lower()) not in _STOPS:
                yield word
        else:
            # Pairs of characters stand for words: cutting words would cost more than all the rest.
            yield from (pair for pair in map("".join, pairwise(run)) if pair not in _STOPS)


def _central(one: _Said, weights: dict[str, int]) -> float:
    shared = sum(weights.get(word, 0) for word in one.words)
    return float(shared / len(one.words) ** 0.5)


def _taken(
    text: str, said: Sequence[_Said], scores: Sequence[float], most: int, size: Callable[[str], int]
) -> Iterator[Span]:
    left = set(range(len(said)))
    known: set[str] = set()
    room = most
    while left and room > 0:
        at = max(left, key=lambda at: (scores[at] - _UNLIKE * _repeated(said[at], known), -at))
        left.remove(at)
        tokens = size(said[at].span.of(text))
        if tokens > room:
            # One more look at what is shorter, then enough: the best are in.
            left = {other for other in left if len(said[other].span) < len(said[at].span)}
            continue
        yield said[at].span
        known |= said[at].words
        room -= tokens


def _repeated(one: _Said, known: set[str]) -> float:
    return len(one.words & known) / len(one.words)
