"""The onboard reranker's weights: a sum of bent lines over features, and what its scores mean as probabilities."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from kaijuan.errors import ModelError
from kaijuan.retrieve.rerank.features import FEATURES
from kaijuan.retrieve.rerank.terms import Floats

FILE = "reranker.json"
ANY = "any"
"""Calibration for embedding models that none was fitted for; it leaves cosines out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """`weight` times how far a feature lies above `knot`; a knot of None takes the feature as it is."""

    feature: int
    weight: float
    knot: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Scores to probabilities: a logistic over the score and some features."""

    score: float
    intercept: float
    terms: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What bench/train_reranker.py fitted."""

    terms: tuple[Term, ...]
    calibrations: Mapping[str, Calibration]

    def scores(self, rows: Floats) -> Floats:
        """Return what orders the candidates of one question, for rows of `features_of`."""
        return _sum(self.terms, rows)

    def chances(self, rows: Floats, scores: Floats, embedder: str) -> Floats:
        """Return the probability of each candidate to be relevant."""
        calibration = self.calibrations.get(embedder, self.calibrations[ANY])
        logits = calibration.score * scores + calibration.intercept + _sum(calibration.terms, rows)
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0))), dtype=np.float64)


def _sum(terms: Sequence[Term], rows: Floats) -> Floats:
    total = np.zeros(len(rows))
    for term in terms:
        column = rows[:, term.feature]
        total += term.weight * (column if term.knot is None else np.maximum(0.0, column - term.knot))
    return total


@cache
def shipped() -> Model:
    """Return the model that ships with the package."""
    return read_model(json.loads(resources.files(__package__ or "").joinpath(FILE).read_text(encoding="utf-8")))


def read_model(record: Mapping[str, Any]) -> Model:
    """Return a model from its JSON; ModelError where it knows other features than this version."""
    try:
        return Model(
            terms=_terms(record["order"]),
            calibrations={
                name: Calibration(score=said["score"], intercept=said["intercept"], terms=_terms(said["terms"]))
                for name, said in record["calibrations"].items()
            },
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"The reranker's weights do not fit this version: {error}.") from error


def _terms(listed: Sequence[Mapping[str, Any]]) -> tuple[Term, ...]:
    return tuple(
        Term(feature=FEATURES.index(one["feature"]), weight=float(one["weight"]), knot=one.get("knot"))
        for one in listed
    )
