"""What each stage is worth, judged from few runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kaijuan.config import Config
from kaijuan.evals.experiments.ablate import ablated, ablation
from kaijuan.evals.experiments.changes import changed
from kaijuan.evals.experiments.store import StoredRun

MakeRun = Callable[..., StoredRun]


def test_the_other_fusion_is_tried_and_deep_asks_for_more(tmp_path: Path) -> None:
    plain = ablation([tmp_path], Config())
    assert [variant.name for variant in plain.variants] == ["baseline", "fused by rrf"]
    by_rrf = ablation([tmp_path], changed(Config(), {"retrieve.fusion": "rrf"}, "test"))
    assert dict(by_rrf.variants[1].changes) == {"retrieve.fusion": "minmax"}
    deep = ablation([tmp_path], Config(), deep=True)
    assert [variant.name for variant in deep.variants[2:]] == [
        "without overlap", "titles not weighed", "titles not embedded",
    ]  # fmt: skip


def test_what_is_left_out_already_is_not_left_out_again(tmp_path: Path) -> None:
    base = changed(Config(), {"chunk.child_overlap": 0, "index.title_weight": 0}, "test")
    names = [variant.name for variant in ablation([tmp_path], base, deep=True).variants]
    assert names == ["baseline", "fused by rrf", "titles not weighed", "titles not embedded"]


def test_stages_are_judged_without_runs_of_their_own(make_run: MakeRun) -> None:
    base = make_run()
    worse = [
        replace(query, rankings={**query.rankings, "dense": ("x", *query.rankings["dense"])})
        for query in base.run.queries
    ]
    whole = replace(base, run=replace(base.run, queries=tuple(worse)))
    found = ablated([whole, make_run("fused by rrf", changes={"retrieve.fusion": "rrf"})])
    rows = {arm.name: arm.pooled for arm in found.variants}
    assert list(rows) == ["dense only", "lexical only", "without the cut", "fused by rrf"]
    assert rows["dense only"].comparison.losses == 6
    assert rows["dense only"].comparison.p == 2 / 2**6
    # Four ablations were looked at.
    assert rows["dense only"].p_holm == 4 * rows["dense only"].comparison.p
    assert rows["lexical only"].comparison.ties == 6
