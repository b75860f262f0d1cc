"""Measures Kaijuan beside its peers, each in a process and an environment of its own.

    python -m bench.peers [--quick] [--systems NAME ...] [--sets NAME ...] [--measures NAME ...] [--rows N]
                          [--once] [--work DIR]

Every finished cell is kept in bench/results/peers.json at once and is not run again while the versions, the data and
the model are the same. Environments, data and vectors are kept in `--work`. Prints the whole result as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench.machine import machine
from bench.metrics import ndcg, recall
from bench.peers import synthetic
from bench.peers.corpora import CORPORA, Corpus, Subset, write_subset
from bench.peers.embedding import ask_server, made_by_server
from bench.peers.embedding_server import onboard
from bench.peers.environments import PEERS, Peer, python_of, versions
from bench.peers.measure import read_rows
from bench.peers.processes import MARK, ProcessWatch, cpu_seconds
from bench.peers.results import Cell, Results

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
STORED = ROOT / "bench" / "results" / "peers.json"
MEASURES = ("import", "uncached", "filters", "quality")
UNCACHED = "xquad_zh_en"
UNCACHED_DOCUMENTS = 100
ROWS = 100_000
QUICK_ROWS = 1_000
QUICK_QUESTIONS = 50
QUICK_DOCUMENTS = 100
IMPORTS = 5
INGEST_SECONDS = 480
FILTER_INGEST_SECONDS = 4500
CELL_SECONDS = 600
"""After the ingest: what questions, deletion and closing may take in all."""
QUERY_SECONDS = 60
FILL_SECONDS = 3600
PREPARED = 128
ERROR = re.compile(r"[\w.]+(Error|Exception)\b")
PATH = re.compile(r"(/[\w.-]+){2,}")


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What all cells of one call share."""

    work: Path
    model: str
    dimensions: int
    once: bool

    @property
    def vectors(self) -> Path:
        """Return the file of the onboard embedder's vectors."""
        return self.work / "vectors.db"


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How one process ended and what it took."""

    state: str
    values: dict[str, Any]
    peak_mb: int
    disk_mb: float


@contextmanager
def embedding_server(arguments: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Run the embedding server and give its address and process."""
    command = [sys.executable, "-m", "bench.peers.embedding_server", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        if server.stdout is None or server.stdin is None:
            raise RuntimeError("The embedding server has no pipes.")
        address = server.stdout.readline().strip()
        try:
            yield address, server.pid
        finally:
            server.stdin.close()
            server.wait(30)


def run_process(bench: Bench, interpreter: Path, task: dict[str, Any], ingest_seconds: float) -> Ran:
    """Run one task in an environment; stop it when ingest or the rest takes too long."""
    mark = uuid.uuid4().hex
    place = bench.work / "run" / mark
    folder = place / "base"
    folder.mkdir(parents=True)
    task_file, result_file = place / "task.json", place / "result.json"
    task_file.write_text(json.dumps({**task, "folder": str(folder)}), encoding="utf-8")
    command = [str(interpreter), "-m", "bench.peers.measure", str(task_file), str(result_file)]
    environment = os.environ | {MARK: mark, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    environment |= {
        "ANONYMIZED_TELEMETRY": "False",
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "LANGSMITH_TRACING": "false",
    }
    errors = place / "errors.txt"
    load = os.getloadavg()[0]
    with ProcessWatch(mark) as watch, errors.open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        state, cpu = _wait(process, watch, result_file, ingest_seconds)
        if state.startswith("stopped"):
            _end(watch.pids())
        process.wait()
        _let_others_end(watch)
    values: dict[str, Any] = _read(result_file) | cpu | {"load": [round(load, 1), round(os.getloadavg()[0], 1)]}
    if state == "done" and not values.get("done") and task["measure"] != "import":
        state = f"failed: {raised(errors.read_text(encoding='utf-8', errors='replace'))}"
        shutil.copy(errors, bench.work / f"last-failure-{task['system']}-{task['measure']}.txt")
    disk = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    shutil.rmtree(place, ignore_errors=True)
    return Ran(state=state, values=values, peak_mb=round(watch.peak_bytes / 1e6), disk_mb=round(disk / 1e6, 1))


def raised(output: str) -> str:
    """Return the last error that a process wrote, without paths, which are nobody's business."""
    lines = [line for line in output.splitlines() if ERROR.match(line)] or output.strip().splitlines()[-1:]
    return PATH.sub("...", lines[-1])[:200] if lines else "no message"


def _wait(
    process: subprocess.Popen[bytes], watch: ProcessWatch, result: Path, ingest_seconds: float
) -> tuple[str, dict[str, float]]:
    """Wait for the end or a limit; return how it ended, and the processor time of ingest and of the questions."""
    start = time.monotonic()
    steps: dict[str, float] = {}
    began: float | None = None
    while process.poll() is None:
        time.sleep(0.1)
        now, cpu, written = time.monotonic(), watch.cpu_seconds, _read(result)
        if "about" in written:
            began = cpu if began is None else began
        if "ingest_seconds" in written and "ingest" not in steps:
            ingested = now
            steps = {"ingest": cpu - (began or 0.0), "questions_from": cpu}
        if "queries" in written and "questions" not in steps:
            steps["questions"] = cpu - steps["questions_from"]
        if "ingest" not in steps and now - start > ingest_seconds:
            return f"stopped after {ingest_seconds / 60:.0f} min of ingest", {}
        if "ingest" in steps and now - ingested > CELL_SECONDS:
            return f"stopped {CELL_SECONDS / 60:.0f} min after ingest", _cpu(steps)
    return "done", _cpu(steps)


def _cpu(steps: dict[str, float]) -> dict[str, float]:
    names = {"ingest": "ingest_cpu_seconds", "questions": "questions_cpu_seconds"}
    return {name: round(steps[step], 2) for step, name in names.items() if step in steps}


def _read(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return values


def _end(pids: Sequence[int], how: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        try:
            os.kill(pid, how)
        except ProcessLookupError:
            continue


def _let_others_end(watch: ProcessWatch) -> None:
    """End what a system left running, such as the process that serves our index: first by asking."""
    _end(watch.pids(), signal.SIGTERM)
    for _ in range(20):
        if not watch.pids():
            return
        time.sleep(0.5)
    _end(watch.pids())


# --- the four measures ------------------------------------------------------------------------------------------------


def measure_import(bench: Bench, peer: Peer, interpreter: Path) -> Ran:
    """Import the system's libraries in fresh processes; the median counts."""
    runs = [run_process(bench, interpreter, {"system": peer.module, "measure": "import"}, 60) for _ in range(IMPORTS)]
    names = ("import_seconds", "import_cpu_seconds")
    values = {name: median(run.values.get(name, 0.0) for run in runs) for name in names}
    return Ran(state=runs[-1].state, values=values, peak_mb=max(run.peak_mb for run in runs), disk_mb=0.0)


def measure_set(
    bench: Bench, peer: Peer, interpreter: Path, corpus: Corpus, subset: Subset, file: Path, *, ask: bool
) -> Ran:
    """Ingest a subset and ask its questions, the vectors from `file` and what it lacks from the server."""
    folder = subset.folder
    with embedding_server(["--file", str(file)]) as (url, server):
        task = {
            "system": peer.module,
            "measure": "quality",
            "rows": str(folder / "rows.jsonl"),
            "questions": str(folder / "questions.json"),
            "file": str(file),
            "model": bench.model,
            "dimensions": bench.dimensions,
            "url": url,
            "chunk_characters": corpus.chunk_characters,
            "query_seconds": QUERY_SECONDS * 2,
            "ask": ask,
        }
        run = run_process(bench, interpreter, task, INGEST_SECONDS if ask else FILL_SECONDS)
        run.values["embedding_cpu_seconds"] = cpu_seconds(server)
        run.values["vectors_made"] = made_by_server(url)
        return run


def measure_quality(bench: Bench, peer: Peer, interpreter: Path, corpus: Corpus, subset: Subset) -> Ran:
    """Measure with every vector in the file: where some had to be made, a second run counts, unless the machine is
    too busy for that. Then the ingest's clock time is not the system's own, and the table leaves it out."""
    run = measure_set(bench, peer, interpreter, corpus, subset, bench.vectors, ask=True)
    if not bench.once and (run.values["vectors_made"] or run.state.endswith("of ingest")):
        measure_set(bench, peer, interpreter, corpus, subset, bench.vectors, ask=False)
        run = measure_set(bench, peer, interpreter, corpus, subset, bench.vectors, ask=True)
    ranked = run.values.pop("ranked", {})
    lists = {query: (found, subset.grades[query]) for query, found in ranked.items()}
    if lists:
        run.values["ndcg@10"] = round(fmean(ndcg(found, grades, 10) for found, grades in lists.values()), 4)
        run.values["recall@10"] = round(fmean(recall(found, grades, 10) for found, grades in lists.values()), 4)
    return run


def prepare_vectors(bench: Bench, corpus: Corpus, subset: Subset) -> None:
    """Embed the questions, and the documents that most systems take whole, before any system is measured."""
    with embedding_server(["--file", str(bench.vectors)]) as (url, _):
        rows = read_rows(subset.folder / "rows.jsonl")
        whole = [row.whole for row in rows if len(row.whole) <= corpus.chunk_characters]
        for kind, texts in (("passage", whole), ("query", list(subset.questions.values()))):
            for at in range(0, len(texts), PREPARED):
                ask_server(url, kind, texts[at : at + PREPARED])


def measure_uncached(bench: Bench, peer: Peer, interpreter: Path, corpus: Corpus) -> Ran:
    """Ingest with an empty file of vectors, so that every passage is embedded."""
    file = bench.work / f"uncached-{uuid.uuid4().hex}.db"
    corpus = replace(corpus, documents=UNCACHED_DOCUMENTS)
    subset = write_subset(corpus, DATA, bench.work / "data" / f"{corpus.name}-few", questions=UNCACHED_DOCUMENTS // 10)
    try:
        return measure_set(bench, peer, interpreter, corpus, subset, file, ask=False)
    finally:
        for path in file.parent.glob(f"{file.name}*"):
            path.unlink()


def measure_filters(bench: Bench, peer: Peer, interpreter: Path, data: synthetic.Synthetic, rows: int) -> Ran:
    """Ask with filters over synthetic chunks, delete a fifth, and ask again."""
    folder = bench.work / "data" / f"synthetic-{rows}"
    arrays = [str(folder / "passages.npy"), str(folder / "questions.npy")]
    with embedding_server(["--file", str(bench.vectors), "--synthetic", *arrays]) as (url, _):
        task = {
            "system": peer.module,
            "measure": "filters",
            "rows": str(folder / "rows.jsonl"),
            "questions": str(folder / "questions.json"),
            "passages": arrays[0],
            "question_vectors": arrays[1],
            "url": url,
            # Every row is to be one chunk, whatever a splitter counts.
            "chunk_characters": synthetic.CHUNK * 8,
            "query_seconds": QUERY_SECONDS,
        }
        run = run_process(bench, interpreter, task, FILTER_INGEST_SECONDS)
    for name, cell in run.values.get("filters", {}).items():
        cell |= synthetic.scores(data, name, cell.pop("lists"))
    return run


# --- all cells --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Job:
    """One cell to fill: what it is called, what its data was, and how it is measured."""

    measure: str
    set: str
    data: str
    run: Callable[[Peer, Path], Ran]


def jobs(bench: Bench, measures: Sequence[str], sets: Sequence[str], rows: int, *, quick: bool) -> Iterator[Job]:
    """Yield the cells of one system, cheap ones first."""
    if "import" in measures:
        yield Job(measure="import", set="", data="", run=lambda peer, python: measure_import(bench, peer, python))
    if "filters" in measures:
        yield _filters_job(bench, rows)
    for corpus in CORPORA:
        if corpus.name in sets and DATA.exists() and {"uncached", "quality"} & set(measures):
            yield from _set_jobs(bench, measures, corpus, quick=quick)


def _filters_job(bench: Bench, rows: int) -> Job:
    data = synthetic.generate(rows)
    folder = bench.work / "data" / f"synthetic-{rows}"
    if not (folder / "questions.json").exists():
        synthetic.write(data, folder)
    return Job(
        measure="filters",
        set=f"{rows} rows",
        data=str(rows),
        run=lambda peer, python: measure_filters(bench, peer, python, data, rows),
    )


def _set_jobs(bench: Bench, measures: Sequence[str], corpus: Corpus, *, quick: bool) -> Iterator[Job]:
    folder = bench.work / "data" / corpus.name
    count = {"questions": QUICK_QUESTIONS} if quick else {}
    corpus = replace(corpus, documents=QUICK_DOCUMENTS) if quick else corpus
    subset = write_subset(corpus, DATA, folder, **count)
    data = f"{subset.fingerprint} {bench.model}"
    if "uncached" in measures and corpus.name == UNCACHED:
        yield Job(
            measure="uncached",
            set=corpus.name,
            data=data,
            run=lambda peer, python: measure_uncached(bench, peer, python, corpus),
        )
    if "quality" in measures:
        prepare_vectors(bench, corpus, subset)
        yield Job(
            measure="quality",
            set=corpus.name,
            data=data,
            run=lambda peer, python: measure_quality(bench, peer, python, corpus, subset),
        )


def ready(peers: Iterable[Peer], work: Path, *, make: bool) -> Iterator[tuple[Peer, Path, dict[str, str]]]:
    """Yield the systems that can run, with interpreter and versions; the others are named and left out."""
    for peer in peers:
        try:
            interpreter = python_of(peer, work / "environments", make=make)
            yield peer, interpreter, versions(peer, interpreter)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{peer.title}: left out, {error}", file=sys.stderr)


def fill(results: Results, todo: Iterable[Job], systems: Sequence[tuple[Peer, Path, dict[str, str]]]) -> None:
    """Run every cell that is not there yet."""
    for job in todo:
        for peer, interpreter, found in systems:
            if results.has(peer.module, job.measure, job.set, versions=found, data=job.data):
                continue
            print(f"{time.strftime('%H:%M:%S')} {peer.title}: {job.measure} {job.set}", file=sys.stderr, flush=True)
            run = job.run(peer, interpreter)
            print(f"  {run.state} {json.dumps(run.values, ensure_ascii=False)[:300]}", file=sys.stderr, flush=True)
            results.put(peer.module, job.measure, job.set, _cell(run, job, found))


def _cell(run: Ran, job: Job, found: dict[str, str]) -> Cell:
    facts = machine()
    return Cell(
        state=run.state,
        versions=found,
        data=job.data,
        commit=facts["commit"],
        date=facts["date"],
        peak_mb=run.peak_mb,
        disk_mb=run.disk_mb,
        values={key: value for key, value in run.values.items() if key != "done"},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--quick", action="store_true", help="fewer rows and questions, no environment made, nothing kept"
    )
    parser.add_argument("--systems", nargs="*", default=[peer.module for peer in PEERS])
    parser.add_argument("--sets", nargs="*", default=[corpus.name for corpus in CORPORA])
    parser.add_argument("--measures", nargs="*", default=MEASURES, choices=MEASURES)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "kaijuan-peers")
    parser.add_argument("--once", action="store_true", help="no second run where vectors had to be made in the first")
    parser.add_argument("--rows", type=int, default=0, help="synthetic chunks of the filtered test")
    options = parser.parse_args()
    info = onboard().info
    bench = Bench(work=options.work.resolve(), model=info.fingerprint, dimensions=info.dimensions, once=options.once)
    sets = [UNCACHED] if options.quick else options.sets
    rows = options.rows or (QUICK_ROWS if options.quick else ROWS)
    stored = bench.work / "quick.json" if options.quick else STORED
    stored.parent.mkdir(parents=True, exist_ok=True)
    if options.quick:
        stored.unlink(missing_ok=True)
    results = Results(stored, machine())
    peers = [peer for peer in PEERS if peer.module in options.systems]
    systems = list(ready(peers, bench.work, make=not options.quick))
    fill(results, jobs(bench, options.measures, sets, rows, quick=options.quick), systems)
    print(json.dumps(results.document(), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
