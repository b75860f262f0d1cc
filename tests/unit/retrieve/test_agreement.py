"""What is told of two searches side by side."""

from __future__ import annotations

import pytest

from kaijuan.retrieve.agreement import Asked, compared, ndcg, overlap, sign_test


def test_overlap_is_the_share_that_both_found() -> None:
    assert overlap(["a", "b"], ["b", "c"]) == 0.5
    assert overlap([], []) == 1.0
    assert overlap(["a"], []) == 0.0
    assert overlap(["a", "b", "c", "d"], ["a"]) == 0.25


def test_ndcg_counts_documents_once_and_knows_the_best_order() -> None:
    assert ndcg(["a", "b"], ["a"]) == 1.0
    assert ndcg(["b", "a"], ["a"]) == pytest.approx(0.6309, abs=1e-4)
    assert ndcg(["a", "a", "b"], ["a", "b"]) == 1.0  # two passages of one document are one
    assert ndcg(["x"] * 20, ["a"]) == 0.0
    assert ndcg(["a"], []) == 0.0


def test_the_sign_test_is_two_sided_and_exact() -> None:
    assert sign_test(0, 0) is None
    assert sign_test(5, 5) == 1.0
    assert sign_test(10, 0) == pytest.approx(2 / 1024)
    assert sign_test(0, 10) == sign_test(10, 0)
    assert sign_test(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)


def test_questions_of_which_nothing_is_known_count_for_agreement_alone() -> None:
    known = Asked(
        question="a", before=("x",), after=("y",), overlap=0.0, ndcg_before=0.0, ndcg_after=1.0, ms_before=1.0
    )
    unknown = Asked(question="b", before=("x",), after=("x",), overlap=1.0, ms_before=3.0)
    found = compared("old", "new", [known, unknown])
    assert (found.questions, found.judged, found.better, found.worse) == (2, 1, 1, 0)
    assert (found.overlap, found.ndcg_before, found.ndcg_after) == (0.5, 0.0, 1.0)
    assert found.p_value == 1.0
    none = compared("old", "new", [unknown])
    assert (none.ndcg_before, none.p_value) == (None, None)
