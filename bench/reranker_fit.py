"""Fitting of the onboard reranker: bent lines over features, by the chance to put a right candidate first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from kaijuan.retrieve.rerank.features import FEATURES
from kaijuan.retrieve.rerank.model import Calibration, Term

Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]
KNOTS = (0.5,)
"""Shares of the candidates below a bend."""
ANCHOR = "fused"
"""The order that stands unless the data speak against it: its weight costs nothing, all others do."""
LEAST = 1e-6


@dataclass(frozen=True, kw_only=True)
class Group:
    """Candidates that are put in order together."""

    rows: Floats
    right: Booleans
    weight: float


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What was learned."""

    terms: tuple[Term, ...]

    def scores(self, rows: Floats) -> Floats:
        """Return the score of each row."""
        return np.asarray(basis(self.terms, rows) @ np.array([term.weight for term in self.terms]), dtype=np.float64)


def basis(terms: Sequence[Term], rows: Floats) -> Floats:
    """Return the value of each term before its weight."""
    columns = [
        rows[:, term.feature] if term.knot is None else np.maximum(0.0, rows[:, term.feature] - term.knot)
        for term in terms
    ]
    return np.stack(columns, axis=1)


def shapes(rows: Floats, features: Sequence[str], knots: Sequence[float] = KNOTS) -> list[Term]:
    """Return terms of weight 1: each feature as it is, and bent where its values lie."""
    terms = []
    for feature in (FEATURES.index(name) for name in features):
        column = rows[:, feature]
        terms.append(Term(feature=feature, weight=1.0))
        places = sorted({round(float(knot), 4) for knot in np.quantile(column, knots)})
        terms += [Term(feature=feature, weight=1.0, knot=knot) for knot in places if column.min() < knot < column.max()]
    return terms


def weighted(terms: Sequence[Term], weights: Floats) -> tuple[Term, ...]:
    """Return the terms with weights, those of no weight left out."""
    return tuple(
        Term(feature=term.feature, weight=float(weight), knot=term.knot)
        for term, weight in zip(terms, weights, strict=True)
        if abs(weight) > LEAST
    )


def fitted(groups: Sequence[Group], features: Sequence[str], ridge: float) -> Fitted:
    """Return the weights that make right candidates likely to be drawn first: a softmax over each group."""
    rows = np.concatenate([group.rows for group in groups])
    right = np.concatenate([group.right for group in groups]).astype(np.float64)
    sizes = np.array([len(group.rows) for group in groups])
    starts = np.cumsum(sizes) - sizes
    weights = np.array([group.weight for group in groups])
    weights = weights / weights.sum()

    def spread_out(each: Floats) -> Floats:
        return np.repeat(each, sizes, axis=0)

    terms = [Term(feature=FEATURES.index(ANCHOR), weight=1.0), *shapes(rows, features)]
    values = basis(terms, rows)
    # What varies between questions orders nothing; spreads within them make the ridge weigh all terms alike.
    values -= spread_out(np.add.reduceat(values, starts, axis=0) / sizes[:, None])
    spread = np.maximum(values.std(axis=0), 1e-3)
    values /= spread
    costs = np.array([0.0, *[ridge] * (len(terms) - 1)])
    shares = right / spread_out(np.add.reduceat(right, starts))

    def loss(theta: Floats) -> tuple[float, Floats]:
        scores = values @ theta
        odds = np.exp(scores - spread_out(np.maximum.reduceat(scores, starts)))
        chances = odds / spread_out(np.add.reduceat(odds, starts))
        each = -np.add.reduceat(shares * np.log(np.maximum(chances, 1e-12)), starts)
        slope = (chances - shares) * spread_out(weights)
        return float(each @ weights + costs @ theta**2), values.T @ slope + 2 * costs * theta

    found = minimize(loss, np.zeros(len(terms)), jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return Fitted(terms=weighted(terms, found.x / spread))


def calibrated(
    rows: Floats, scores: Floats, right: Booleans, weights: Floats, features: Sequence[str], ridge: float
) -> Calibration:
    """Return a logistic regression from scores and features to the chance of being right."""
    terms = shapes(rows, features, ())
    values = np.column_stack([scores, basis(terms, rows)])
    middle, spread = values.mean(axis=0), np.maximum(values.std(axis=0), 1e-3)
    values = np.column_stack([(values - middle) / spread, np.ones(len(values))])
    shares = weights / weights.sum()
    costs = np.array([*[ridge] * (values.shape[1] - 1), 0.0])
    truth = right.astype(np.float64)

    def loss(theta: Floats) -> tuple[float, Floats]:
        logits = values @ theta
        each = np.logaddexp(0.0, logits) - truth * logits
        slope = (1.0 / (1.0 + np.exp(-logits)) - truth) * shares
        return float(each @ shares + costs @ theta**2), values.T @ slope + 2 * costs * theta

    found = minimize(loss, np.zeros(values.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    unscaled = found[:-1] / spread
    return Calibration(
        score=float(unscaled[0]),
        intercept=float(found[-1] - unscaled @ middle),
        terms=weighted(terms, unscaled[1:]),
    )
