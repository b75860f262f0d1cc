"""How build time, search, memory and disk grow from 1,000 to 1,000,000 chunks.

    python -m bench.scaling [--add N ...] [--grow N ...] [--optimise N] [--queries N] [--journal FILE] [--note TEXT]

`--add`: a base of about so many chunks each, made by `Kaijuan.add`. `--grow`: one base that is written through the
catalog and index ports, without chunker and analyser, and searched each time it has so many chunks. `--optimise`: a
base written like that, searched before and after its index was optimised. Every search is `Kaijuan.search`; the
index is never optimised otherwise. Vectors are a stub's (bench/clusters.py); a part of the searches embeds each
question with the onboard model as well. A base stops growing when its processes hold more than --limit-mb of their own
or --minutes have passed; the rows until then stand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench import clusters
from bench.clusters import CHUNKS_A_DOCUMENT, ClusterEmbedder, Corpus
from bench.journal import Journal
from bench.machine import machine
from bench.memory import Watch, cpu_seconds, sizes
from kaijuan import Kaijuan, registry
from kaijuan.config import Config
from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel, Version
from kaijuan.core.filters import Eq
from kaijuan.core.ids import DocumentId, VersionId, block_id, chunk_id, content_hash, document_id, piece_id, version_id
from kaijuan.core.spans import Span
from kaijuan.index.catalog import KnowledgeBase, Run, Staged
from kaijuan.index.ports import Index, Point
from kaijuan.index.rebuild import open_space
from kaijuan.index.write import payload_of, pending_entries
from kaijuan.ingest.settings import ChunkSettings

CHUNKING = ChunkSettings(child_tokens=128, child_overlap=0.0, max_tokens=256)
"""About 110 tokens a chunk; smaller than the default, so that a million fit into the memory of an ordinary machine."""
DOCUMENTS_A_STEP = 10
CHECK_EVERY = 200
WARM_UP = 20
REAL_QUERIES = 100


@dataclass(slots=True, kw_only=True)
class Bench:
    """One home under measurement."""

    home: Path
    engine: Kaijuan
    embedder: ClusterEmbedder
    corpus: Corpus
    queries: int
    limit_mb: int
    deadline: float
    rows: list[dict[str, Any]] = field(default_factory=list)


@asynccontextmanager
async def opened(queries: int, limit_mb: int, minutes: float) -> AsyncIterator[Bench]:
    """Yield an engine over an empty home."""
    with TemporaryDirectory() as spare:
        home, embedder = Path(spare) / "home", ClusterEmbedder()
        async with Kaijuan(home, config=Config(chunk=CHUNKING), embedder=embedder) as engine:
            yield Bench(
                home=home,
                engine=engine,
                embedder=embedder,
                corpus=Corpus(),
                queries=queries,
                limit_mb=limit_mb,
                deadline=time.perf_counter() + 60 * minutes,
            )


# --- building ----------------------------------------------------------------------------------------------------


async def by_add(bench: Bench, chunks: int) -> None:
    """Make a base by the engine's own path, and measure it."""
    records = bench.home.parent / "corpus.jsonl"
    documents = chunks // CHUNKS_A_DOCUMENT
    # Elsewhere, so that its memory is not counted as the engine's.
    command = [sys.executable, "-m", "bench.clusters", str(records), str(documents)]
    await asyncio.to_thread(subprocess.run, command, check=True)
    start, used = time.perf_counter(), cpu_seconds(bench.home)
    with Watch(bench.home) as watch:
        report = await bench.engine.add([str(records)])
        built = Built(time.perf_counter() - start, cpu_seconds(bench.home) - used, watch)
    await measured(bench, "add", report.chunks, documents, built)


async def by_ports(bench: Bench, stations: list[int], *, optimise: bool) -> None:
    """Grow one base through the ports and measure it at every station."""
    engine = bench.engine
    engine.home.mkdir()
    kb = await engine.catalog.create_kb(engine.tenant, engine.kb_name, now=time.time())
    index = await open_space(engine.catalog, engine.indexes, kb, bench.embedder)
    done, seconds, cpu = 0, 0.0, 0.0
    for station in stations:
        start, used = time.perf_counter(), cpu_seconds(bench.home)
        with Watch(bench.home) as watch:
            if not await grow(bench, index, done, station // CHUNKS_A_DOCUMENT):
                return
            seconds += time.perf_counter() - start
            cpu += cpu_seconds(bench.home) - used
        done = station // CHUNKS_A_DOCUMENT
        await measured(bench, "ports", station, done, Built(seconds, cpu, watch))
    if optimise:
        start = time.perf_counter()
        with Watch(bench.home) as watch:
            await index.optimise()
            seconds = time.perf_counter() - start
        # The child that optimised has gone, and its processor time with it.
        await measured(bench, "optimised", stations[-1], done, Built(seconds, 0.0, watch))


def exhausted(bench: Bench) -> str:
    """Return why to stop before the next documents, "" while there is room and time."""
    if time.perf_counter() > bench.deadline:
        return "time"
    # Pages of files are the system's to take back; what no file backs is what a machine must have.
    return "memory" if sum(size.private for size in sizes(bench.home).values()) > bench.limit_mb * 1e6 else ""


async def grow(bench: Bench, index: Index, first: int, end: int) -> bool:
    """Publish the documents from `first` to `end` as one snapshot; False when time or memory ran out on the way."""
    engine, catalog = bench.engine, bench.engine.catalog
    kb = await catalog.kb(engine.tenant, engine.kb_name)
    owner = "bench.scaling"
    await catalog.acquire_lease(kb.id, owner, now=time.time(), seconds=86_400)
    run = await catalog.begin_run(kb.id, "add", now=time.time())
    readers = await catalog.principals_of(kb.id, [DocumentId("")])
    writing: asyncio.Task[None] | None = None
    for at in range(first, end, DOCUMENTS_A_STEP):
        if at % CHECK_EVERY == 0 and (reason := exhausted(bench)):
            print(f"stopped at {at * CHUNKS_A_DOCUMENT} chunks: no {reason} left", file=sys.stderr, flush=True)
            return False
        numbers = range(at, min(at + DOCUMENTS_A_STEP, end))
        points = await staged(bench, kb, run, numbers, next(iter(readers.values())))
        if writing is not None:
            await writing
        writing = asyncio.create_task(index.upsert(points))
    if writing is not None:
        await writing
    await index.flush()
    async for page in pending_entries(catalog, kb):
        await catalog.mark_applied([entry.sequence for entry in page])
    await catalog.publish(run, owner=owner, now=time.time())
    await catalog.release_lease(kb.id, owner)
    return True


async def staged(bench: Bench, kb: KnowledgeBase, run: Run, numbers: range, readers: frozenset[str]) -> list[Point]:
    """Store and stage documents; return their points."""
    made = await asyncio.to_thread(lambda: [document(bench.corpus, kb, run, number, readers) for number in numbers])
    await asyncio.gather(*(bench.engine.blobs.put(one.text.encode()) for one in made))
    staged = [Staged(version=one.version, blocks=one.blocks, chunks=one.chunks) for one in made]
    await bench.engine.catalog.stage(run, staged)
    return [point for one in made for point in one.points]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as the engine would have cut it: a parent over its children, one block each."""

    text: str
    version: Version
    blocks: list[Block]
    chunks: list[Chunk]
    points: list[Point]


def document(corpus: Corpus, kb: KnowledgeBase, run: Run, number: int, readers: frozenset[str]) -> Document:
    """Make one document."""
    first = number * CHUNKS_A_DOCUMENT
    made = [corpus.chunk(first + place) for place in range(CHUNKS_A_DOCUMENT)]
    parts = [clusters.text_of(sentences) for sentences in made]
    text = "\n\n".join(parts)
    source = f"bench#{number}"
    owner, content = document_id(kb.id, source), content_hash(text.encode())
    id = version_id(owner, 1, content, "bench")
    version = Version(
        id=id,
        document_id=owner,
        kb_id=kb.id,
        number=1,
        source=source,
        title="",
        kind="record",
        content_hash=content,
        fingerprint="bench",
        text_hash=content,
        original_hash=content,
        language="zh",
        metadata=dict(clusters.fields(number)),
        created_at=run.started_at,
    )
    chunks = [_chunk(id, owner, text, 0, ChunkLevel.PARENT, Span(0, len(text)))]
    at = 0
    for part in parts:
        chunks.append(_chunk(id, owner, text, len(chunks), ChunkLevel.CHILD, Span(at, at + len(part)), chunks[0]))
        at += len(part) + 2
    payload = payload_of(kb, version, readers)
    own = np.random.default_rng(number).standard_normal((len(parts), clusters.DIMENSIONS), dtype=np.float32)
    vectors = clusters.vectors(clusters.cluster_of(number), own)
    points = [
        Point(
            id=child.id,
            vector=vectors[place],
            terms=clusters.weights(made[place]),
            payload=payload,
            valid_from=run.target,
        )
        for place, child in enumerate(chunks[1:])
    ]
    blocks = [_block(id, place, child.span) for place, child in enumerate(chunks[1:])]
    return Document(text=text, version=version, blocks=blocks, chunks=chunks, points=points)


def _chunk(
    version: VersionId,
    owner: DocumentId,
    text: str,
    place: int,
    level: ChunkLevel,
    span: Span,
    parent: Chunk | None = None,
) -> Chunk:
    return Chunk(
        id=chunk_id(piece_id(owner, level, span.of(text), place), 1),
        version_id=version,
        document_id=owner,
        ordinal=place,
        level=level,
        span=span,
        parent_id=parent.id if parent else None,
        tokens=clusters.CHUNK_TOKENS,
        strategy="bench",
    )


def _block(version: VersionId, place: int, span: Span) -> Block:
    return Block(id=block_id(version, place, span.start, span.end), ordinal=place, kind=BlockKind.PARAGRAPH, span=span)


# --- measuring ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Built:
    """What building took: seconds by the clock and of the processor, and memory."""

    seconds: float
    cpu: float
    watch: Watch


async def measured(bench: Bench, how: str, chunks: int, documents: int, built: Built) -> None:
    """Search, and add one row."""
    with Watch(bench.home) as searching:
        search = await searches(bench, documents)
    row: dict[str, Any] = {
        "built": how,
        "chunks": chunks,
        "queries": bench.queries,
        "load_average": round(os.getloadavg()[1], 1),
        "build_seconds": round(built.seconds, 1),
        "build_cpu_seconds": round(built.cpu, 1),
        "search_ms": search.times,
        "search_cpu_ms": search.cpu,
        "routes_ms_p50": search.routes,
        "first_search_ms": search.first,
        "right_cluster_first": search.right,
        "build_peak_mb": shown(how, built.watch.peaks_mb()),
        "build_peak_private_mb": shown(how, built.watch.private_mb()),
        "search_peak_mb": shown(how, searching.peaks_mb()),
        "disk_mb": disk(bench.home),
    }
    bench.rows.append(row)
    print(json.dumps(row), file=sys.stderr, flush=True)


def shown(how: str, peaks: Mapping[str, int]) -> dict[str, int]:
    """Return the memory that is the engine's own: where this bench makes the points, its tables are in the process."""
    return {role: size for role, size in peaks.items() if how == "add" or role not in ("engine", "together")}


def disk(home: Path) -> dict[str, int]:
    """Return the megabytes that the parts of a home take on the disk."""
    parts = {"catalog": "catalog.db*", "blobs": "blobs", "index": "index"}
    return {name: round(sum(_blocks(place) for place in home.glob(pattern)) / 1e6) for name, pattern in parts.items()}


def _blocks(place: Path) -> int:
    return sum(one.stat().st_blocks * 512 for one in (place, *place.rglob("*")) if one.is_file())


@dataclass(slots=True, kw_only=True)
class Searches:
    """What searching took, in milliseconds, and whether it found what it should."""

    times: dict[str, dict[str, float]]
    cpu: dict[str, float]
    """Processor milliseconds of engine and index owner for one search: what other programs at work do not move."""
    routes: dict[str, float]
    first: float
    right: float


async def searches(bench: Bench, documents: int) -> Searches:
    """Search without and with filters, and with the embedding of each question."""
    chance = random.Random(7)
    groups = max(1, documents // clusters.DOCUMENTS_A_CLUSTER)
    asked = [
        (cluster, bench.corpus.question(cluster, chance)) for cluster in chance.choices(range(groups), k=bench.queries)
    ]
    bench.embedder.questions = {text: cluster for cluster, text in asked}
    start = time.perf_counter()
    await bench.engine.search(asked[0][1])
    first = time.perf_counter() - start
    kinds: dict[str, list[Eq]] = {
        "plain": [],
        "filtered 50 %": [Eq("half", 1)],
        "filtered 0.05 %": [Eq("part", 7)],
    }
    times: dict[str, dict[str, float]] = {}
    cpu: dict[str, float] = {}
    routes: dict[str, list[float]] = {"dense": [], "lexical": []}
    right = 0
    for name, filters in kinds.items():
        taken = []
        for _, text in asked[:WARM_UP]:
            await bench.engine.search(text, filters=filters)
        used = cpu_seconds(bench.home)
        for cluster, text in asked:
            start = time.perf_counter()
            result = await bench.engine.search(text, filters=filters)
            taken.append(time.perf_counter() - start)
            if name == "plain":
                right += any(f"KJ-{cluster:06d}" in one.text for one in result.passages[:1])
                for route, values in routes.items():
                    values.append(result.timings_ms[route])
        times[name] = percentiles(taken)
        cpu[name] = round((cpu_seconds(bench.home) - used) / len(asked) * 1000, 2)
    times["plain, with the question's embedding"] = await with_embedding(bench, [text for _, text in asked])
    return Searches(
        times=times,
        cpu=cpu,
        routes={name: percentiles([value / 1000 for value in values])["p50"] for name, values in routes.items()},
        first=round(first * 1000, 1),
        right=round(right / len(asked), 3),
    )


async def with_embedding(bench: Bench, questions: list[str]) -> dict[str, float]:
    """Search with every question embedded by the onboard model, as it is without its cache."""
    settings = Config().embedder
    bench.embedder.real = registry.load("embedder", settings.name).from_settings(settings, bench.home.parent / "cache")
    taken = []
    for text in questions[:WARM_UP]:
        await bench.engine.search(text)
    for text in questions[:REAL_QUERIES]:
        start = time.perf_counter()
        await bench.engine.search(text)
        taken.append(time.perf_counter() - start)
    real, bench.embedder.real = bench.embedder.real, None
    await real.close()
    return percentiles(taken)


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Return p50, p95 and p99 in milliseconds."""
    ordered = sorted(seconds)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1000, 2) for p in (50, 95, 99)}


# --- the whole ---------------------------------------------------------------------------------------------------


async def one_home(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one home and return its rows."""
    async with opened(options.queries, options.limit_mb, options.minutes) as bench:
        try:
            if options.home_of == "add":
                await by_add(bench, options.sizes[0])
            else:
                await by_ports(bench, options.sizes, optimise=options.home_of == "optimise")
        finally:
            await stop_owner(bench.engine)
        return bench.rows


async def stop_owner(engine: Kaijuan) -> None:
    """End the index owner, so that its folder can go."""
    stop = getattr(engine.indexes, "stop_owner", None)
    if stop is not None:
        await stop()


def homes(options: argparse.Namespace) -> Iterator[tuple[str, list[int]]]:
    """Yield what to build, each in a process of its own, so that no memory is counted twice."""
    yield from (("add", [size]) for size in options.add)
    if options.optimise:
        yield "optimise", [options.optimise]
    if options.grow:
        yield "grow", sorted(options.grow)


def apart(how: str, stations: list[int], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one home in a process of its own, or return what the journal says of it."""
    key = " ".join([how, *map(str, stations)])
    command = [sys.executable, "-m", "bench.scaling", "--home-of", how, "--sizes", *map(str, stations)]
    for name in ("queries", "limit_mb", "minutes"):
        command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]

    def measured() -> Any:
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)

    return list(Journal(options.journal).row(key, measured))


def bends(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the size from which a search grows nearly with the size, None when it never does.

    That is where the processor time of a search first grows more than half as steeply as the number of chunks, on
    logarithmic scales, up to the next size.
    """
    for row, following in pairwise(rows):
        grown = following["search_cpu_ms"]["plain"] / row["search_cpu_ms"]["plain"]
        if grown > (following["chunks"] / row["chunks"]) ** 0.5:
            return int(row["chunks"])
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--add", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--grow", type=int, nargs="*", default=[1_000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
    parser.add_argument("--optimise", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--limit-mb", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=90)
    parser.add_argument("--journal", type=Path, help="keep each home's rows here, and do not measure those again")
    parser.add_argument("--note", default="", help="what a reader should know of this run")
    parser.add_argument("--home-of", choices=("add", "grow", "optimise"), help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=int, nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.home_of:
        print(json.dumps(asyncio.run(one_home(options))))
        return
    rows = [row for how, stations in homes(options) for row in apart(how, stations, options)]
    grown = [row for row in rows if row["built"] == "ports" and row["chunks"] in options.grow]
    # The base that was optimised has a row of its own size before it was.
    by_size = {row["chunks"]: row for row in grown}
    result = {
        "machine": machine(),
        "note": options.note,
        "rows": rows,
        "bends_at": bends([by_size[size] for size in sorted(by_size)]),
    }
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
