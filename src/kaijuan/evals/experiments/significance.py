"""Is a difference more than chance? Paired randomisation test, bootstrap interval, Holm's correction.

Smucker, Allan, Carterette: A comparison of statistical significance tests for information retrieval evaluation, CIKM
2007, for the test; Efron, Tibshirani: An introduction to the bootstrap, 1993, for the interval; Holm: A simple
sequentially rejective multiple test procedure, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kaijuan.errors import EvalDataError, MissingExtraError, UsageError

if TYPE_CHECKING:
    import numpy as np

Scores = Mapping[str, float]
"""One number between 0 and 1 for each question, by the question's id."""

RESAMPLES = 9999
"""The smallest p that can come out is 2 in 10,000."""
CONFIDENCE = 0.95
BATCH = 500
"""Resamples held in memory at once."""
DIGITS = 12
"""Scores that differ only by the order of additions must tie."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A variant against the baseline on the same questions. Never holds a NaN.

    `effect` is variant less baseline, `low` and `high` its 95 % interval, `p` two-sided. Over several sets, the means
    and the effect are averages of the sets' means: each set counts the same, however many questions it has.
    """

    questions: int
    baseline: float
    variant: float
    effect: float
    low: float
    high: float
    p: float
    wins: int
    losses: int
    ties: int


def compare(baseline: Scores, variant: Scores, *, seed: int, resamples: int = RESAMPLES) -> Comparison:
    """Compare the scores of one set; EvalDataError when the questions are not the same."""
    return compare_sets({"": baseline}, {"": variant}, seed=seed, resamples=resamples)


def compare_sets(
    baseline: Mapping[str, Scores], variant: Mapping[str, Scores], *, seed: int, resamples: int = RESAMPLES
) -> Comparison:
    """Compare over several sets at once, by the average of their means; signs and questions are drawn within each set.

    EvalDataError when sets or questions differ, when there is none, or when a score is no number from 0 to 1.
    """
    differences = _differences(baseline, variant)
    flat = [value for one in differences for value in one]
    low, high = _interval(differences, seed, resamples)
    effect = _macro([math.fsum(one) / len(one) for one in differences])
    return Comparison(
        questions=len(flat),
        baseline=_macro_mean(baseline),
        variant=_macro_mean(variant),
        effect=effect,
        low=min(low, effect),
        high=max(high, effect),
        p=_randomised(differences, seed, resamples),
        wins=sum(value > 0 for value in flat),
        losses=sum(value < 0 for value in flat),
        ties=sum(value == 0 for value in flat),
    )


def holm(values: Mapping[str, float]) -> dict[str, float]:
    """Return p values corrected for having looked at all of them; the order of the mapping is kept."""
    corrected: dict[str, float] = {}
    least = 0.0
    for place, name in enumerate(sorted(values, key=lambda name: (values[name], name))):
        least = max(least, min(1.0, (len(values) - place) * values[name]))
        corrected[name] = least
    return {name: corrected[name] for name in values}


def least_p(questions: int) -> float:
    """Return the smallest p that can come out where so many questions differ, all in one direction."""
    return 1.0 if questions < 2 else max(2.0 / 2.0 ** min(questions, 64), 2 / (RESAMPLES + 1))


def check_alpha(alpha: float) -> None:
    """Raise UsageError unless `alpha` can be a level of significance."""
    if not 0 < alpha < 1:
        raise UsageError(f"{alpha:g} cannot be a level of significance.", hint="Give one between 0 and 1, as 0.05.")


def _differences(baseline: Mapping[str, Scores], variant: Mapping[str, Scores]) -> list[list[float]]:
    if baseline.keys() != variant.keys() or not baseline:
        raise EvalDataError(
            f"The sets differ: {', '.join(sorted(baseline)) or 'none'} here, {', '.join(sorted(variant)) or 'none'} "
            "there.",
            hint="Compare runs on the same sets.",
        )
    return [_paired(baseline[name], variant[name], name) for name in sorted(baseline)]


def _paired(baseline: Scores, variant: Scores, name: str) -> list[float]:
    where = f" of {name}" if name else ""
    if baseline.keys() != variant.keys() or not baseline:
        odd = len(baseline.keys() ^ variant.keys())
        raise EvalDataError(
            f"The runs{where} cannot be paired: {odd} questions are only in one of them, {len(baseline)} in the first.",
            hint="Run both with the same limit and seed.",
        )
    for scores in (baseline, variant):
        wrong = next((id for id, value in scores.items() if not 0 <= value <= 1), None)
        if wrong is not None:
            raise EvalDataError(f"The score of question {wrong}{where} is {scores[wrong]}, not one from 0 to 1.")
    # By id: the outcome must not depend on the order in which the questions were asked.
    return [round(variant[id] - baseline[id], DIGITS) for id in sorted(baseline)]


def _randomised(differences: list[list[float]], seed: int, resamples: int) -> float:
    """Return the two-sided p of the macro average under random signs; exact where the questions are few."""
    shares = [value / (len(one) * len(differences)) for one in differences for value in one]
    if len(shares) < 2 or not any(shares):
        return 1.0  # one question can fall either way; equal runs do not differ
    found = _stats().permutation_test(
        (_array(shares),),
        _total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=resamples,
        batch=BATCH,
        rng=_generator(seed),
    )
    return float(found.pvalue)


def _interval(differences: list[list[float]], seed: int, resamples: int) -> tuple[float, float]:
    if any(len(one) < 2 for one in differences):
        return -1.0, 1.0  # one question has no spread to draw from: nothing is known
    if not any(value for one in differences for value in one):
        return 0.0, 0.0
    found = _stats().bootstrap(
        tuple(_array(one) for one in differences),
        _macro_of_means,
        vectorized=True,
        n_resamples=resamples,
        batch=BATCH,
        confidence_level=CONFIDENCE,
        # The percentile interval: the accelerated one has no value where all resamples agree.
        method="percentile",
        rng=_generator(seed),
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _total(values: Any, axis: int) -> Any:
    return values.sum(axis=axis)


def _macro_of_means(*sets: Any, axis: int) -> Any:
    return sum(one.mean(axis=axis) for one in sets) / len(sets)


def _macro_mean(scores: Mapping[str, Scores]) -> float:
    return _macro([math.fsum(one.values()) / len(one) for one in scores.values()])


def _macro(means: list[float]) -> float:
    return math.fsum(means) / len(means)


def _array(values: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    import numpy as np

    return np.array(values, dtype=np.float64)


def _generator(seed: int) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng(seed)


def _stats() -> Any:
    try:
        import scipy.stats
    except ImportError as error:
        raise MissingExtraError(
            "Tests of significance need scipy.", hint="Run: pip install 'kaijuan[eval]'."
        ) from error
    return scipy.stats
