"""The gate lets noise pass, stops a real drop, and refuses what it cannot compare."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan.config import Config
from kaijuan.errors import EvalDataError, UsageError
from kaijuan.evals.experiments.gate import (
    ALL,
    Baseline,
    Limits,
    SetScores,
    can_fail,
    check_limits,
    check_sets,
    held,
    load_sets,
    measure_now,
    read_baseline,
    too_few,
    write_baseline,
)
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.metrics import METRICS
from kaijuan.testing.embedders import HashEmbedder

WriteSet = Callable[..., Path]
MakeRun = Callable[..., StoredRun]
MEMORY = Config.model_validate({"stores": {"index": "memory"}})
GOOD = {f"q{n}": 0.9 for n in range(12)}


@pytest.fixture
def scored(make_run: MakeRun) -> Callable[..., Baseline]:
    def make(**sets: Mapping[str, float]) -> Baseline:
        return Baseline(
            origin=make_run().origin,
            settings={"retrieve": {"route_k": 30}},
            k=100,
            sets={
                name: SetScores(fingerprint="f1", scores=dict.fromkeys(METRICS, scores))
                for name, scores in sets.items()
            },
        )

    return make


def test_the_same_scores_pass(scored: Callable[..., Baseline]) -> None:
    report = held(scored(a=GOOD), scored(a=GOOD), Limits())
    assert report.passed
    assert report.now.pooled.comparison.p == 1.0


def test_a_drop_that_is_real_and_large_fails(scored: Callable[..., Baseline]) -> None:
    report = held(scored(a=GOOD, b=GOOD), scored(a=dict.fromkeys(GOOD, 0.5), b=GOOD), Limits())
    assert (report.passed, report.failed) == (False, ("a", ALL))


def test_a_real_drop_within_the_margin_passes(scored: Callable[..., Baseline]) -> None:
    assert held(scored(a=GOOD), scored(a=dict.fromkeys(GOOD, 0.85)), Limits(drop=0.1)).passed
    assert not held(scored(a=GOOD), scored(a=dict.fromkeys(GOOD, 0.85)), Limits(drop=0.04)).passed


def test_a_large_drop_by_chance_passes(scored: Callable[..., Baseline]) -> None:
    report = held(scored(a=GOOD), scored(a={**GOOD, "q0": 0.0, "q1": 0.0}), Limits())
    assert report.passed
    assert report.now.pooled.comparison.effect < -0.1


def test_a_rise_passes(scored: Callable[..., Baseline]) -> None:
    assert held(scored(a=GOOD), scored(a=dict.fromkeys(GOOD, 1.0)), Limits()).passed


def test_a_gate_that_cannot_fail_is_known(scored: Callable[..., Baseline]) -> None:
    few, enough = ({f"q{n}": 0.9 for n in range(count)} for count in (5, 6))
    lost = [held(scored(a=one), scored(a=dict.fromkeys(one, 0.0)), Limits()) for one in (few, enough)]
    assert [(report.passed, report.can_fail, report.too_few) for report in lost] == [
        (True, False, ("a",)),
        (False, True, ()),
    ]
    # Where nothing was found nothing can be lost.
    assert not can_fail(scored(a=dict.fromkeys(GOOD, 0.0)), Limits())
    assert not can_fail(scored(a=enough), Limits(alpha=0.01))
    both = scored(a=few, b=few)
    assert (can_fail(both, Limits()), too_few(both, Limits())) == (True, ("a", "b"))
    assert not held(both, scored(a=dict.fromkeys(few, 0.0), b=dict.fromkeys(few, 0.0)), Limits()).passed


def test_changed_settings_are_shown(scored: Callable[..., Baseline]) -> None:
    now = replace(scored(a=GOOD), settings={"retrieve": {"route_k": 50, "new": 1}})
    assert held(scored(a=GOOD), now, Limits()).changes == {"retrieve.new": (None, 1), "retrieve.route_k": (30, 50)}


def test_what_cannot_be_compared_is_refused(scored: Callable[..., Baseline]) -> None:
    with pytest.raises(EvalDataError, match="cannot be paired"):
        held(scored(a=GOOD), scored(a={"q0": 1.0}), Limits())
    with pytest.raises(EvalDataError, match=r"no ndcg@10"):
        held(replace(scored(a=GOOD), sets={"a": SetScores(fingerprint="f", scores={})}), scored(a=GOOD), Limits())


@pytest.mark.parametrize(
    "limits", [Limits(metric="ndcg"), Limits(drop=-0.1), Limits(drop=1.0), Limits(drop=math.nan), Limits(alpha=1.0)]
)
def test_limits_that_mean_nothing_are_refused(limits: Limits) -> None:
    with pytest.raises(UsageError):
        check_limits(limits)


def test_a_baseline_comes_back_exactly(scored: Callable[..., Baseline], tmp_path: Path) -> None:
    written = scored(a={"一": 1 / 3, "b": 0.1 + 0.2})
    write_baseline(tmp_path / "base.json", written)
    assert read_baseline(tmp_path / "base.json") == written


def test_a_file_that_is_no_baseline_is_refused(scored: Callable[..., Baseline], tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    write_baseline(path, scored(a=GOOD))
    tree = json.loads(path.read_text(encoding="utf-8"))
    for text, said in (
        (path.read_text(encoding="utf-8")[:-20], "damaged"),
        ("[]", "is no baseline"),
        (json.dumps({**tree, "format": 0}), "has format 0, not 1"),
        (json.dumps({key: value for key, value in tree.items() if key != "sets"}), "not whole: sets"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(EvalDataError, match=said):
            read_baseline(path)
    with pytest.raises(EvalDataError, match="cannot be read"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot be written"):
        write_baseline(tmp_path / "none" / "base.json", scored(a=GOOD))


async def test_a_set_is_measured_and_held_against_itself(write_set: WriteSet, tmp_path: Path) -> None:
    sets = load_sets([write_set()])
    now = await measure_now(sets, tmp_path / "home", MEMORY, embedder=HashEmbedder, clock=lambda: 0.0)
    assert now.sets["tiny"].scores["hit@1"] == dict.fromkeys(("q1", "q2", "q3", "q4"), 1.0)
    write_baseline(tmp_path / "base.json", now)
    read = read_baseline(tmp_path / "base.json")
    check_sets(read, sets)
    again = await measure_now(sets, tmp_path / "home", MEMORY, embedder=HashEmbedder)
    assert held(read, again, Limits()).passed


async def test_other_data_are_refused_before_anything_is_asked(
    scored: Callable[..., Baseline], write_set: WriteSet
) -> None:
    sets = load_sets([write_set()])
    with pytest.raises(EvalDataError, match="no longer what it was"):
        check_sets(scored(tiny=GOOD), sets)
    with pytest.raises(EvalDataError, match="The baseline is of a, b, not of tiny"):
        check_sets(scored(a=GOOD, b=GOOD), sets)
    with pytest.raises(EvalDataError, match="same name"):
        load_sets([write_set(), write_set()])
