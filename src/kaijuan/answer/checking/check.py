"""Claims against the words they cite: exact things by rule, the rest by a logistic over coverage and meaning.

The coefficients and the record of their fit are in entailment.json (bench/fit_checking.py). Cosines mean different
things in different models, so the model it was fitted for has coefficients of its own; "any" uses none.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from kaijuan.answer.checking.claims import Claim, Fault, FaultKind, Verdict
from kaijuan.answer.checking.compare import Comparison, compare
from kaijuan.core.text.normalise import folded
from kaijuan.core.text.sentences import sentences
from kaijuan.index.ports import Embedder

_EDGE = frozenset("，,；;。！？!?：:.、…—\n\"'“”‘’「」『』（）() \t|")
"""Characters at which a quotation may begin or end: elsewhere it could leave out a "not"."""
SUPPORTED = 0.5
"""Score from which a claim without faults is supported; the fit puts the boundary there."""
FAULTY = 0.5
"""What a score is multiplied by for a fault, so that it never looks supported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """Coefficients by feature."""

    coefficients: Mapping[str, float]
    intercept: float

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the estimated probability, 0 to 1, that the evidence carries the claim."""
        logit = self.intercept + sum(weight * features[name] for name, weight in self.coefficients.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


async def check_claims(claims: Sequence[Claim], embedder: Embedder) -> list[Verdict]:
    """Return a verdict for each claim, in their order.

    A claim that its evidence has word for word costs nothing; the others are embedded in one call. A claim without
    evidence is not supported.
    """
    verdicts: dict[int, Verdict] = {}
    open_claims: list[int] = []
    for at, claim in enumerate(claims):
        if not any(text.strip() for text in claim.evidence):
            fault = Fault(kind=FaultKind.ENTAILMENT, detail=claim.text)
            verdicts[at] = Verdict(supported=False, score=0.0, faults=(fault,))
        elif await asyncio.to_thread(quoted, claim):
            verdicts[at] = Verdict(supported=True, score=1.0)
        else:
            open_claims.append(at)
    if open_claims:
        compared = await asyncio.to_thread(
            lambda: [compare(claims[at].text, claims[at].evidence) for at in open_claims]
        )
        cosines = await cosines_of([claims[at].text for at in open_claims], compared, embedder)
        for at, comparison, cosine in zip(open_claims, compared, cosines, strict=True):
            verdicts[at] = judged(claims[at], comparison, cosine, embedder.info.name)
    return [verdicts[at] for at in range(len(claims))]


def quoted(claim: Claim) -> bool:
    """Say whether the evidence has the claim, or each of its sentences, word for word between two marks."""
    evidence = [folded(text) for text in claim.evidence]
    parts = [folded(span.of(claim.text)) for span in sentences(claim.text)]
    return bool(parts) and all(any(_stands_in(part, text) for text in evidence) for part in parts)


def _stands_in(part: str, text: str) -> bool:
    part = part.strip("".join(_EDGE))
    at = text.find(part) if part else -1
    while at >= 0:
        end = at + len(part)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        if (not before or before in _CLOSING) and (not after or after in _CLOSING):
            return True
        at = text.find(part, at + 1)
    return False


_CLOSING = _EDGE - {" ", "\t"}
"""A blank parts words, not clauses."""


async def cosines_of(texts: Sequence[str], compared: Sequence[Comparison], embedder: Embedder) -> list[float]:
    """Return the cosine of each claim and the sentences nearest to it, 0 where it does not count.

    All in one call of the model, and none where every claim is in the language of its evidence: words tell more there.
    """
    pairs: dict[int, tuple[str, str]] = {}
    for at, (text, one) in enumerate(zip(texts, compared, strict=True)):
        if "cosine" in scorer_for(embedder.info.name, foreign=one.foreign).coefficients:
            pairs[at] = _fitting(text, embedder), _fitting(one.focus, embedder)
    distinct = list(dict.fromkeys(text for pair in pairs.values() for text in pair))
    if not distinct:
        return [0.0] * len(texts)
    vectors = await embedder.embed_passages(distinct)
    place = {text: at for at, text in enumerate(distinct)}
    found = {at: float(np.dot(vectors[place[one]], vectors[place[other]])) for at, (one, other) in pairs.items()}
    return [found.get(at, 0.0) for at in range(len(texts))]


def _fitting(text: str, embedder: Embedder) -> str:
    """Cut a text to what the model reads, for scoring only."""
    room = embedder.info.max_tokens - embedder.info.reserved_tokens
    if len(text.encode("utf-8", "surrogatepass")) <= room:
        return text
    spans = embedder.token_spans(text)
    return text if len(spans) <= room else text[: spans[room - 8].end]


def judged(claim: Claim, comparison: Comparison, cosine: float, model: str) -> Verdict:
    """Return the verdict on a claim that was laid along its evidence."""
    scorer = scorer_for(model, foreign=comparison.foreign)
    score = scorer.probability(features_of(comparison, cosine))
    faults = comparison.faults
    if not faults and score < SUPPORTED:
        faults = (Fault(kind=FaultKind.ENTAILMENT, detail=claim.text),)
    shown = score * FAULTY if faults else score
    return Verdict(supported=not faults, score=round(shown, 4), faults=faults)


def features_of(comparison: Comparison, cosine: float) -> dict[str, float]:
    """Return what entailment is judged by; all are between -1 and 1."""
    return {
        "coverage": comparison.coverage,
        "held": comparison.held,
        "aligned": comparison.aligned,
        "replaced": comparison.replaced,
        "cosine": cosine,
    }


def scorer_for(model: str, *, foreign: bool) -> Entailment:
    """Return the scorer for an embedding model by its name, or the one for any model."""
    scorers = _scorers()
    return scorers.get(model, scorers["any"])["foreign" if foreign else "own"]


@cache
def _scorers() -> dict[str, dict[str, Entailment]]:
    record = json.loads(
        resources.files("kaijuan.answer.checking").joinpath("entailment.json").read_text(encoding="utf-8")
    )
    return {
        name: {side: Entailment(**values) for side, values in fits.items()} for name, fits in record["models"].items()
    }
