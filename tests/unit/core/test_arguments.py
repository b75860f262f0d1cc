"""What callers may write: one or several, text or values, and nothing taken for something else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kaijuan.core.arguments import filters, moment, targets
from kaijuan.core.filters import And, Eq
from kaijuan.errors import FilterError, UsageError


def test_a_bare_string_is_one_target_not_its_letters() -> None:
    assert targets("docs/a.md") == targets(Path("docs/a.md")) == targets(["docs/a.md"]) == ["docs/a.md"]
    assert targets((Path("a"), "b")) == ["a", "b"]
    assert targets([]) == []


def test_what_is_no_target() -> None:
    wrong: Any = [1]
    with pytest.raises(UsageError):
        targets(wrong)


def test_filters_in_every_form() -> None:
    assert filters("kind = pdf") == filters(Eq("kind", "pdf")) == filters(["kind = pdf"]) == (Eq("kind", "pdf"),)
    assert filters(()) == ()
    assert filters([And(), "a = 1"]) == (And(), Eq("a", 1))


def test_what_is_no_filter() -> None:
    wrong: Any = [1]
    with pytest.raises(UsageError):
        filters(wrong)
    with pytest.raises(FilterError):
        filters("kind =")


def test_moments_in_every_form() -> None:
    assert moment(None) is None
    assert (moment(7), moment("7"), moment(7.5)) == (7, 7, 7.5)
    assert isinstance(moment(7), int)
    when = datetime(2025, 1, 31, 18, tzinfo=UTC)
    assert moment(when) == moment(when.isoformat()) == when.timestamp()


def test_a_date_alone_is_the_end_of_that_day() -> None:
    assert moment("2025-01-31") == datetime(2025, 1, 31, 23, 59, 59, 999000).timestamp()


@pytest.mark.parametrize("wrong", [True, "soon", "2025-13-01", "9" * 5000, [1]])
def test_what_is_no_moment(wrong: Any) -> None:
    with pytest.raises(UsageError):
        moment(wrong)
