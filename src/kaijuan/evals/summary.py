"""The figures of a retrieval run: metrics by stage and by kind of question, latency, and what to know about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kaijuan.evals.kinds import KINDS
from kaijuan.evals.results import STAGES, RetrievalRun
from kaijuan.evals.retrieval import Measured, scores_of
from kaijuan.evals.sets import EvalSet

READER_STAGE = "final"
"""The stage whose metrics stand for the whole."""
PERCENTILES = (50, 95, 99)
METRIC_DECIMALS = 4
TIME_DECIMALS = 2


def summary_of(measured: Measured, data: EvalSet) -> dict[str, Any]:
    """Return the figures as JSON has them; metrics between 0 and 1, rounded to four places, times in milliseconds.

    `metrics` and `by_kind` are of the stage `final`, what a reader is given.
    """
    run = measured.run
    stages = {stage: _rounded(scores_of(run, data, stage).means) for stage in STAGES}
    return {
        "set": run.set,
        "documents": run.documents,
        "chunks": run.chunks,
        "queries": len(run.queries),
        "metrics": stages[READER_STAGE],
        "stages": stages,
        "by_kind": _by_kind(run, data),
        "latency_ms": latency_of(run),
        "config": dict(run.config),
        "ingest": {"reused": run.reused, "seconds": run.ingest_seconds},
        "resumed": measured.resumed,
        "fingerprint": run.set_fingerprint,
        "problems": list(run.problems),
    }


def latency_of(run: RetrievalRun) -> dict[str, float]:
    """Return percentiles of the time of one search, its question embedded too, interpolated linearly."""
    times = [query.milliseconds for query in run.queries]
    found = np.percentile(times, PERCENTILES)
    return {f"p{at}": round(float(value), TIME_DECIMALS) for at, value in zip(PERCENTILES, found, strict=True)}


def _by_kind(run: RetrievalRun, data: EvalSet) -> dict[str, Any]:
    asked = [query.kind for query in run.queries]
    return {
        kind: {"queries": asked.count(kind), **_rounded(scores_of(run, data, READER_STAGE, kind).means)}
        for kind in KINDS
        if kind in asked
    }


def _rounded(means: Any) -> dict[str, float]:
    return {metric: round(value, METRIC_DECIMALS) for metric, value in means.items()}
