"""What came of an experiment: every variant against the baseline, on each set and over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kaijuan.errors import EvalDataError
from kaijuan.evals.experiments.significance import Comparison, Scores, compare, compare_sets, holm
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.experiments.variants import BASELINE

ALPHA = 0.05
READER_STAGE = "final"

Verdict = Literal["better", "worse", "no significant difference"]


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One way of searching, with its scores by set and question."""

    name: str
    changes: Mapping[str, Any]
    scores: Mapping[str, Scores]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A comparison, and its p corrected for the number of variants that were looked at (Holm)."""

    comparison: Comparison
    p_holm: float

    def verdict(self, alpha: float = ALPHA) -> Verdict:
        """Say in words whether the variant differs."""
        if self.p_holm >= alpha or self.comparison.effect == 0:
            return "no significant difference"
        return "better" if self.comparison.effect > 0 else "worse"


@dataclass(frozen=True, kw_only=True)
class ArmOutcome:
    """One variant against the baseline: by set, and `pooled` by the average over the sets."""

    name: str
    changes: Mapping[str, Any]
    sets: Mapping[str, Judged]
    pooled: Judged


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """All variants against the baseline, in one metric of one stage."""

    experiment: str
    metric: str
    stage: str
    seed: int
    sets: tuple[str, ...]
    variants: tuple[ArmOutcome, ...]


def outcome_of(runs: Sequence[StoredRun], *, metric: str = "", stage: str = READER_STAGE) -> Outcome:
    """Judge the variants of an experiment, by default in its own metric.

    EvalDataError when the runs are of different data or samples, or when one is missing.
    """
    table = table_of(runs)
    metric = metric or runs[0].metric
    arms = [
        Arm(
            name=variant,
            changes=next(iter(row.values())).changes,
            scores={name: run.scores(stage).by_query[metric] for name, run in row.items()},
        )
        for variant, row in table.items()
    ]
    seed = int(runs[0].run.config["seed"])
    return Outcome(
        experiment=runs[0].experiment,
        metric=metric,
        stage=stage,
        seed=seed,
        sets=tuple(arms[0].scores),
        variants=judge(arms[0], arms[1:], seed=seed),
    )


def judge(baseline: Arm, others: Sequence[Arm], *, seed: int) -> tuple[ArmOutcome, ...]:
    """Compare every arm with the baseline; p values are corrected over the arms, for each set and for the whole."""
    by_set = {
        name: _judged({arm.name: compare(scores, arm.scores[name], seed=seed) for arm in others})
        for name, scores in baseline.scores.items()
    }
    pooled = _judged({arm.name: compare_sets(baseline.scores, arm.scores, seed=seed) for arm in others})
    return tuple(
        ArmOutcome(
            name=arm.name,
            changes=arm.changes,
            sets={name: judged[arm.name] for name, judged in by_set.items()},
            pooled=pooled[arm.name],
        )
        for arm in others
    )


def table_of(runs: Sequence[StoredRun]) -> dict[str, dict[str, StoredRun]]:
    """Return the runs by variant, the baseline first, and set.

    EvalDataError when a run is there twice or not at all, or when the data of one set differ.
    """
    if not runs:
        raise EvalDataError("There are no runs to compare.", hint="Run `kaijuan eval experiment FILE` first.")
    names = list(dict.fromkeys(run.variant for run in runs))
    names.sort(key=lambda name: name != BASELINE)
    sets = sorted({run.set for run in runs})
    table: dict[str, dict[str, StoredRun]] = {name: {} for name in names}
    for run in runs:
        if run.set in table[run.variant]:
            raise EvalDataError(
                f"There are two runs of {run.variant} on {run.set}.", hint="Name the files of one experiment only."
            )
        table[run.variant][run.set] = run
    for name, row in table.items():
        for missing in (each for each in sets if each not in row):
            raise EvalDataError(
                f"{name} has not been run on {missing}.", hint="Run the experiment again: it goes on where it was."
            )
    for each in sets:
        _check_same_data(each, [row[each] for row in table.values()])
    return {name: {each: row[each] for each in sets} for name, row in table.items()}


def _check_same_data(name: str, runs: Sequence[StoredRun]) -> None:
    first = runs[0]
    for run in runs[1:]:
        if run.run.set_fingerprint != first.run.set_fingerprint:
            raise EvalDataError(
                f"The runs of {first.variant} and {run.variant} on {name} are of different data.",
                hint="The set was changed between them; run the experiment again.",
            )
        if run.questions.keys() != first.questions.keys():
            raise EvalDataError(
                f"The runs of {first.variant} and {run.variant} on {name} asked different questions.",
                hint="Run both with the same limit and seed.",
            )


def _judged(comparisons: Mapping[str, Comparison]) -> dict[str, Judged]:
    corrected = holm({name: comparison.p for name, comparison in comparisons.items()})
    return {name: Judged(comparison=found, p_holm=corrected[name]) for name, found in comparisons.items()}
