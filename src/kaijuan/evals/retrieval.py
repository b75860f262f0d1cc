"""Ask every judged question of a set through the public search, and keep what each stage found."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from kaijuan.config import Config
from kaijuan.core.ids import ChunkId, stable_id
from kaijuan.engine import Kaijuan
from kaijuan.errors import UsageError
from kaijuan.evals.bases import Base, evals_folder, open_base
from kaijuan.evals.journal import Journal, Row
from kaijuan.evals.kinds import kinds_of
from kaijuan.evals.metrics import Scores, check_installed, score
from kaijuan.evals.results import DEPTH, QueryRun, RetrievalRun
from kaijuan.evals.sets import EvalSet, Query
from kaijuan.index.ports import Embedder
from kaijuan.jobs.report import Progress
from kaijuan.retrieve.results import SearchResult

ROUTES = ("dense", "lexical")
WARMING = "warm-up 预热"
"""Asked first and not counted: the first search of a process loads the model."""

Names = MutableMapping[ChunkId, str]
"""Corpus id of the document that a chunk is from, for the chunks met so far."""
Asked = Callable[[int, int], None]
"""Told how many of how many questions have been asked."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is asked. `k` passages of every question; `limit` questions, 0 for all, chosen by `seed`."""

    k: int = DEPTH
    limit: int = 0
    seed: int = 0
    fresh: bool = False
    """Whether to forget what a run that was stopped had found."""


async def evaluate(
    data: EvalSet,
    base: Base,
    options: Options,
    *,
    journal: Journal | None = None,
    asked: Asked = lambda _done, _total: None,
    clock: Callable[[], float] = time.perf_counter,
) -> RetrievalRun:
    """Ask the judged questions, or a sample of them, and return what was found.

    A document stands where its best chunk stands. `dense` and `lexical` are the routes by themselves, `fused` is both
    before, `final` after weak passages are cut and neighbours joined: what a reader is given. Questions that the
    `journal` knows are not asked again, the others are entered as they come. A question that the engine refuses (too
    long, say) has found nothing and is named in `problems`; one that was asked without a route, because it failed or
    was too slow, counts as it came and is named too. Neither is entered.
    """
    kinds = kinds_of(data)
    questions = sample(data.judged, options.limit, options.seed)
    names: Names = {}
    notes: Counter[str] = Counter()
    runs: list[QueryRun] = []
    known = dict(journal.rows) if journal is not None else {}
    if any(query.id not in known for query in questions):
        await base.engine.search(WARMING, k=1)
    for count, query in enumerate(questions, start=1):
        row = known.get(query.id)
        if row is None:
            row, note = await _ask(base.engine, query, options.k, names, clock)
            notes[note] += 1
            if journal is not None and not note:
                journal.add(query.id, row)
        runs.append(_run(query, kinds[query.id], row))
        asked(count, len(questions))
    return RetrievalRun(
        set=data.name,
        set_fingerprint=data.fingerprint,
        documents=base.documents,
        chunks=base.chunks,
        reused=base.reused,
        ingest_seconds=base.seconds,
        config=config_of(base, options),
        queries=tuple(runs),
        problems=(*data.problems, *base.problems, *_told(notes)),
    )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A run, and how many of its questions an earlier run that was stopped had asked."""

    run: RetrievalRun
    resumed: int


async def measure(
    data: EvalSet,
    home: Path,
    config: Config,
    options: Options,
    *,
    embedder: Callable[[], Embedder] | None = None,
    progress: Callable[[Progress], None] | None = None,
    asked: Asked = lambda _done, _total: None,
) -> Measured:
    """Take the corpus in where that is still to do, ask the questions, and leave nothing but the base.

    A run that was stopped goes on where it was, unless data, settings or code changed meanwhile or `fresh` is set.
    """
    check_installed()
    async with open_base(data, home, config, embedder=embedder, progress=progress) as base:
        settings = json.dumps(config_of(base, Options(k=options.k)), sort_keys=True)
        key = ("retrieval", data.fingerprint, settings)
        with Journal(evals_folder(home), key, fresh=options.fresh) as journal:
            before = set(journal.rows)
            run = await evaluate(data, base, options, journal=journal, asked=asked)
    return Measured(run=run, resumed=sum(query.query_id in before for query in run.queries))


def sample(queries: Sequence[Query], limit: int, seed: int = 0) -> list[Query]:
    """Return `limit` of the questions, all for 0, in their order: those with the smallest hash of seed and id.

    So a sample is the same on every machine and after questions were added, and a larger one holds the smaller.
    """
    if not limit or limit >= len(queries):
        return list(queries)
    chosen = sorted(queries, key=lambda query: stable_id("sample", seed, query.id))[:limit]
    kept = {query.id for query in chosen}
    return [query for query in queries if query.id in kept]


def config_of(base: Base, options: Options) -> dict[str, Any]:
    """Return the settings that a result depends on, as JSON has them."""
    config = base.engine.config
    return {
        "k": options.k,
        "limit": options.limit,
        "seed": options.seed,
        "embedder": base.engine.embedder.info.name,
        "pipeline": base.fingerprint,
        "chunk": config.chunk.model_dump(mode="json"),
        "index": config.index.model_dump(mode="json"),
        "retrieve": config.retrieve.model_dump(mode="json"),
    }


def scores_of(run: RetrievalRun, data: EvalSet, stage: str, kind: str | None = None) -> Scores:
    """Score one stage of a run, over the questions of one kind or all."""
    asked = [query for query in run.queries if kind is None or query.kind == kind]
    rankings = {query.query_id: query.rankings.get(stage, ()) for query in asked}
    return score(rankings, {query: data.grades[query] for query in rankings})


async def _ask(engine: Kaijuan, query: Query, k: int, names: Names, clock: Callable[[], float]) -> tuple[Row, str]:
    """Ask one question; return its row, and what was wrong or ""."""
    start = clock()
    try:
        result = await engine.search(query.text, k=k)
    except UsageError as error:
        return {"rankings": {}, "milliseconds": round((clock() - start) * 1000, 3)}, f"refused: {error.message}"
    spent = (clock() - start) * 1000
    await learn_names(engine, result, names)
    failed = [f"{route.name} ({route.state})" for route in result.trace.routes if route.state != "ok"]
    note = f"asked without the route {' and '.join(failed)}" if failed else ""
    rankings = {stage: ranking[:DEPTH] for stage, ranking in rankings_of(result, names).items()}
    return {"rankings": rankings, "milliseconds": round(spent, 3)}, note


def rankings_of(result: SearchResult, names: Mapping[ChunkId, str]) -> dict[str, list[str]]:
    """Return the documents of each stage, best first, each once."""
    candidates = result.trace.candidates
    lists: dict[str, list[str]] = {}
    for route in ROUTES:
        found = sorted((c for c in candidates if route in c.routes), key=lambda c: c.routes[route].rank)
        lists[route] = _each_once(names[c.chunk_id] for c in found)
    lists["fused"] = _each_once(names[c.chunk_id] for c in candidates)
    # A passage that stands for equal ones of other documents names those too: a reader is given them all.
    lists["final"] = _each_once(
        name_of(source) for passage in result.passages for source in (passage.source, *passage.also)
    )
    return lists


def name_of(source: str) -> str:
    """Return the corpus id of a record from its address, which ends with "#" and the id, percent-encoded."""
    return unquote(source.rpartition("#")[2], errors="surrogateescape")


async def learn_names(engine: Kaijuan, result: SearchResult, names: Names) -> None:
    """Fill `names` with the corpus id of every candidate's document."""
    missing = [c.chunk_id for c in result.trace.candidates if c.chunk_id not in names]
    chunks = await engine.catalog.chunks_meant(missing, result.snapshot)
    versions = await engine.catalog.versions_by_id({chunk.version_id for chunk in chunks.values()})
    for id, chunk in chunks.items():
        names[ChunkId(id)] = name_of(versions[chunk.version_id].source)


def _told(notes: Mapping[str, int]) -> Iterable[str]:
    return (f"{count} question{'' if count == 1 else 's'} {note}." for note, count in notes.items() if note)


def _each_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _run(query: Query, kind: str, row: Row) -> QueryRun:
    rankings = {stage: tuple(ranking) for stage, ranking in row["rankings"].items()}
    return QueryRun(query_id=query.id, kind=kind, rankings=rankings, milliseconds=row["milliseconds"])
