"""Runs one system on one task and writes what it measured. Started by bench.peers.run in the system's environment.

    python -m bench.peers.measure TASK.json RESULT.json

The result is written again after every step, so that a run that has to be stopped keeps what it had.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers.embedding import SharedModel, SyntheticModel, VectorFile
from bench.peers.protocol import Row, Setup, System

K = 10
WARM_UP = 5
PAUSE = 0.5
"""Seconds between steps, so that a watcher outside can tell their processor time apart."""


class Report:
    """The result so far, on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.values: dict[str, Any] = {}

    def add(self, **values: Any) -> None:
        """Add values and write all."""
        self.values |= values
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.values, ensure_ascii=False), encoding="utf-8")
        part.replace(self._path)


def read_rows(path: Path) -> list[Row]:
    """Read the documents of a task."""
    with path.open(encoding="utf-8") as file:
        return [Row(**json.loads(line)) for line in file]


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50 and p99 in milliseconds."""
    ordered = sorted(seconds)
    return {f"p{p}_ms": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1000, 2) for p in (50, 99)}


def ask_all(
    system: System, questions: Sequence[tuple[str, Mapping[str, int]]], seconds: float
) -> tuple[list[list[str]], list[float]]:
    """Ask one question after another until `seconds` have passed; return the lists and the times."""
    lists: list[list[str]] = []
    times: list[float] = []
    end = time.perf_counter() + seconds
    for query, where in questions[:WARM_UP]:
        system.search(query, K, where)
    for query, where in questions:
        if time.perf_counter() > end and times:
            break
        start = time.perf_counter()
        lists.append(system.search(query, K, where))
        times.append(time.perf_counter() - start)
    return lists, times


def quality(system: System, task: Mapping[str, Any], report: Report, rows: Sequence[Row], model: SharedModel) -> None:
    """Ingest, then ask the set's questions."""
    questions = json.loads(Path(task["questions"]).read_text(encoding="utf-8"))
    for text in questions.values():
        model.query(text)
    ingest(system, report, rows, model)
    if not task["ask"]:
        return
    names = list(questions)
    lists, times = ask_all(system, [(questions[name], {}) for name in names], task["query_seconds"])
    report.add(queries=len(times), **percentiles(times), ranked=dict(zip(names, lists, strict=False)))
    time.sleep(PAUSE)


def filters(
    system: System, task: Mapping[str, Any], report: Report, rows: Sequence[Row], model: SyntheticModel
) -> None:
    """Ingest, ask at every selectivity, delete a fifth, ask again."""
    plan = json.loads(Path(task["questions"]).read_text(encoding="utf-8"))
    ingest(system, report, rows, model)
    cells: dict[str, Any] = {}
    for name, questions in plan["filters"].items():
        if name != "none" and not system.filters:
            continue
        cells[name] = asked(system, questions, task["query_seconds"])
        report.add(filters=cells)
    start = time.perf_counter()
    system.delete(plan["deleted"])
    report.add(delete_seconds=round(time.perf_counter() - start, 2))
    cells["deleted"] = asked(system, plan["after"], task["query_seconds"])
    report.add(filters=cells)


def asked(system: System, questions: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, Any]:
    """Ask questions with filters; keep the lists for scoring."""
    lists, times = ask_all(system, [(one["text"], one["where"]) for one in questions], seconds)
    return {"queries": len(times), **percentiles(times), "lists": lists}


def ingest(system: System, report: Report, rows: Sequence[Row], model: SharedModel | SyntheticModel) -> None:
    """Add all rows and report the time."""
    start = time.perf_counter()
    chunks = system.add(rows)
    seconds = time.perf_counter() - start
    report.add(documents=len(rows), chunks=chunks, ingest_seconds=round(seconds, 2), computed=model.computed)
    time.sleep(PAUSE)


def imported(system: str) -> dict[str, float]:
    """Import the system's libraries; return the seconds by the clock and by the processor."""
    # numpy is imported before by this program; all systems need it.
    start, cpu = time.perf_counter(), time.process_time()
    importlib.import_module(system)
    return {
        "import_seconds": round(time.perf_counter() - start, 3),
        "import_cpu_seconds": round(time.process_time() - cpu, 3),
    }


def main() -> None:
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    report = Report(Path(sys.argv[2]))
    report.add(**imported(f"bench.peers.{task['system']}"))
    if task["measure"] == "import":
        return
    system: System = importlib.import_module(f"bench.peers.{task['system']}").System()
    report.add(about=system.about)
    time.sleep(PAUSE)
    rows = read_rows(Path(task["rows"]))
    model: SharedModel | SyntheticModel
    if task["measure"] == "filters":
        model = SyntheticModel(Path(task["passages"]), Path(task["question_vectors"]), task["url"])
    else:
        model = SharedModel(VectorFile(Path(task["file"]), task["model"]), task["url"], task["dimensions"])
    setup = Setup(
        folder=Path(task["folder"]),
        embedder=model,
        chunk_characters=task["chunk_characters"],
        vector_only=task["measure"] == "filters",
    )
    system.open(setup)
    if isinstance(model, SyntheticModel):
        filters(system, task, report, rows, model)
    else:
        quality(system, task, report, rows, model)
    system.close()
    report.add(done=True)


if __name__ == "__main__":
    main()
