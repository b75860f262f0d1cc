"""The table of refusals, and risk and coverage worked out by hand."""

from __future__ import annotations

import pytest

from kaijuan.answer.results import Status
from kaijuan.evals.answers.items import Expected
from kaijuan.evals.answers.refusal import Outcome, answered_share, curve, ranking, risk_area, table


def outcome(expected: Expected, confidence: float, *, wrong: bool | None = None, answered: bool = True) -> Outcome:
    return Outcome(
        expected=expected,
        status=Status.ANSWERED if answered else Status.REFUSED,
        confidence=confidence,
        answered=answered,
        wrong=wrong,
    )


CAN, CANNOT = Expected.ANSWER, Expected.REFUSE
FIVE = [
    outcome(CAN, 0.9, wrong=False),
    outcome(CAN, 0.8, wrong=True),
    outcome(CANNOT, 0.6, wrong=True),
    outcome(CAN, 0.3, answered=False),
    outcome(CANNOT, 0.1, answered=False),
]


def test_the_table_counts_by_what_was_expected() -> None:
    found = table(FIVE)
    assert found["answer"] == {"answered": 2, "partial": 0, "refused": 1, "clarify": 0}
    assert found["refuse"] == {"answered": 1, "partial": 0, "refused": 1, "clarify": 0}
    assert "clarify" not in found
    assert answered_share(FIVE, CAN) == pytest.approx(2 / 3)
    assert answered_share(FIVE, Expected.CLARIFY) is None


def test_risk_and_coverage() -> None:
    points = {point.threshold: point for point in curve(FIVE, (0.0, 0.7, 0.85, 0.95))}
    assert points[0.0].coverage == 0.6
    assert points[0.0].risk == pytest.approx(2 / 3)
    assert (points[0.7].coverage, points[0.7].risk) == (0.4, 0.5)
    assert (points[0.85].coverage, points[0.85].risk) == (0.2, 0.0)
    assert (points[0.95].coverage, points[0.95].risk) == (0.0, None)  # nothing answered has no risk
    assert points[0.7].answerable_kept == pytest.approx(2 / 3)
    assert points[0.7].unanswerable_refused == 1.0
    assert points[0.0].unanswerable_refused == 0.0


def test_what_nobody_could_tell_is_left_out_of_risk() -> None:
    points = curve([*FIVE, outcome(CAN, 0.99, wrong=None)], (0.0,))
    assert points[0].coverage == 0.6
    assert points[0].risk == pytest.approx(2 / 3)


def test_the_area_is_the_mean_risk_from_the_surest_on() -> None:
    # after one: 0/1; after two: 1/2; after three: 2/3
    assert risk_area(FIVE) == pytest.approx((0 + 1 / 2 + 2 / 3) / 3)
    tied = [outcome(CAN, 0.5, wrong=False), outcome(CAN, 0.5, wrong=True)]
    assert risk_area(tied) == 0.5  # both orders of the tie
    assert risk_area([]) is None


def test_confidence_ranks() -> None:
    # pairs: .9>.6 .8>.6 .3<.6 .9>.1 .8>.1 .3>.1
    assert ranking(FIVE) == pytest.approx(5 / 6)
    assert ranking([outcome(CAN, 0.5), outcome(CANNOT, 0.5)]) == 0.5
    assert ranking([outcome(CAN, 0.5)]) is None
