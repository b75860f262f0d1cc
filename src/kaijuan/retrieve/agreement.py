"""How far two searches for the same question agree, and which of them finds what is known to be right."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_DEPTH = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question that was asked of two models. Lists are of sources, best first."""

    question: str
    before: tuple[str, ...]
    """What the model that serves found."""
    after: tuple[str, ...]
    overlap: float
    """Share of the first ten passages that both found."""
    ndcg_before: float | None = None
    """nDCG@10; None where nobody said what is right."""
    ndcg_after: float | None = None
    ms_before: float = 0.0
    ms_after: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two models over a golden set. Means are over the questions of which it is known what is right."""

    serving: str
    other: str
    questions: int
    judged: int
    overlap: float
    ndcg_before: float | None
    ndcg_after: float | None
    better: int
    """Questions for which the other model is better, by nDCG@10."""
    worse: int
    p_value: float | None
    """Of a sign test: how likely such a difference is by chance. None where no question differs."""
    ms_before: float
    """Median milliseconds of a search."""
    ms_after: float
    asked: tuple[Asked, ...]


def overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the share of the first ten that both lists hold; 1 for two empty ones."""
    first, second = set(one[:_DEPTH]), set(other[:_DEPTH])
    return len(first & second) / max(len(first), len(second)) if first or second else 1.0


def ndcg(found: Sequence[str], right: Collection[str]) -> float:
    """Return nDCG@10 of distinct documents against those that are right, all alike (Järvelin and Kekäläinen, 2002)."""
    listed = list(dict.fromkeys(found))[:_DEPTH]
    gain = sum(1 / math.log2(rank + 1) for rank, one in enumerate(listed, 1) if one in right)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(set(right)), _DEPTH) + 1))
    return gain / best if best else 0.0


def sign_test(better: int, worse: int) -> float | None:
    """Return the probability of so uneven a split of the questions that differ, were both models alike (two-sided)."""
    total = better + worse
    if not total:
        return None
    tail = math.ldexp(sum(math.comb(total, at) for at in range(min(better, worse) + 1)), -total)
    return min(1.0, 2 * tail)


def compared(serving: str, other: str, asked: Sequence[Asked]) -> Comparison:
    """Sum up what was asked."""
    judged = [one for one in asked if one.ndcg_before is not None and one.ndcg_after is not None]
    pairs = [(one.ndcg_before or 0.0, one.ndcg_after or 0.0) for one in judged]
    better, worse = sum(after > before for before, after in pairs), sum(after < before for before, after in pairs)
    return Comparison(
        serving=serving,
        other=other,
        questions=len(asked),
        judged=len(judged),
        overlap=_mean([one.overlap for one in asked]),
        ndcg_before=_mean([before for before, _ in pairs]) if pairs else None,
        ndcg_after=_mean([after for _, after in pairs]) if pairs else None,
        better=better,
        worse=worse,
        p_value=sign_test(better, worse),
        ms_before=_median([one.ms_before for one in asked]),
        ms_after=_median([one.ms_after for one in asked]),
        asked=tuple(asked),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0
