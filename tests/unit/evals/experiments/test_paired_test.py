"""The paired test by hand, and what it refuses."""

from __future__ import annotations

import math
import sys

import pytest

from kaijuan.errors import EvalDataError, MissingExtraError, UsageError
from kaijuan.evals.experiments.significance import check_alpha, compare, compare_sets


def test_three_questions_by_hand() -> None:
    # Differences 0.1, 0.2, 0.3: of the eight sign patterns only one reaches +0.6 and one -0.6, so p is 2/8.
    found = compare({"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.2, "b": 0.4, "c": 0.6}, seed=1)
    assert found.p == 0.25
    assert math.isclose(found.effect, 0.2)
    assert (found.wins, found.losses, found.ties) == (3, 0, 0)


def test_one_question_says_nothing() -> None:
    found = compare({"a": 0.0}, {"a": 1.0}, seed=1)
    assert (found.p, found.low, found.high, found.effect) == (1.0, -1.0, 1.0, 1.0)


def test_rounding_is_no_difference() -> None:
    found = compare({"a": 0.1 + 0.2, "b": 0.5}, {"a": 0.3, "b": 0.5}, seed=1)
    assert (found.ties, found.p) == (2, 1.0)


def test_the_seed_settles_it() -> None:
    base = {f"q{n}": (n * 37 % 100) / 100 for n in range(60)}
    other = {f"q{n}": (n * 53 % 100) / 100 for n in range(60)}
    assert compare(base, other, seed=3) == compare(base, other, seed=3)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({}, {}, "cannot be paired"),
        ({"a": 1.0}, {"b": 1.0}, "2 questions are only in one"),
        ({"a": 1.0, "b": 0.5}, {"a": 1.0}, "1 questions are only in one"),
        ({"a": math.nan}, {"a": 0.5}, "question a is nan"),
        ({"a": 0.5}, {"a": math.inf}, "question a is inf"),
        ({"a": 0.5}, {"a": -0.1}, "question a is -0.1"),
    ],
)
def test_what_cannot_be_compared_is_refused(first: dict[str, float], second: dict[str, float], said: str) -> None:
    with pytest.raises(EvalDataError, match=said):
        compare(first, second, seed=1)


def test_other_sets_are_refused() -> None:
    with pytest.raises(EvalDataError, match="The sets differ: x here, y there"):
        compare_sets({"x": {"a": 1.0}}, {"y": {"a": 1.0}}, seed=1)
    with pytest.raises(EvalDataError, match="none"):
        compare_sets({}, {}, seed=1)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, math.nan])
def test_alpha_lies_between(alpha: float) -> None:
    with pytest.raises(UsageError, match="level of significance"):
        check_alpha(alpha)
    check_alpha(0.05)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match=r"kaijuan\[eval\]"):
        compare({"a": 0.1, "b": 0.2}, {"a": 0.2, "b": 0.4}, seed=1)
