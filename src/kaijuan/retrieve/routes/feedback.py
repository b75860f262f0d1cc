"""Pseudo-relevance feedback: words of the first chunks found, searched beside those of the question.

As in relevance models (Lavrenko and Croft, SIGIR 2001): what several of the first chunks say, and the better ones more,
is taken to be about the question. Off by default: where the first chunks are wrong, so are their words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.retrieve.ports import Query

_TAKEN = frozenset({TermKind.WORD, TermKind.CODE})
_FEWEST_HOLDERS = 2
"""Chunks that must hold a word, where so many were found: one chunk has words of its own."""


def feedback_terms(query: Query, texts: Sequence[str], *, most: int, share: float) -> dict[str, float]:
    """Return term to weight, heaviest first; together they weigh `share` of the question's own terms."""
    asked = set(query.terms)
    scores: dict[str, float] = {}
    holders: Counter[str] = Counter()
    for rank, text in enumerate(texts, start=1):
        found = Counter(
            term.text
            for term in analyse(text)
            if term.kind in _TAKEN and not term.weak and len(term.text) > 1 and term.text not in asked
        )
        for term, count in found.items():
            scores[term] = scores.get(term, 0.0) + (1 + math.log(count)) / rank
            holders[term] += 1
    fewest = min(_FEWEST_HOLDERS, len(texts))
    kept = [term for term in scores if holders[term] >= fewest]
    best = sorted(kept, key=lambda term: (-round(scores[term], 12), term))[:most]
    whole = sum(scores[term] for term in best)
    own = sum(query.weights.values())
    return {term: share * own * scores[term] / whole for term in best}
