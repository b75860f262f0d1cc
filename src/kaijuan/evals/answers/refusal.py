"""Answering and refusing: who was answered that could be, who was refused that could not, and what confidence tells.

Risk and coverage are those of selective prediction (El-Yaniv and Wiener, 2010; Geifman and El-Yaniv, 2017): answer only
what one is at least so sure of, and see how much is answered (coverage) and how much of that is wrong (risk).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from kaijuan.answer.results import Status
from kaijuan.evals.answers.items import Expected

THRESHOLDS = tuple(step / 20 for step in range(20))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one question ended. `wrong` is None where nobody could tell, and for what was not answered."""

    expected: Expected
    status: Status
    confidence: float
    answered: bool
    wrong: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What would have happened had all below a confidence been refused. Shares are None where nothing counts."""

    threshold: float
    coverage: float | None
    risk: float | None
    answerable_kept: float | None
    """Share of the answerable questions with at least that confidence."""
    unanswerable_refused: float | None
    """Share of the others with less."""


def table(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Return how many questions ended how, by what was expected."""
    rows = [expected for expected in Expected if any(one.expected is expected for one in outcomes)]
    return {
        str(expected): {
            str(status): sum(one.expected is expected and one.status is status for one in outcomes) for status in Status
        }
        for expected in rows
    }


def answered_share(outcomes: Sequence[Outcome], expected: Expected) -> float | None:
    """Return the share of the questions of one kind that were answered, if only in part."""
    mine = [one.answered for one in outcomes if one.expected is expected]
    return fmean(mine) if mine else None


def curve(outcomes: Sequence[Outcome], thresholds: Sequence[float] = THRESHOLDS) -> list[Point]:
    """Return risk, coverage and refusals by threshold.

    Risk is of what was answered; what the engine refused has no answer whose risk could be known. Coverage counts all
    questions whose outcome is known.
    """
    told = [one for one in outcomes if not one.answered or one.wrong is not None]
    answerable = [one.confidence for one in outcomes if one.expected is Expected.ANSWER]
    others = [one.confidence for one in outcomes if one.expected is Expected.REFUSE]
    points = []
    for threshold in thresholds:
        kept = [bool(one.wrong) for one in told if one.answered and one.confidence >= threshold]
        points.append(
            Point(
                threshold=threshold,
                coverage=len(kept) / len(told) if told else None,
                risk=fmean(kept) if kept else None,
                answerable_kept=_share(answerable, threshold),
                unanswerable_refused=None if not others else 1 - (_share(others, threshold) or 0.0),
            )
        )
    return points


def risk_area(outcomes: Sequence[Outcome]) -> float | None:
    """Return the mean risk over the answered questions taken from the surest on; 0 is best.

    Questions of equal confidence count together, each with the risk at the end of their group.
    """
    answered = sorted((one for one in outcomes if one.answered and one.wrong is not None), key=_surest_first)
    risks: list[float] = []
    wrong = 0
    for _, group in groupby(answered, key=_surest_first):
        members = list(group)
        wrong += sum(bool(one.wrong) for one in members)
        risks += [wrong / (len(risks) + len(members))] * len(members)
    return fmean(risks) if risks else None


def ranking(outcomes: Sequence[Outcome]) -> float | None:
    """Return the chance that an answerable question has more confidence than another (AUROC; half for ties)."""
    answerable = [one.confidence for one in outcomes if one.expected is Expected.ANSWER]
    others = [one.confidence for one in outcomes if one.expected is Expected.REFUSE]
    if not answerable or not others:
        return None
    wins = sum((left > right) + (left == right) / 2 for left in answerable for right in others)
    return wins / (len(answerable) * len(others))


def _surest_first(outcome: Outcome) -> float:
    return -outcome.confidence


def _share(confidences: Sequence[float], threshold: float) -> float | None:
    return fmean(one >= threshold for one in confidences) if confidences else None
