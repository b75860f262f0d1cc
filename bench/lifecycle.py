"""A base of ten thousand documents as it lives: taken in, killed and resumed, run again, changed, read meanwhile.

    python -m bench.lifecycle [--place FOLDER] [--sizes DOCUMENTS:CHARACTERS ...] [--parts PART ...]

The documents are those of bench/living.py. Vectors are a stub's (a hash of the text), so that what is measured is all
the rest; `real` takes a part of the documents in with the onboard model. What was measured is kept in the folder and
not measured again. Times by the clock depend on what else the machine does: processor times stand beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from bench import living
from bench.journal import Journal
from bench.machine import machine
from bench.memory import Watch, cpu_seconds
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.filters import EVERYTHING
from kaijuan.core.spans import Span
from kaijuan.index import write as index_write
from kaijuan.index.ports import Embedder, EmbedderInfo, Vector, Vectors
from kaijuan.jobs import intake
from kaijuan.jobs.run import Ingest, RunReport
from kaijuan.models.around.embedding_cache import CachedEmbedder

PARTS = ("ingest", "again", "fresh", "readers", "resume", "real")
DIMENSIONS = 384
READERS = 4
_Result = TypeVar("_Result")


class HashStub:
    """Vectors from a hash of the text, at next to no cost; sizes are measured by the onboard tokenizer."""

    def __init__(self, tokenizer: Embedder, log: Path | None = None) -> None:
        self._tokenizer = tokenizer
        self._log = log
        self._info = EmbedderInfo(
            name="stub",
            fingerprint="stub-sha",
            dimensions=DIMENSIONS,
            max_tokens=tokenizer.info.max_tokens,
            reserved_tokens=tokenizer.info.reserved_tokens,
        )

    @property
    def info(self) -> EmbedderInfo:
        return self._info

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if self._log is not None:
            with self._log.open("a", encoding="ascii") as file:
                file.write("".join(hashlib.sha1(text.encode()).hexdigest()[:16] + "\n" for text in texts))
        return np.stack([_vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vector:
        return _vector(text)

    def token_spans(self, text: str) -> Sequence[Span]:
        return self._tokenizer.token_spans(text)

    def token_spans_each(self, texts: Sequence[str]) -> Sequence[Sequence[Span]]:
        return [self._tokenizer.token_spans(text) for text in texts]

    async def close(self) -> None:
        await self._tokenizer.close()


def _vector(text: str) -> Vector:
    row = np.frombuffer(hashlib.shake_256(text.encode()).digest(DIMENSIONS), dtype=np.int8).astype(np.float32)
    return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


@dataclass(slots=True)
class Place:
    """Where everything lies."""

    folder: Path
    documents: int
    longest: int = living.LONGEST

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def docs(self) -> Path:
        return self.folder / "docs"

    def write(self, number: int, edition: int) -> Path:
        """Write an edition of a document."""
        return living.write(self.docs, number, edition=edition, longest=self.longest)

    def words(self) -> list[str]:
        """Return the command by which another process works at this place."""
        return [
            *(sys.executable, "-m", "bench.lifecycle", "--place", str(self.folder)),
            *("--sizes", f"{self.documents}:{self.longest}"),
        ]

    @asynccontextmanager
    async def engine(self, home: Path | None = None, log: Path | None = None) -> AsyncIterator[Kaijuan]:
        """Yield an engine with the stub."""
        home = home or self.home
        async with Kaijuan(home, config=Config()) as engine:
            stub = HashStub(engine.embedder, log)
            engine.embedder = CachedEmbedder(stub, home / "cache" / "stub.db", max_bytes=8 << 30)
            yield engine


# --- the stages of the pipeline --------------------------------------------------------------------------------


@dataclass(slots=True)
class Stage:
    """How long at least one piece of work was under way."""

    busy: float = 0.0
    _under_way: int = 0
    _since: float = 0.0

    def begin(self) -> None:
        if not self._under_way:
            self._since = time.perf_counter()
        self._under_way += 1

    def end(self) -> None:
        self._under_way -= 1
        if not self._under_way:
            self.busy += time.perf_counter() - self._since


@dataclass(slots=True)
class Stages:
    """The three tasks of the intake, and publishing; their functions are wrapped while it is entered."""

    named: dict[str, Stage] = field(default_factory=dict)

    def timed(self, name: str, work: Callable[..., Awaitable[_Result]]) -> Callable[..., Awaitable[_Result]]:
        stage = self.named.setdefault(name, Stage())

        async def call(*args: Any, **named: Any) -> _Result:
            stage.begin()
            try:
                return await work(*args, **named)
            finally:
                stage.end()

        return call

    def wrap(self) -> None:
        intake._read = self.timed("read", intake._read)  # type: ignore[assignment]
        intake._settle = self.timed("cut and store", intake._settle)  # type: ignore[assignment]
        index_write.Outbox.write_points = self.timed("index", index_write.Outbox.write_points)  # type: ignore[method-assign, assignment]
        Ingest._publish_part = self.timed("publish", Ingest._publish_part)  # type: ignore[method-assign, assignment]


# --- parts -----------------------------------------------------------------------------------------------------


def written(place: Place) -> None:
    """Write the documents, once; elsewhere, so that its memory is not counted."""
    if not (place.folder / "written").exists():
        command = [sys.executable, "-m", "bench.living", str(place.docs), "--documents", str(place.documents)]
        command += ["--longest", str(place.longest)]
        subprocess.run(command, check=True)
        (place.folder / "written").touch()


async def ingest(place: Place) -> dict[str, Any]:
    """Take everything in."""
    stages = Stages()
    stages.wrap()
    async with place.engine(log=place.folder / "embedded.log") as engine:
        started, used = time.perf_counter(), cpu_seconds(place.home)
        own = time.process_time()
        with Watch(place.home) as watch:
            report = await engine.add([str(place.docs)])
        seconds = time.perf_counter() - started
        cpu = cpu_seconds(place.home) - used
        own = time.process_time() - own
    slowest = max(stage.busy for stage in stages.named.values())
    return {
        "documents": report.added,
        "failed": len(report.failed),
        "chunks": report.chunks,
        "seconds": round(seconds, 1),
        "documents_a_second": round(report.added / seconds, 2),
        "processor_seconds": round(cpu, 1),
        "engine_processor_seconds": round(own, 1),
        "documents_a_processor_second": round(report.added / cpu, 2),
        "stage_utilisation": {name: round(stage.busy / seconds, 3) for name, stage in stages.named.items()},
        "beyond_the_slowest_stage": round(seconds / slowest - 1, 3),
        "snapshots": len(report.snapshots),
        "peak_mb": watch.peaks_mb(),
        "private_mb": watch.private_mb(),
    }


async def again(place: Place) -> dict[str, Any]:
    """Run over the unchanged folder, looking from outside, and reading everything."""
    async with place.engine() as engine:
        plain = await _timed(lambda: engine.add([str(place.docs)]))
        whole = await _timed(lambda: engine.add([str(place.docs)], check_content=True))
    assert plain[1].unchanged == whole[1].unchanged, (plain[1], whole[1])
    return {
        "unchanged": plain[1].unchanged,
        "seconds": round(plain[0], 2),
        "processor_seconds": round(plain[2], 2),
        "reading_everything_seconds": round(whole[0], 2),
        "reading_everything_processor_seconds": round(whole[2], 2),
    }


async def _timed(work: Callable[[], Awaitable[RunReport]]) -> tuple[float, RunReport, float]:
    started, used = time.perf_counter(), time.process_time()
    report = await work()
    return time.perf_counter() - started, report, time.process_time() - used


async def fresh(place: Place) -> dict[str, Any]:
    """Change single documents and remove them; how long until a search says so?"""
    changed, removed = list[float](), list[float]()
    used = 0.0
    async with place.engine() as engine:
        await engine.search("warm")
        for number in range(3, min(place.documents, 1_000), 97):
            path = place.write(number, 7)
            started = time.perf_counter()
            before = time.process_time()
            report = await engine.add([str(path)])
            assert report.updated == 1, report
            used += time.process_time() - before
            found = await engine.search(living.code_of(number), cut=False)
            assert any(_says(passage.text, number, 7) for passage in found.passages)
            changed.append(time.perf_counter() - started)
            started = time.perf_counter()
            await engine.remove([str(path)])
            found = await engine.search(living.code_of(number), cut=False)
            assert not any(living.code_of(number) in passage.text for passage in found.passages)
            removed.append(time.perf_counter() - started)
            place.write(number, 1)
            await engine.add([str(path)])
    each = round(used / len(changed), 3)
    return {
        "changes": len(changed),
        "engine_processor_seconds_a_change": each,
        "changed_s": spread(changed),
        "removed_s": spread(removed),
    }


def _says(text: str, number: int, edition: int) -> bool:
    return (
        f"{living.code_of(number)}，第 {edition} 版" in text or f"{living.code_of(number)}, edition {edition}" in text
    )


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Return median and worst of times."""
    ordered = sorted(seconds)
    at = {"p50": len(ordered) // 2, "p99": min(len(ordered) - 1, len(ordered) * 99 // 100), "max": len(ordered) - 1}
    return {name: round(ordered[place], 4) for name, place in at.items()}


async def readers(place: Place) -> dict[str, Any]:
    """Four readers ask without pause: alone, while a tenth of the documents is updated, and while it is optimised."""
    count = min(1_000, place.documents // 4)
    async with place.engine() as engine:
        alone = await _read_during(place, asyncio.sleep(20))
        for number in range(count):
            place.write(number, 2)
        updating = await _read_during(place, engine.add([str(place.docs)]))
        kb = await engine._kb()
        index = await engine._index(kb)
        assert index is not None
        chunks = await index.count(EVERYTHING)
        optimising = await _read_during(place, index.optimise())
    return {
        "updated": count,
        "chunks_in_the_index": chunks,
        "alone": alone,
        "while_updating": updating,
        "while_optimising": optimising,
    }


async def _read_during(place: Place, work: Awaitable[Any]) -> dict[str, Any]:
    """Let readers in processes of their own ask while the work goes on; what they were given is checked afterwards."""
    stop = place.folder / "stop"
    stop.unlink(missing_ok=True)
    logs = [place.folder / f"reader{number}.jsonl" for number in range(READERS)]
    words = place.words()
    started = [
        await asyncio.create_subprocess_exec(*words, "--reader", str(log), env=os.environ | {"OMP_NUM_THREADS": "1"})
        for log in logs
    ]
    while not all(log.exists() for log in logs):  # noqa: ASYNC110 - other processes write them
        await asyncio.sleep(0.1)
    begun = time.time()
    await work
    ended = time.time()
    stop.touch()
    codes = [await process.wait() for process in started]
    lines = [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]
    for log in logs:
        log.unlink()
    within = [line for line in lines if begun <= line["at"] <= ended]
    judged = await _judged(place, [line for line in within if "error" not in line])
    return {
        "seconds": round(ended - begun, 1),
        "answers": len(within),
        "reader_exit_codes": codes,
        "errors": [line["error"] for line in within if "error" in line][:5],
        **judged,
        "search_s": spread([line["seconds"] for line in within if "seconds" in line]) if within else {},
    }


async def _judged(place: Place, lines: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Count answers that hold something of another snapshot than their own, and passages that are no slices."""
    mixed = stale = 0
    async with place.engine() as engine:
        kb = await engine._kb()
        spans = {one.id: (one.valid_from, one.valid_to) for one in await engine.catalog.all_versions(kb.id)}
    for line in lines:
        lives = [spans.get(version, (0, 0)) for version in line["versions"]]
        mixed += any(not start <= line["snapshot"] < end for start, end in lives)
        stale += line["stale"]
    return {"mixed_snapshots": mixed, "stale_passages": stale}


async def reader(place: Place, log: Path) -> None:
    """Search until told to stop, and write down what came."""
    number = int("".join(sign for sign in log.stem if sign.isdigit()))
    async with place.engine() as engine:
        await engine.search("warm")
        with log.open("w", encoding="utf-8") as file:
            while not (place.folder / "stop").exists():
                number = (number * 48_271 + 11) % place.documents
                started = time.perf_counter()
                try:
                    found = await engine.search(living.code_of(number), k=5, cut=False)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is written down
                    line: dict[str, Any] = {"error": f"{type(error).__name__}: {error}"}
                else:
                    line = {"seconds": time.perf_counter() - started, "snapshot": found.snapshot}
                    line["versions"] = sorted({passage.version_id for passage in found.passages})
                    line["stale"] = sum(len(passage.text) != len(passage.span) for passage in found.passages)
                file.write(json.dumps(line | {"at": time.time()}) + "\n")
                file.flush()


async def resume(place: Place) -> dict[str, Any]:
    """Kill a first run in its middle, let another end it, and count what was done twice."""
    home, log = place.folder / "killed", place.folder / "resumed.log"
    words = place.words()
    process = await asyncio.create_subprocess_exec(*words, "--killed", str(home), start_new_session=True)
    while _lines(log) < place.longest * place.documents // 1_000:  # noqa: ASYNC110 - about half; another process writes
        await asyncio.sleep(0.2)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    before = _lines(log)
    async with place.engine(home, log) as engine:
        live = {version.source for version in await engine.list()}
        report = await engine.add([str(place.docs)])
        health = await engine.doctor()
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's
    texts = log.read_text("ascii").split()
    return {
        "documents_published_before_the_kill": len(live),
        "texts_embedded_before_the_kill": before,
        "added_by_the_second_run": report.added,
        "documents_in_the_end": report.documents,
        "texts_embedded": len(texts),
        "texts_embedded_twice": len(texts) - len(set(texts)),
        "all_is_well": health.ok,
    }


def _lines(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


async def killed(place: Place, home: Path) -> None:
    """Take everything in, until killed."""
    async with place.engine(home, place.folder / "resumed.log") as engine:
        await engine.add([str(place.docs)])


async def real(place: Place, documents: int) -> dict[str, Any]:
    """Take some documents in with the onboard model."""
    home = place.folder / "real"
    paths = [str(living.path_of(place.docs, number)) for number in range(documents)]
    async with Kaijuan(home, config=Config()) as engine:
        started, used = time.perf_counter(), cpu_seconds(home)
        with Watch(home) as watch:
            report = await engine.add(paths)
        seconds, cpu = time.perf_counter() - started, cpu_seconds(home) - used
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's
    return {
        "documents": report.added,
        "chunks": report.chunks,
        "seconds": round(seconds, 1),
        "processor_seconds": round(cpu, 1),
        "chunks_a_processor_second": round(report.chunks / cpu, 1),
        "peak_mb": watch.peaks_mb(),
    }


def one_base(place: Place, parts: Sequence[str], real_documents: int) -> dict[str, Any]:
    """Measure one base, or return what was measured of it before."""
    place.folder.mkdir(parents=True, exist_ok=True)
    written(place)
    journal = Journal(place.folder / "measured.json")
    work: dict[str, Callable[[], Awaitable[dict[str, Any]]]] = {
        "ingest": lambda: ingest(place),
        "again": lambda: again(place),
        "fresh": lambda: fresh(place),
        "readers": lambda: readers(place),
        "resume": lambda: resume(place),
        "real": lambda: real(place, real_documents),
    }
    base: dict[str, Any] = {"documents": place.documents, "longest": place.longest}
    for part in parts:
        row = journal.row(part, lambda part=part: _measured(work[part]))  # type: ignore[misc] # mypy: a default
        print(part, json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
        base[part] = row
    return base


def _measured(work: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    row: dict[str, Any] = asyncio.run(work())  # type: ignore[arg-type] # a coroutine
    return row | {"load_average": round(os.getloadavg()[1], 1)}


def _size(text: str) -> tuple[int, int]:
    documents, _, longest = text.partition(":")
    return int(documents), int(longest or living.LONGEST)


def main() -> None:
    """Measure the bases and parts that are wanted and print what is known of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--place", type=Path, help="kept, so that it goes on where it was stopped")
    parser.add_argument("--sizes", nargs="+", type=_size, default=[(10_000, living.LONGEST)])
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--real-documents", type=int, default=500)
    parser.add_argument("--reader", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--killed", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader or options.killed:
        place = Place(options.place, *options.sizes[0])
        asyncio.run(reader(place, options.reader) if options.reader else killed(place, options.killed))
        return
    with TemporaryDirectory() as spare:
        bases = [
            one_base(
                Place((options.place or Path(spare)) / f"{size[0]}-{size[1]}", *size),
                options.parts,
                options.real_documents,
            )
            for size in options.sizes
        ]
    print(json.dumps({"machine": machine(), "bases": bases}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
