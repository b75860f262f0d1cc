"""Quality of every retrieval stage on corpora in BEIR layout, as one JSON document.

    python -m bench.retrieval ../shared/data/cmrc2018_zh ... [--home DIR] [--limit N] [--dump FILE]

Documents are ranked by their best chunk. `--dump` writes every route's list, for trying fusions without searching.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

from bench.machine import machine
from bench.metrics import Set, load_set, ndcg, recall
from kaijuan import Kaijuan
from kaijuan.core.ids import ChunkId
from kaijuan.retrieve.results import SearchResult

K = 100
STAGES = ("dense", "lexical", "fused")


async def document_names(engine: Kaijuan, result: SearchResult, known: dict[ChunkId, str]) -> None:
    """Fill `known` with the corpus id of every candidate's document."""
    missing = [c.chunk_id for c in result.trace.candidates if c.chunk_id not in known]
    chunks = await engine.catalog.chunks(missing)
    versions = await engine.catalog.versions_by_id({chunk.version_id for chunk in chunks.values()})
    for id, chunk in chunks.items():
        known[id] = unquote(versions[chunk.version_id].source.rpartition("#")[2])


def stage_lists(result: SearchResult, names: dict[ChunkId, str]) -> dict[str, list[str]]:
    """Return the documents of each stage, best first, each once."""
    lists: dict[str, list[str]] = {}
    for stage in STAGES[:2]:
        found = [c for c in result.trace.candidates if stage in c.routes]
        found.sort(key=lambda c: c.routes[stage].rank)
        lists[stage] = list(dict.fromkeys(names[c.chunk_id] for c in found))
    lists["fused"] = list(dict.fromkeys(names[c.chunk_id] for c in result.trace.candidates))
    return lists


async def measure(data: Set, home: Path, limit: int, dump: list[Any] | None) -> dict[str, Any]:
    """Ingest the corpus (kept between runs in `home`) and ask every question."""
    async with Kaijuan(home, data.name) as engine:
        start = time.perf_counter()
        report = await engine.add([str(data.corpus)])
        ingest = time.perf_counter() - start
        names: dict[ChunkId, str] = {}
        scores: dict[str, list[tuple[float, float]]] = {stage: [] for stage in STAGES}
        seconds = []
        for query in sorted(data.queries)[: limit or None]:
            start = time.perf_counter()
            result = await engine.search(data.queries[query], k=K)
            seconds.append(time.perf_counter() - start)
            await document_names(engine, result, names)
            for stage, ranked in stage_lists(result, names).items():
                grades = data.grades[query]
                scores[stage].append((ndcg(ranked, grades, 10), recall(ranked, grades, 10)))
            if dump is not None:
                dump.append(_dumped(data, query, result, names))
    seconds.sort()
    return {
        "set": data.name,
        "documents": report.documents,
        "chunks": report.chunks,
        "queries": len(seconds),
        "ingest_seconds": round(ingest, 1),
        "search_ms_p50": round(seconds[len(seconds) // 2] * 1000, 2),
        "stages": {
            stage: {"ndcg@10": round(fmean(n for n, _ in rows), 4), "recall@10": round(fmean(r for _, r in rows), 4)}
            for stage, rows in scores.items()
        },
    }


def _dumped(data: Set, query: str, result: SearchResult, names: dict[ChunkId, str]) -> dict[str, Any]:
    rows = [
        [names[c.chunk_id], {route: standing.score for route, standing in c.routes.items()}]
        for c in result.trace.candidates
    ]
    return {"set": data.name, "query": query, "grades": data.grades[query], "candidates": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--dump", type=Path)
    options = parser.parse_args()
    dump: list[Any] | None = [] if options.dump else None
    with TemporaryDirectory() as spare:
        home = options.home or Path(spare)
        rows = [asyncio.run(measure(load_set(folder), home, options.limit, dump)) for folder in options.sets]
    if options.dump:
        options.dump.write_text(json.dumps(dump, ensure_ascii=False), encoding="utf-8")
    print(json.dumps({"machine": machine(), "sets": rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
