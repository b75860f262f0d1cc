"""BM25 over our own terms: what a document says, what a query asks, and how rare a term is.

The score of a document is the sum over shared terms of query weight x idf x document weight, so that any engine
that can multiply sparse vectors ranks alike (Robertson and Zaragoza 2009; fields are added before saturation, as in
BM25F).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from zlib import crc32

from kaijuan.core.text.analyse import WEIGHTS, Cutter, TermKind, marked, raw_terms, weight_of
from kaijuan.core.text.normalise import normalise

K1 = 1.2
B = 0.6
AVERAGE_LENGTH = 200.0
"""Words in a document of ordinary length; fixed, so that weights never change when others are added."""
BIGRAM_SHARE = WEIGHTS[TermKind.BIGRAM]


def term_id(term: str) -> int:
    """Return the unsigned 32-bit number by which engines know a term: CRC-32 (ISO 3309) of its UTF-8 bytes."""
    return crc32(term.encode("utf-8", "surrogatepass"))


def idf(documents: int, frequency: int) -> float:
    """Return how much a term tells that `frequency` of `documents` documents hold; never negative (Lucene's form)."""
    return math.log1p((documents - frequency + 0.5) / (frequency + 0.5))


def document_weights(fields: Sequence[tuple[str, float]], *, cut: Cutter | None = None) -> dict[int, float]:
    """Return term id to weight for one document, made of fields of text, each with its weight (1 = body)."""
    counts: dict[str, float] = {}
    length = 0.0
    for text, field_weight in fields:
        found = Counter(raw.key for raw in raw_terms(normalise(marked(text))[0], cut))
        for key, count in found.items():
            counts[key] = counts.get(key, 0.0) + count * field_weight
            length += count * field_weight if key[0] != "~" else 0.0
    slope = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    weights: dict[int, float] = {}
    for key, frequency in counts.items():
        number = term_id(key)
        weights[number] = weights.get(number, 0.0) + frequency * (K1 + 1) / (frequency + slope)
    return weights


def query_weights(text: str, *, bigram_share: float = BIGRAM_SHARE, cut: Cutter | None = None) -> dict[int, float]:
    """Return term id to weight for a question. `bigram_share` is what a bigram counts beside a word."""
    return {term_id(key): weight for key, weight in _query(text, bigram_share, cut).items()}


def query_terms(text: str, *, cut: Cutter | None = None) -> tuple[str, ...]:
    """Return the terms a question is searched by, for a trace, in the order they were found."""
    return tuple(_query(text, BIGRAM_SHARE, cut))


def _query(text: str, bigram_share: float, cut: Cutter | None) -> dict[str, float]:
    weights: dict[str, float] = {}
    for raw in raw_terms(normalise(marked(text))[0], cut):
        weight = weight_of(raw)
        if raw.kind is TermKind.BIGRAM:
            weight *= bigram_share / WEIGHTS[TermKind.BIGRAM]
        weights[raw.key] = max(weights.get(raw.key, 0.0), weight)
        if raw.kind is TermKind.CODE:
            lead = "<" + raw.key[1:]
            weights[lead] = max(weights.get(lead, 0.0), WEIGHTS[TermKind.LEAD])
    return weights
