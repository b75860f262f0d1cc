"""Whether the evidence suffices: a logistic over a few features, fitted by bench/fit_sufficiency.py.

The coefficients and the record of their fit are in sufficiency.json. Cosines mean different things in different
models, so models it was fitted for have coefficients of their own; "any" uses none that depend on the model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources

from kaijuan.answer.extract import Read, Scored, coverage, rarities
from kaijuan.answer.question import AnchorKind, Question
from kaijuan.answer.units import Unit
from kaijuan.core.text.language import language_of
from kaijuan.retrieve.results import Passage

_MANY = 16
_MEAN_DISTINCT = 0.55


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What sufficiency is judged by. All are between -1 and 1 but for `distinct`."""

    similarity: float
    """Highest cosine of a unit and the question."""
    chunk_similarity: float
    """Highest cosine of a found chunk and the question."""
    distinct: float
    """How many standard deviations the best cosine lies above the mean of the units', divided by 4. Among few units
    it cannot be told, and is drawn to what it is on average."""
    coverage: float
    """Highest coverage of one unit; 0 where question and evidence are in different languages."""
    passage_coverage: float
    """Highest coverage of one passage; 0 likewise."""
    missing: float
    """Share of names, numbers and dates of the question that no passage holds."""
    foreign: float
    """1 where the evidence is in another language than the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Coefficients by feature, and the probability from which evidence suffices."""

    coefficients: Mapping[str, float]
    intercept: float
    threshold: float

    def probability(self, features: Features) -> float:
        """Return the estimated probability, 0 to 1, that the question can be answered."""
        values = asdict(features)
        logit = self.intercept + sum(weight * values[name] for name, weight in self.coefficients.items())
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


def fit_for(model: str) -> Fit:
    """Return the fit for an embedding model by its name, or the one for any model."""
    fits = _fits()
    return fits.get(model, fits["any"])


@cache
def _fits() -> dict[str, Fit]:
    record = json.loads(resources.files("kaijuan.answer").joinpath("sufficiency.json").read_text(encoding="utf-8"))
    return {
        name: Fit(coefficients=fit["coefficients"], intercept=fit["intercept"], threshold=fit["threshold"])
        for name, fit in record["models"].items()
    }


def features_of(
    question: Question, scored: Sequence[Scored], reads: Sequence[Read], passages: Sequence[Passage]
) -> Features:
    """Return the features of the evidence: `scored` are the units compared by meaning, `reads` all of them."""
    if not scored:
        return Features(
            similarity=0, chunk_similarity=0, distinct=0, coverage=0, passage_coverage=0, missing=1, foreign=0
        )
    best = max(scored, key=lambda item: item.score)
    cosines = [item.similarity for item in scored]
    highest = max(cosines)
    foreign = is_foreign(question, best.read.unit)
    chunk = max((passage.routes["dense"].score for passage in passages if "dense" in passage.routes), default=highest)
    return Features(
        similarity=highest,
        chunk_similarity=chunk,
        distinct=_distinct(cosines),
        coverage=0.0 if foreign else max(item.coverage for item in scored),
        passage_coverage=0.0 if foreign else _passage_coverage(question, reads),
        missing=_missing(question, reads),
        foreign=float(foreign),
    )


def is_foreign(question: Question, unit: Unit) -> bool:
    """Say whether a unit is in another language than the question, as far as scripts tell."""
    language = language_of(unit.quote)
    return bool(language) and bool(question.language) and language != question.language


def _distinct(cosines: Sequence[float]) -> float:
    mean = sum(cosines) / len(cosines)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in cosines) / len(cosines))
    told = min(1.0, len(cosines) / _MANY)
    value = (max(cosines) - mean) / deviation / 4 if deviation > 1e-6 else _MEAN_DISTINCT
    return told * value + (1 - told) * _MEAN_DISTINCT


def _passage_coverage(question: Question, reads: Sequence[Read]) -> float:
    rarity = rarities(question, reads)
    passages: dict[int, list[Read]] = {}
    for read in reads:
        passages.setdefault(read.unit.passage, []).append(read)
    return max(coverage(rarity, group) for group in passages.values())


def _missing(question: Question, reads: Sequence[Read]) -> float:
    soft = [anchor for anchor in question.anchors if anchor.kind is not AnchorKind.IDENTIFIER]
    if not soft:
        return 0.0
    held = [any(anchor.held(read.terms, read.folded) for read in reads) for anchor in soft]
    return 1.0 - sum(held) / len(held)
