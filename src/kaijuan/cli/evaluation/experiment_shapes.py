"""What the commands about experiments print with --json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kaijuan.evals.experiments.gate import Baseline, GateReport, Limits, can_fail, too_few
from kaijuan.evals.experiments.outcome import READER_STAGE, ArmOutcome, Judged, Outcome
from kaijuan.evals.experiments.tune import Tuned


def outcome(found: Outcome, results: Path) -> dict[str, Any]:
    """Return an outcome and where its runs are stored."""
    return {
        "experiment": found.experiment,
        "metric": found.metric,
        "stage": found.stage,
        "seed": found.seed,
        "sets": list(found.sets),
        "variants": [_arm(arm) for arm in found.variants],
        "results": str(results),
    }


def tuned(found: Tuned, results: Path) -> dict[str, Any]:
    """Return what a search over settings came to."""
    return {
        "name": found.name,
        "metric": found.metric,
        "method": found.method,
        "trials": [asdict(trial) for trial in found.trials],
        "baseline_dev": found.baseline_dev,
        "best": asdict(found.best) if found.best else None,
        "held_out": _arm(found.held_out) if found.held_out else None,
        "gained": found.gained,
        "dev_questions": found.dev_questions,
        "test_questions": found.test_questions,
        "results": str(results),
    }


def gate(report: GateReport) -> dict[str, Any]:
    """Return whether a gate is passed, and by how much."""
    return {
        "passed": report.passed,
        "failed": list(report.failed),
        "can_fail": report.can_fail,
        "too_few": list(report.too_few),
        **asdict(report.limits),
        "sets": {name: _judged(judged) for name, judged in report.now.sets.items()},
        "pooled": _judged(report.now.pooled),
        "changes": {name: list(values) for name, values in report.changes.items()},
        "baseline": {"date": report.baseline.origin.date, "commit": report.baseline.origin.commit},
    }


def written(path: Path, baseline: Baseline, limits: Limits) -> dict[str, Any]:
    """Return what was written down as the baseline, and whether it can hold anything back."""
    return {
        "written": str(path.absolute()),
        "stage": READER_STAGE,
        "can_fail": can_fail(baseline, limits),
        "too_few": list(too_few(baseline, limits)),
        "sets": means_of(baseline),
    }


def means_of(baseline: Baseline) -> dict[str, dict[str, float]]:
    """Return the mean of each metric by set."""
    return {
        name: {metric: _mean(scores) for metric, scores in found.scores.items()}
        for name, found in baseline.sets.items()
    }


def _mean(scores: Mapping[str, float]) -> float:
    return sum(scores.values()) / len(scores)


def _arm(arm: ArmOutcome) -> dict[str, Any]:
    return {
        "name": arm.name,
        "changes": dict(arm.changes),
        "sets": {name: _judged(judged) for name, judged in arm.sets.items()},
        "pooled": _judged(arm.pooled),
    }


def _judged(judged: Judged) -> dict[str, Any]:
    return {**asdict(judged.comparison), "p_holm": judged.p_holm, "verdict": judged.verdict()}
