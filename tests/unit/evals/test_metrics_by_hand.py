"""Metrics against values worked out by hand."""

from __future__ import annotations

import math
import sys

import pytest

from kaijuan.errors import EvalDataError, MissingExtraError
from kaijuan.evals.metrics import METRICS, check_installed, score


def of(ranking: list[str], grades: dict[str, int]) -> dict[str, float]:
    found = score({"q": ranking}, {"q": grades})
    return {metric: found.by_query[metric]["q"] for metric in METRICS}


def test_one_relevant_document_in_second_place() -> None:
    assert of(["a", "b", "c"], {"b": 1}) == pytest.approx(
        {
            "ndcg@10": 1 / math.log2(3),
            "recall@5": 1.0,
            "recall@10": 1.0,
            "recall@50": 1.0,
            "mrr@10": 0.5,
            "hit@1": 0.0,
            "hit@5": 1.0,
            "precision@5": 0.2,
            "map": 0.5,
        }
    )


def test_graded_documents_and_one_that_was_not_found() -> None:
    found = of(["a", "x", "b"], {"a": 1, "b": 3, "c": 2})
    gain = 1 / math.log2(2) + 3 / math.log2(4)
    best = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert found["ndcg@10"] == pytest.approx(gain / best)
    assert found["recall@5"] == pytest.approx(2 / 3)
    assert found["map"] == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert found["precision@5"] == pytest.approx(2 / 5)
    assert (found["mrr@10"], found["hit@1"]) == (1.0, 1.0)


def test_every_depth_is_kept() -> None:
    def at(place: int) -> dict[str, float]:
        return of([*(f"x{n}" for n in range(place - 1)), "r"], {"r": 1})

    assert (at(5)["hit@5"], at(6)["hit@5"]) == (1.0, 0.0)
    assert (at(5)["recall@5"], at(6)["recall@5"], at(10)["recall@10"], at(11)["recall@10"]) == (1, 0, 1, 0)
    assert (at(50)["recall@50"], at(51)["recall@50"]) == (1.0, 0.0)
    assert at(10)["mrr@10"] == pytest.approx(0.1)
    assert at(11)["mrr@10"] == 0.0
    assert at(11)["ndcg@10"] == 0.0
    assert at(60)["map"] == pytest.approx(1 / 60)


def test_nothing_found_counts_nought_in_the_mean() -> None:
    grades = {"found": {"a": 1}, "empty": {"a": 1}, "lacking": {"a": 1}, "unjudged": {}, "refused": {"a": 0}}
    found = score({"found": ["a"], "empty": [], "stranger": ["a"]}, grades)
    assert found.means["ndcg@10"] == pytest.approx(1 / 3)
    assert found.by_query["map"] == {"found": 1.0, "empty": 0.0, "lacking": 0.0}
    assert not any(math.isnan(value) for value in found.means.values())


def test_nothing_found_at_all() -> None:
    assert set(score({}, {"q": {"a": 1}}).means.values()) == {0.0}


def test_a_document_named_twice_counts_at_its_first_place() -> None:
    assert of(["x", "a", "a", "b"], {"a": 1, "b": 1}) == of(["x", "a", "b"], {"a": 1, "b": 1})


def test_the_order_of_the_list_stands_whatever_the_ids() -> None:
    # trec_eval breaks ties by id, the greater first: "a" would lose against "z".
    assert of(["a", "z"], {"a": 1})["hit@1"] == 1.0
    assert of(["z", "a"], {"z": 1})["hit@1"] == 1.0


@pytest.mark.parametrize("id", ["一 二", "a\tb", "a\0b", "\ud83d", ""])
def test_ids_may_hold_anything(id: str) -> None:
    assert score({id: ["x", id]}, {id: {id: 1}}).means["mrr@10"] == 0.5


def test_nothing_to_score_is_said() -> None:
    with pytest.raises(EvalDataError, match="nothing to score"):
        score({"q": ["a"]}, {"q": {"a": 0}})


@pytest.mark.parametrize("package", ["ir_measures", "pytrec_eval"])
def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ir_measures", package)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"kaijuan\[eval\]"):
        check_installed()
