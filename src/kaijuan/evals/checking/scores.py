"""What the checker makes of pairs, and how that is counted: F1 of finding the unsupported, and of the supported."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kaijuan.answer.checking.check import check_claims, cosines_of, judged, quoted
from kaijuan.answer.checking.claims import Claim, Verdict
from kaijuan.answer.checking.compare import Comparison, compare
from kaijuan.evals.checking.pairs import KINDS, Pair
from kaijuan.index.ports import Embedder

BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A pair laid along its evidence, before it is judged. `quoted` pairs need no judging."""

    pair: Pair
    comparison: Comparison
    cosine: float
    quoted: bool

    def verdict(self, model: str) -> Verdict:
        """Return what the checker says, given the embedding model's name."""
        if self.quoted:
            return Verdict(supported=True, score=1.0)
        return judged(claim_of(self.pair), self.comparison, self.cosine, model)


def claim_of(pair: Pair) -> Claim:
    """Return the pair as the checker takes it."""
    return Claim(text=pair.claim, evidence=pair.evidence)


async def examine(pairs: Sequence[Pair], embedder: Embedder) -> list[Examined]:
    """Lay every claim along its evidence: what all fits and thresholds need, computed once."""
    found: list[Examined] = []
    for at in range(0, len(pairs), BATCH):
        some = pairs[at : at + BATCH]
        compared = await asyncio.to_thread(_compared, some)
        cosines = await cosines_of([pair.claim for pair in some], compared, embedder)
        found += [
            Examined(pair=pair, comparison=comparison, cosine=cosine, quoted=quoted(claim_of(pair)))
            for pair, comparison, cosine in zip(some, compared, cosines, strict=True)
        ]
    return found


def _compared(pairs: Sequence[Pair]) -> list[Comparison]:
    return [compare(pair.claim, pair.evidence) for pair in pairs]


async def verdicts_of(pairs: Sequence[Pair], embedder: Embedder) -> list[Verdict]:
    """Return what the checker says of every pair, as an answer would ask it."""
    found: list[Verdict] = []
    for at in range(0, len(pairs), BATCH):
        found += await check_claims([claim_of(pair) for pair in pairs[at : at + BATCH]], embedder)
    return found


def counted(pairs: Sequence[Pair], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return F1 over all pairs and for each kind, with which faults were named."""
    rows = list(zip(pairs, verdicts, strict=True))
    return {
        "all": _score(rows),
        **{kind: _score([row for row in rows if row[0].kind == kind]) for kind in KINDS},
    }


def _score(rows: Sequence[tuple[Pair, Verdict]]) -> dict[str, Any]:
    counts = Counter((pair.supported, verdict.supported) for pair, verdict in rows)
    named = Counter(str(verdict.faults[0].kind) for pair, verdict in rows if not pair.supported and verdict.faults)
    missed, found = counts[False, True], counts[False, False]
    blamed, kept = counts[True, False], counts[True, True]
    return {
        "pairs": len(rows),
        "wrong_found": found,
        "wrong_missed": missed,
        "true_kept": kept,
        "true_blamed": blamed,
        "f1_wrong": _f1(found, blamed, missed),
        "f1_true": _f1(kept, missed, blamed),
        "named": dict(sorted(named.items())),
    }


def _f1(right: int, extra: int, lost: int) -> float:
    return round(2 * right / (2 * right + extra + lost), 4) if right else 0.0


def slips(pairs: Iterable[Pair], verdicts: Iterable[Verdict], kind: str = "") -> list[tuple[Pair, Verdict]]:
    """Return the pairs that were judged wrongly, of one kind perhaps."""
    return [
        (pair, verdict)
        for pair, verdict in zip(pairs, verdicts, strict=True)
        if pair.supported is not verdict.supported and kind in ("", pair.kind)
    ]
