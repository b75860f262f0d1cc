"""Expansions as terms of the lexical route: searched beside the words of the question, never instead of them."""

from __future__ import annotations

from collections.abc import Iterable

from kaijuan.core.text.analyse import analyse
from kaijuan.core.text.bm25 import weighted_terms
from kaijuan.retrieve.understanding.results import Expansion


def expansion_terms(question: str, expansions: Iterable[Expansion], share: float) -> dict[str, float]:
    """Return term to weight for what is searched besides the question.

    All words of one expansion together count `share` of what they stand for, so that a name of five words does not
    outweigh the question; several expansions of the same words each count for themselves. A term that two of them
    have counts once, with its greater weight.
    """
    asked = analyse(question)
    weights: dict[str, float] = {}
    for one in expansions:
        said = sum(term.weight for term in asked if one.span.contains(term.span))
        terms = weighted_terms(one.words)
        whole = sum(terms.values())
        if not whole:
            continue
        scale = share * max(said, 1.0) / whole
        for term, weight in terms.items():
            weights[term] = max(weights.get(term, 0.0), weight * scale)
    return weights
