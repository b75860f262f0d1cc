"""A killed benchmark goes on: kept rows are not measured again, and a second run's rows are not lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.journal import Journal


def test_kept_rows_are_not_measured_again(tmp_path: Path) -> None:
    assert Journal(tmp_path / "rows.json").row("a", lambda: {"ndcg": 1}) == {"ndcg": 1}
    assert Journal(tmp_path / "rows.json").row("a", lambda: pytest.fail("measured again")) == {"ndcg": 1}


def test_rows_written_meanwhile_stay(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"

    def slow() -> int:
        Journal(path).row("other", lambda: 2)
        return 1

    Journal(path).row("a", slow)
    assert Journal(path).row("other", lambda: pytest.fail("lost")) == 2


def test_a_row_that_fails_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    Journal(path).row("a", lambda: 1)
    with pytest.raises(ZeroDivisionError):
        Journal(path).row("b", lambda: 1 // 0)
    assert Journal(path).row("a", lambda: 0) == 1


def test_without_a_path_nothing_is_kept() -> None:
    assert Journal(None).row("a", lambda: 1) == 1
    assert Journal(None).row("a", lambda: 2) == 2
