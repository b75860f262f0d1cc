"""Figures of a report against values by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kaijuan.evals.experiments.outcome import table_of
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.report.cases import MOST_CASES, contrast, hardest
from kaijuan.evals.report.figures import Times, by_kind, recall_curve, times
from kaijuan.evals.report.plots import shortened

MakeRun = Callable[..., StoredRun]


def test_recall_rises_where_documents_stand(make_run: MakeRun) -> None:
    # Eight questions: four have their document first, two second, one tenth, one behind the depth.
    curve = recall_curve(make_run(places=(0, 0, 0, 0, 1, 1, 9, 120)), "final", depth=100)
    assert len(curve) == 100
    assert curve[0] == pytest.approx(4 / 8)
    assert curve[1] == curve[8] == pytest.approx(6 / 8)
    assert curve[9] == curve[99] == pytest.approx(7 / 8)


def test_times_are_interpolated(make_run: MakeRun) -> None:
    (found,) = times(table_of([make_run()]))
    assert found.milliseconds == tuple(float(n) for n in range(1, 9))
    assert found.percentile(50) == pytest.approx(4.5)
    assert (found.percentile(0), found.percentile(100)) == (1.0, 8.0)
    assert Times(variant="one", milliseconds=(3.0,)).percentile(99) == 3.0


def test_kinds_are_counted_over_all_sets(make_run: MakeRun) -> None:
    table = table_of(
        [
            make_run(variant, places, set=name)
            for name in "ab"
            for variant, places in (("baseline", (0,) * 8), ("v", (1,) * 8))
        ]
    )
    (row,) = by_kind(table, "mrr@10")
    assert (row.kind, row.questions) == ("question", 16)
    assert row.means == {"baseline": 1.0, "v": 0.5}


def test_the_largest_differences_come_first(make_run: MakeRun) -> None:
    base = {"tiny": make_run(places=(0, 0, 1, 1, 3, 0, 0, 0))}
    other = {"tiny": make_run("v", (1, 3, 0, 0, 0, 0, 0, 0))}
    found = contrast("v", base, other, "mrr@10")
    assert [round(case.effect, 2) for case in found.wins] == [0.75, 0.5, 0.5]
    assert [round(case.effect, 2) for case in found.losses] == [-0.75, -0.5]
    loss = found.losses[0]
    assert loss.scores == (1.0, 0.25)
    assert [shown.rank for shown in loss.expected] == [4]
    assert [[shown.expected for shown in ranking] for ranking in loss.rankings] == [
        [True], [False, False, False, True],
    ]  # fmt: skip
    assert (found.more_wins, found.more_losses) == (0, 0)


def test_no_more_cases_than_can_be_read(make_run: MakeRun) -> None:
    sets = ("a", "b", "c")
    base = {name: make_run(places=(1,) * 8, set=name) for name in sets}
    found = contrast("v", base, {name: make_run("v", set=name) for name in sets}, "mrr@10")
    assert (len(found.wins), found.more_wins) == (MOST_CASES, 24 - MOST_CASES)


def test_the_hardest_come_first_and_what_was_not_found_is_known(make_run: MakeRun) -> None:
    found = hardest({"tiny": make_run(places=(0, 9, 120, 1, 0, 0, 0, 0))}, "mrr@10")
    assert [case.scores[0] for case in found] == [0.0, pytest.approx(0.1), 0.5]
    assert found[0].expected[0].rank == 121
    assert found[0].expected[0].excerpt is not None


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("short", "short"),
        ("a" * 12, "a" * 12),
        ("retrieve.dense_weight=0.25", "retrieve….25"),
        ("检索权重很长很长", "检索权重…长"),
    ],
)
def test_long_names_lose_their_middle(name: str, shown: str) -> None:
    assert shortened(name, 12) == shown
