"""What an evaluation of retrieval found, question by question; every figure is computed from this."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError
from kaijuan.evals.writing import write_target

STAGES = ("dense", "lexical", "fused", "final")
"""Stages whose rankings are kept, in the order of the flow. `final` is what a reader is given."""
DEPTH = 100
"""Documents kept of each ranking."""


@dataclass(frozen=True, kw_only=True)
class QueryRun:
    """One question as it was asked. `rankings` maps each stage to document ids, best first, each once."""

    query_id: str
    kind: str
    rankings: Mapping[str, tuple[str, ...]]
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class RetrievalRun:
    """One set asked with one configuration. `set_fingerprint` names the data, `config` the settings that count."""

    set: str
    set_fingerprint: str
    documents: int
    chunks: int
    reused: bool
    """True where the corpus had been taken in by an earlier run."""
    ingest_seconds: float
    config: Mapping[str, Any]
    queries: tuple[QueryRun, ...]
    problems: tuple[str, ...] = ()


def write_runs(path: Path, runs: Sequence[RetrievalRun]) -> None:
    """Write runs to a JSON file, whole or not at all."""
    text = json.dumps({"runs": [asdict(run) for run in runs]}, ensure_ascii=False, indent=1)
    write_target(path, text + "\n", errors="backslashreplace")


def read_runs(path: Path) -> tuple[RetrievalRun, ...]:
    """Read what `write_runs` wrote; EvalDataError when the file holds something else."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["runs"]
        return tuple(_run(row) for row in rows)
    except OSError as error:
        raise EvalDataError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise EvalDataError(
            f"{path} holds no retrieval results.", hint="Write it with eval retrieval --save."
        ) from error


def _run(row: Mapping[str, Any]) -> RetrievalRun:
    queries = tuple(
        QueryRun(
            query_id=query["query_id"],
            kind=query["kind"],
            rankings={stage: tuple(ranking) for stage, ranking in query["rankings"].items()},
            milliseconds=query["milliseconds"],
        )
        for query in row["queries"]
    )
    return RetrievalRun(**{**row, "queries": queries, "problems": tuple(row["problems"])})
