"""Variants against the baseline: what is compared with what, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kaijuan.errors import EvalDataError
from kaijuan.evals.experiments.outcome import outcome_of, table_of
from kaijuan.evals.experiments.store import StoredRun

MakeRun = Callable[..., StoredRun]
FIRST = {f"q{n}": (f"r{n}",) for n in range(12)}
SECOND = {f"q{n}": ("x", f"r{n}") for n in range(12)}
MIXED = {**FIRST, "q0": ("x", "r0"), "q1": ("x",)}


def test_variants_are_judged_on_each_set_and_over_all(make_run: MakeRun) -> None:
    runs = [
        make_run(variant, rankings, set=name)
        for name, base in (("one", SECOND), ("two", FIRST))
        for variant, rankings in (("better", FIRST), ("baseline", base), ("same", base))
    ]
    found = outcome_of(runs, metric="mrr@10")
    assert (found.experiment, found.metric, found.stage, found.seed, found.sets) == (
        "trial", "mrr@10", "final", 7, ("one", "two"),
    )  # fmt: skip
    better, same = found.variants
    assert (better.name, same.name) == ("better", "same")
    assert better.sets["one"].comparison.effect == pytest.approx(0.5)
    assert better.sets["one"].verdict() == "better"
    assert better.sets["two"].verdict() == "no significant difference"
    assert better.pooled.comparison.effect == pytest.approx(0.25)
    assert same.pooled.p_holm == 1.0
    # Two variants were looked at: the smaller p counts double.
    assert better.sets["one"].p_holm == pytest.approx(min(1.0, 2 * better.sets["one"].comparison.p))


def test_a_worse_variant_is_called_worse(make_run: MakeRun) -> None:
    (found,) = outcome_of([make_run("baseline", FIRST), make_run("v", SECOND)]).variants
    assert found.pooled.verdict() == "worse"
    (found,) = outcome_of([make_run("baseline", FIRST), make_run("v", MIXED)]).variants
    assert found.pooled.verdict() == "no significant difference"
    assert (found.pooled.comparison.losses, found.pooled.comparison.ties) == (2, 10)


def test_the_baseline_comes_first_and_sets_in_order(make_run: MakeRun) -> None:
    table = table_of([make_run(variant, set=name) for variant in ("a", "baseline") for name in ("y", "x")])
    assert list(table) == ["baseline", "a"]
    assert [list(row) for row in table.values()] == [["x", "y"], ["x", "y"]]


def test_what_cannot_be_compared_is_refused(make_run: MakeRun) -> None:
    base = make_run()
    for others, said in (
        ([make_run("v", fingerprint="f2")], "different data"),
        ([make_run("v", FIRST)], "different questions"),
        ([make_run()], "two runs of baseline on tiny"),
        ([make_run("v"), make_run("v", set="other")], "baseline has not been run on other"),
    ):
        with pytest.raises(EvalDataError, match=said):
            outcome_of([base, *others])
    with pytest.raises(EvalDataError, match="no runs"):
        outcome_of([])


def test_one_run_alone_has_nothing_to_be_compared_with(make_run: MakeRun) -> None:
    assert outcome_of([make_run()]).variants == ()
    assert outcome_of([replace(make_run(), variant="alone")]).variants == ()
