"""Search over settings: chosen on one part of the questions, reported on another that no choice has seen."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from kaijuan.config import Config
from kaijuan.core.ids import stable_id
from kaijuan.errors import UsageError
from kaijuan.evals.experiments.changes import changed, flattened, public_settings
from kaijuan.evals.experiments.outcome import READER_STAGE, ArmOutcome, outcome_of
from kaijuan.evals.experiments.plan_file import PlanFile, read_plan, set_folders
from kaijuan.evals.experiments.run import Watch, stored_of
from kaijuan.evals.experiments.space import Attempt, Search, Space, Trial, Values, grid_of, opened, read_space
from kaijuan.evals.experiments.split import split
from kaijuan.evals.experiments.store import StoredRun, run_path, save_run, write_contents
from kaijuan.evals.experiments.variants import BASELINE, Experiment, Variant, variant_of
from kaijuan.evals.journal import code_fingerprint
from kaijuan.evals.metrics import check_installed
from kaijuan.evals.results import RetrievalRun
from kaijuan.evals.retrieval import Options, measure, sample, scores_of
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.index.ports import Embedder

BEST = "best"
TRIALS_FILE = "trials.log"


class TuneFile(PlanFile):
    """The keys of a file for tuning."""

    method: Literal["tpe", "grid"] = "tpe"
    """tpe learns from what was tried where to look next; grid tries every combination."""
    trials: int = Field(default=40, ge=1, le=10_000)
    """Combinations that tpe tries."""
    held_out: float = Field(default=0.5, ge=0.1, le=0.9)
    """Share of the questions that only the outcome is measured on."""
    space: dict[str, Any]
    """Setting -> the values to try."""


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """What is searched."""

    plan: Experiment
    """Its only variant is the baseline."""
    method: Literal["tpe", "grid"]
    trials: int
    held_out: float
    space: Space


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """What was found. Without a trial above the baseline `best` is None, and nothing was held against the test part."""

    name: str
    metric: str
    method: str
    trials: tuple[Trial, ...]
    baseline_dev: float
    best: Trial | None
    held_out: ArmOutcome | None
    """The best against the baseline, on the questions held out."""
    dev_questions: int
    test_questions: int

    @property
    def gained(self) -> bool:
        """Whether the best is significantly better on questions that it was not chosen on."""
        return self.held_out is not None and self.held_out.pooled.verdict() == "better"


TrialWatcher = Callable[[str, int, int, Values], AbstractContextManager[Watch]]
"""Given the set's name, the number of a trial (0 is the baseline, one more than there are is the questions held out),
how many there are, and what it changes."""


def unwatched(_set: str, _number: int, _total: int, _values: Values) -> AbstractContextManager[Watch]:
    """Tell nobody."""
    return nullcontext(Watch())


def read_tuning(path: Path, config: Config) -> Tuning:
    """Read a file for tuning over the settings of the home; errors name the key or setting that is wrong."""
    file = read_plan(path, TuneFile)
    base = changed(config, flattened(file.base, f"[base] of {path.name}"), str(path))
    space = read_space(file.space, base, k=file.k)
    if file.method == "grid":
        grid_of(space)
    plan = Experiment(
        name=file.name,
        folders=tuple(set_folders(path, file)),
        variants=(Variant(name=BASELINE, config=base, changes={}),),
        metric=file.metric,
        limit=file.limit,
        seed=file.seed,
        k=file.k,
    )
    return Tuning(plan=plan, method=file.method, trials=file.trials, held_out=file.held_out, space=space)


async def tune(
    tuning: Tuning,
    home: Path,
    results: Path,
    *,
    embedder: Callable[[], Embedder] | None = None,
    watcher: TrialWatcher = unwatched,
    clock: Callable[[], float] = time.time,
) -> Tuned:
    """Search, go on where an earlier call with the same data, settings and code was stopped, and report.

    The runs of the baseline and of the best on the held-out part are stored as an experiment.
    """
    check_installed()
    plan, base = tuning.plan, tuning.plan.variants[0]
    sets = [load_set(folder) for folder in plan.folders]
    parts = [
        split(data, sample(data.judged, plan.limit, plan.seed), held_out=tuning.held_out, seed=plan.seed)
        for data in sets
    ]
    search = _search(tuning, sets, results)
    bench = Bench(tuning=tuning, home=home, embedder=embedder, watcher=watcher, total=search.total(tuning.trials))
    devs, tests = [dev for dev, _ in parts], [test for _, test in parts]
    baseline_dev = await bench.score(Trying(number=0, config=base.config, values={}), devs)
    while len(search.trials) < bench.total:
        await _try_next(search, bench, devs)
    tried = search.trials
    best = _best(tried, baseline_dev)
    runs: list[StoredRun] = []
    variants = (base, *([variant_of(base.config, BEST, best.values)] if best else []))
    write_contents([run_path(results, plan.name, test.name, one.name) for test in tests for one in variants])
    for variant in variants:
        trying = Trying(number=bench.total + 1, config=variant.config, values=variant.changes)
        for test in tests:
            stored = stored_of(plan, test, variant, await bench.run(trying, test), clock())
            save_run(run_path(results, plan.name, test.name, variant.name), stored)
            runs.append(stored)
    return Tuned(
        name=plan.name,
        metric=plan.metric,
        method=tuning.method,
        trials=tuple(tried),
        baseline_dev=baseline_dev,
        best=best,
        held_out=outcome_of(runs).variants[0] if best else None,
        dev_questions=sum(len(dev.judged) for dev, _ in parts),
        test_questions=sum(len(test.judged) for _, test in parts),
    )


@dataclass(frozen=True, kw_only=True)
class Trying:
    """Settings that are being tried."""

    number: int
    config: Config
    values: Values


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Asks the questions of a part with given settings."""

    tuning: Tuning
    home: Path
    embedder: Callable[[], Embedder] | None
    watcher: TrialWatcher
    total: int

    async def run(self, trying: Trying, part: EvalSet) -> RetrievalRun:
        """Ask all questions of one part."""
        options = Options(k=self.tuning.plan.k, limit=0, seed=self.tuning.plan.seed)
        with self.watcher(part.name, trying.number, self.total, trying.values) as watch:
            measured = await measure(
                part,
                self.home,
                trying.config,
                options,
                embedder=self.embedder,
                progress=watch.progress,
                asked=watch.asked,
            )
        return measured.run

    async def score(self, trying: Trying, parts: Sequence[EvalSet]) -> float:
        """Return the average over the sets of their mean in the metric that decides."""
        metric = self.tuning.plan.metric
        means = [scores_of(await self.run(trying, part), part, READER_STAGE).means[metric] for part in parts]
        return math.fsum(means) / len(means)


def _search(tuning: Tuning, sets: Sequence[EvalSet], results: Path) -> Search:
    """Open the search that belongs to exactly this data, these settings and this code."""
    plan = tuning.plan
    facts = {
        "settings": public_settings(plan.variants[0].config),
        "sample": [plan.k, plan.limit, plan.seed, tuning.held_out, plan.metric, tuning.method],
        "space": {name: repr(values) for name, values in tuning.space.items()},
        "sets": [data.fingerprint for data in sets],
    }
    name = stable_id("tuning", json.dumps(facts, sort_keys=True), code_fingerprint())
    path = run_path(results, plan.name, "", "").with_name(TRIALS_FILE)
    return opened(path, name, tuning.space, grid=tuning.method == "grid", seed=plan.seed)


async def _try_next(search: Search, bench: Bench, parts: Sequence[EvalSet]) -> None:
    base = bench.tuning.plan.variants[0].config
    with search.next() as attempt:
        if (known := _known(search, attempt)) is not None:
            attempt.score, attempt.reason = known.score, known.reason
            return
        try:
            config = changed(base, attempt.values, "The trial")
        except UsageError as error:
            attempt.reason = error.message
            return
        attempt.score = await bench.score(
            Trying(number=attempt.number + 1, config=config, values=attempt.values), parts
        )


def _known(search: Search, attempt: Attempt) -> Trial | None:
    return next((trial for trial in search.trials if trial.values == attempt.values), None)


def _best(tried: Sequence[Trial], baseline: float) -> Trial | None:
    """Return the first of the best trials, None where none is above the baseline."""
    above = [trial for trial in tried if trial.score is not None and trial.score > baseline]
    return max(above, key=lambda trial: (trial.score or 0.0, -trial.number), default=None)
