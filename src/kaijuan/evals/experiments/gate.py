"""The gate for a build: has a fixed set become worse since its scores were written down?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kaijuan.config import Config
from kaijuan.errors import EvalDataError, UsageError
from kaijuan.evals.experiments.changes import public_settings
from kaijuan.evals.experiments.origin import Origin, origin_at
from kaijuan.evals.experiments.outcome import READER_STAGE, Arm, ArmOutcome, Judged, judge
from kaijuan.evals.experiments.run import Watcher, unwatched
from kaijuan.evals.experiments.significance import Scores, check_alpha, least_p
from kaijuan.evals.experiments.variants import BASELINE
from kaijuan.evals.metrics import METRICS, check_installed
from kaijuan.evals.results import DEPTH
from kaijuan.evals.retrieval import Options, measure, scores_of
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.evals.writing import write_target
from kaijuan.index.ports import Embedder

FORMAT = 1
SEED = 0
"""Chance draws the same signs each time: a gate that is passed once is passed again."""


@dataclass(frozen=True, kw_only=True)
class SetScores:
    """What a set scored: metric -> question -> value."""

    fingerprint: str
    scores: Mapping[str, Scores]


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """Scores written down, with the settings and the code they were reached with."""

    origin: Origin
    settings: Mapping[str, Mapping[str, Any]]
    k: int
    sets: Mapping[str, SetScores]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """A drop fails when it is larger than `drop` and its p is below `alpha`."""

    metric: str = METRICS[0]
    drop: float = 0.01
    alpha: float = 0.05


@dataclass(frozen=True, kw_only=True)
class GateReport:
    """The present against the baseline. `failed` names the sets that dropped, "all sets" among them."""

    baseline: Baseline
    limits: Limits
    now: ArmOutcome
    changes: Mapping[str, tuple[Any, Any]]
    """Settings that differ from the baseline's: dotted name -> value then, value now."""
    failed: tuple[str, ...]
    too_few: tuple[str, ...] = ()
    """The sets that cannot fail, as `too_few` says."""

    @property
    def passed(self) -> bool:
        """Whether the build may go on."""
        return not self.failed

    @property
    def can_fail(self) -> bool:
        """Whether there are scores bad enough to fail."""
        return can_fail(self.baseline, self.limits)


ALL = "all sets"


def load_sets(folders: Sequence[Path]) -> list[EvalSet]:
    """Read the sets of a gate; EvalDataError when two have one name."""
    sets = [load_set(folder) for folder in folders]
    if len({data.name for data in sets}) < len(sets):
        raise EvalDataError("Two sets have the same name.", hint="Name each folder once.")
    return sets


async def measure_now(
    sets: Sequence[EvalSet],
    home: Path,
    config: Config,
    *,
    k: int = DEPTH,
    embedder: Callable[[], Embedder] | None = None,
    watcher: Watcher = unwatched,
    clock: Callable[[], float] = time.time,
) -> Baseline:
    """Ask all questions of the sets and return their scores as a baseline has them."""
    check_installed()
    found = {}
    for data in sets:
        with watcher(data.name, BASELINE) as watch:
            measured = await measure(
                data, home, config, Options(k=k), embedder=embedder, progress=watch.progress, asked=watch.asked
            )
        scores = scores_of(measured.run, data, READER_STAGE).by_query
        found[data.name] = SetScores(fingerprint=data.fingerprint, scores=scores)
    return Baseline(origin=origin_at(clock()), settings=public_settings(config), k=k, sets=found)


def check_sets(baseline: Baseline, sets: Sequence[EvalSet]) -> None:
    """Raise EvalDataError unless the sets are exactly those of the baseline, before anything is asked."""
    given = {data.name: data.fingerprint for data in sets}
    if given.keys() != baseline.sets.keys():
        raise EvalDataError(
            f"The baseline is of {', '.join(sorted(baseline.sets))}, not of {', '.join(sorted(given))}.",
            hint="Name the same sets, or renew it with --write.",
        )
    for name, fingerprint in given.items():
        if baseline.sets[name].fingerprint != fingerprint:
            raise EvalDataError(
                f"{name} is no longer what it was when the baseline was written.", hint="Renew it with --write."
            )


def held(baseline: Baseline, now: Baseline, limits: Limits) -> GateReport:
    """Hold the present against the baseline."""
    check_limits(limits)
    if any(limits.metric not in found.scores for found in baseline.sets.values()):
        raise EvalDataError(f"The baseline has no {limits.metric}.", hint="Renew it with --write.")
    then_arm, now_arm = (
        Arm(name=name, changes={}, scores={each: found.scores[limits.metric] for each, found in one.sets.items()})
        for name, one in ((BASELINE, baseline), ("now", now))
    )
    (outcome,) = judge(then_arm, [now_arm], seed=SEED)
    looked_at = {**outcome.sets, **({ALL: outcome.pooled} if len(outcome.sets) > 1 else {})}
    return GateReport(
        baseline=baseline,
        limits=limits,
        now=outcome,
        changes=_changes(baseline.settings, now.settings),
        failed=tuple(name for name, judged in looked_at.items() if _dropped(judged, limits)),
        too_few=too_few(baseline, limits),
    )


def too_few(baseline: Baseline, limits: Limits) -> tuple[str, ...]:
    """Return the sets with so few questions that they pass with nothing found at all: no loss would be sure."""
    return tuple(name for name in baseline.sets if least_p(_losable(baseline, [name], limits)) >= limits.alpha)


def can_fail(baseline: Baseline, limits: Limits) -> bool:
    """Say whether nothing found in any set would fail."""
    return least_p(_losable(baseline, list(baseline.sets), limits)) < limits.alpha


def _losable(baseline: Baseline, names: Sequence[str], limits: Limits) -> int:
    """Count the questions that can score less than they did."""
    return sum(score > 0 for name in names for score in baseline.sets[name].scores[limits.metric].values())


def check_limits(limits: Limits) -> None:
    """Raise UsageError when the gate could not mean anything."""
    check_alpha(limits.alpha)
    if limits.metric not in METRICS:
        raise UsageError(f"There is no metric {limits.metric!r}.", hint=f"Known: {', '.join(METRICS)}.")
    if not 0 <= limits.drop < 1:
        raise UsageError(f"{limits.drop:g} cannot be a drop.", hint="Give one from 0 to 1, as 0.01.")


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline as JSON, a line a question so that version control shows what changed."""
    tree = {"format": FORMAT, **_adapter().dump_python(baseline, mode="json")}
    write_target(path, json.dumps(tree, ensure_ascii=False, indent=1, sort_keys=True) + "\n", errors="backslashreplace")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline; EvalDataError when the file holds something else, or something older."""
    renew = "Renew it with --write."
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvalDataError(f"{path} cannot be read: {error.strerror}.", hint="Make it with --write.") from error
    except ValueError as error:
        raise EvalDataError(f"{path} is damaged: {error}.", hint=renew) from error
    found = tree.pop("format", None) if isinstance(tree, dict) else None
    if found != FORMAT:
        what = "is no baseline" if not isinstance(found, int) else f"has format {found}, not {FORMAT}"
        raise EvalDataError(f"{path} {what}.", hint=renew)
    try:
        return _adapter().validate_python(tree)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][:4])
        raise EvalDataError(f"{path} is not whole: {place}: {first['msg']}.", hint=renew) from error


def _dropped(judged: Judged, limits: Limits) -> bool:
    found = judged.comparison
    return found.effect < -limits.drop and found.p < limits.alpha


def _changes(then: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[Any, Any]]:
    mine, theirs = _flat(then), _flat(now)
    names = sorted(mine.keys() | theirs.keys())
    return {name: (mine.get(name), theirs.get(name)) for name in names if mine.get(name) != theirs.get(name)}


def _flat(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {f"{section}.{name}": value for section, table in settings.items() for name, value in table.items()}


def _adapter() -> TypeAdapter[Baseline]:
    return TypeAdapter(Baseline)
