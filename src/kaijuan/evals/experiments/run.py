"""Run an experiment: every variant on every set, each run stored as it ends; a second call goes on from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from kaijuan.errors import EvalDataError
from kaijuan.evals.experiments.changes import public_settings
from kaijuan.evals.experiments.origin import origin_at
from kaijuan.evals.experiments.store import (
    Question,
    StoredRun,
    documents_of,
    load_run,
    run_key,
    run_path,
    save_run,
    write_contents,
)
from kaijuan.evals.experiments.variants import Experiment, Variant
from kaijuan.evals.metrics import check_installed
from kaijuan.evals.results import RetrievalRun
from kaijuan.evals.retrieval import Asked, Options, measure
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.index.ports import Embedder
from kaijuan.jobs.report import Progress


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Who is told how far one run is: documents taken in, then questions asked."""

    progress: Callable[[Progress], None] | None = None
    asked: Asked = lambda _done, _total: None


Watcher = Callable[[str, str], AbstractContextManager[Watch]]
"""Given the set's and the variant's name when a run begins."""


def unwatched(_set: str, _variant: str) -> AbstractContextManager[Watch]:
    """Tell nobody."""
    return nullcontext(Watch())


def evals_results(home: Path) -> Path:
    """Return where experiments of a home are stored unless another folder is named."""
    return home / "evals" / "results"


async def run_experiment(
    plan: Experiment,
    home: Path,
    results: Path,
    *,
    fresh: bool = False,
    embedder: Callable[[], Embedder] | None = None,
    watcher: Watcher = unwatched,
    clock: Callable[[], float] = time.time,
) -> list[StoredRun]:
    """Return the runs, those made now and those that an earlier call had stored with the same data and code.

    Corpora are taken in once for all variants that cut and embed them alike. `fresh` makes every run anew.
    """
    check_installed()  # at once, not after an hour of asking
    sets = [load_set(folder) for folder in plan.folders]
    write_contents([run_path(results, plan.name, data.name, one.name) for data in sets for one in plan.variants])
    made: list[StoredRun] = []
    for data in sets:
        for variant in plan.variants:
            path = run_path(results, plan.name, data.name, variant.name)
            stored = None if fresh else _stored(path, key_of(plan, data, variant))
            if stored is None:
                with watcher(data.name, variant.name) as watch:
                    options = Options(k=plan.k, limit=plan.limit, seed=plan.seed, fresh=fresh)
                    measured = await measure(
                        data,
                        home,
                        variant.config,
                        options,
                        embedder=embedder,
                        progress=watch.progress,
                        asked=watch.asked,
                    )
                stored = stored_of(plan, data, variant, measured.run, clock())
                save_run(path, stored)
            made.append(stored)
    return made


def key_of(plan: Experiment, data: EvalSet, variant: Variant) -> str:
    """Return the key of one run of the plan."""
    return run_key(data, public_settings(variant.config), {"k": plan.k, "limit": plan.limit, "seed": plan.seed})


def stored_of(plan: Experiment, data: EvalSet, variant: Variant, run: RetrievalRun, now: float) -> StoredRun:
    """Return a run with everything that belongs beside it."""
    texts = {query.id: query.text for query in data.queries}
    asked: Sequence[str] = [query.query_id for query in run.queries]
    return StoredRun(
        key=key_of(plan, data, variant),
        experiment=plan.name,
        variant=variant.name,
        metric=plan.metric,
        changes=variant.changes,
        settings=public_settings(variant.config),
        origin=origin_at(now),
        run=run,
        questions={id: Question(text=texts[id], grades=data.grades[id]) for id in asked},
        documents=documents_of(data, run),
    )


def _stored(path: Path, key: str) -> StoredRun | None:
    if not path.exists():
        return None
    try:
        found = load_run(path)
    except EvalDataError:
        return None  # damaged, or of another version: made anew
    return found if found.key == key else None
