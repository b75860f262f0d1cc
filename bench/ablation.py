"""What each stage of retrieval is worth on corpora in BEIR layout, as one JSON document: `kaijuan eval ablate`.

    python -m bench.ablation ../shared/data/cmrc2018_zh ... [--home DIR] [--limit N] [--deep]

Each stage or setting left out, or done another way, against the whole, by a paired randomisation test. With a home
given, a run that was stopped is gone on with.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from kaijuan.cli.evaluation.experiment_shapes import outcome
from kaijuan.config import Config
from kaijuan.evals.experiments.ablate import ablated, ablation
from kaijuan.evals.experiments.run import Watch, evals_results, run_experiment


@contextmanager
def told(name: str, variant: str) -> Iterator[Watch]:
    """Say on standard error which run has begun."""
    print(f"{name}: {variant}", file=sys.stderr, flush=True)
    yield Watch()


def measured(folders: list[Path], home: Path, *, limit: int, deep: bool) -> dict[str, Any]:
    """Run what the ablation needs and judge it."""
    plan = ablation([folder.resolve() for folder in folders], Config(), limit=limit, deep=deep)
    runs = asyncio.run(run_experiment(plan, home, evals_results(home), watcher=told))
    found = outcome(ablated(runs), evals_results(home))
    del found["results"]  # a folder of this machine
    return {**found, "limit": limit, "questions": sum(len(run.questions) for run in runs if run.variant == "baseline")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--deep", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as spare:
        found = measured(given.sets, given.home or Path(spare), limit=given.limit, deep=given.deep)
    print(json.dumps({"machine": machine(), **found}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
