"""What the presets fast, balanced and thorough find and take, as one JSON document.

    python -m bench.presets [SET ...] [--chunks N] [--queries N] [--clients N] [--home DIR] [--limit N] [--optimise]

Quality: nDCG@10 and recall@50 of each preset on sets in BEIR layout. Time: a base of so many chunks that is written
through the catalog and index ports with a stub's vectors, every question embedded by the onboard model as well, first
one by one, then by several clients at once. Processor time is told beside the clock: other programs do not move it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import clusters
from bench.machine import machine
from bench.memory import cpu_seconds, sizes
from bench.scaling import WARM_UP, Bench, by_ports, opened, percentiles, stop_owner
from kaijuan import registry
from kaijuan.config import Config
from kaijuan.core.ids import ChunkId
from kaijuan.evals.metrics import score
from kaijuan.evals.retrieval import Options, measure
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.index.ports import Index
from kaijuan.index.rebuild import open_space
from kaijuan.retrieve.scope import scope
from kaijuan.retrieve.settings import PRESETS

K = 5
METRICS = ("ndcg@10", "recall@50")
NEAREST = 50
"""Questions by which the graph of an optimised index is compared with a scan, and chunks asked for each."""


async def quality(data: EvalSet, home: Path, limit: int) -> dict[str, Any]:
    """Return the metrics of each preset on one set, and of the single routes."""
    found: dict[str, Any] = {"set": data.name}
    for preset in PRESETS:
        config = Config.model_validate({"retrieve": {"preset": preset}})
        run = (await measure(data, home, config, Options(k=50, limit=limit))).run
        grades = {query.query_id: data.grades[query.query_id] for query in run.queries}
        for stage in ("dense", "lexical", "fused", "final"):
            ranked = {query.query_id: query.rankings[stage] for query in run.queries}
            means = score(ranked, grades).means
            name = preset if stage == "final" else f"{preset} {stage}"
            found[name] = {metric: round(means[metric], 4) for metric in METRICS if metric in means}
        found["questions"], found["documents"] = len(run.queries), run.documents
        print(f"{data.name} {preset}: {found[preset]}", file=sys.stderr, flush=True)
    return found


async def times(bench: Bench, chunks: int, clients: int) -> dict[str, Any]:
    """Return what a search takes under each preset, one by one and by many at once."""
    chance = random.Random(7)
    groups = max(1, chunks // clusters.CHUNKS_A_DOCUMENT // clusters.DOCUMENTS_A_CLUSTER)
    asked = [
        (cluster, bench.corpus.question(cluster, chance)) for cluster in chance.choices(range(groups), k=bench.queries)
    ]
    bench.embedder.questions = {text: cluster for cluster, text in asked}
    settings = Config().embedder
    cache = bench.home.parent / "cache"
    bench.embedder.real = registry.load("embedder", settings.name).from_settings(settings, cache)
    found: dict[str, Any] = {}
    for preset in PRESETS:
        for _, text in asked[:WARM_UP]:
            await bench.engine.search(text, k=K, preset=preset)
        taken, used = [], cpu_seconds(bench.home)
        for _, text in asked:
            start = time.perf_counter()
            await bench.engine.search(text, k=K, preset=preset)
            taken.append(time.perf_counter() - start)
        used = cpu_seconds(bench.home) - used
        found[preset] = {
            "ms": percentiles(taken),
            "cpu_ms": round(used / len(asked) * 1000, 2),
            "clients": await together(bench, [text for _, text in asked], preset, clients),
        }
        print(f"{preset}: {found[preset]}", file=sys.stderr, flush=True)
    found["memory_mb"] = {role: round(size.resident / 1e6) for role, size in sizes(bench.home).items()}
    return found


async def together(bench: Bench, texts: list[str], preset: str, clients: int) -> dict[str, Any]:
    """Let several clients search at once; an error of any of them ends the bench."""
    waiting = list(reversed(texts))
    taken: list[float] = []

    async def client() -> None:
        while waiting:
            text = waiting.pop()
            start = time.perf_counter()
            await bench.engine.search(text, k=K, preset=preset)
            taken.append(time.perf_counter() - start)

    start = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    spent = time.perf_counter() - start
    return {"count": clients, "ms": percentiles(taken), "searches_a_second": round(len(taken) / spent, 1)}


async def nearest(bench: Bench, index: Index) -> list[set[ChunkId]]:
    """Return the nearest chunks of some questions."""
    kb = await bench.engine.catalog.kb(bench.engine.tenant, bench.engine.kb_name)
    where = scope(kb.tenant, frozenset({"all"}), kb.head, ())
    texts = list(bench.embedder.questions)[:NEAREST]
    vectors = [clusters.vector(bench.embedder.questions[text], text) for text in texts]
    return [{hit.id for hit in await index.search_dense(vector, NEAREST, where)} for vector in vectors]


async def timed(chunks: int, queries: int, clients: int, *, optimise: bool) -> dict[str, Any]:
    """Build a base and measure it, before and after its index was optimised where that is wanted."""
    async with opened(queries, 20_000, 60) as bench:
        bench.queries = 1
        await by_ports(bench, [chunks], optimise=False)
        bench.queries = queries
        try:
            found: dict[str, Any] = {"plain": await times(bench, chunks, clients)}
            if optimise:
                kb = await bench.engine.catalog.kb(bench.engine.tenant, bench.engine.kb_name)
                index = await open_space(bench.engine.catalog, bench.engine.indexes, kb, bench.embedder)
                exact = await nearest(bench, index)
                await index.optimise()
                walked = await nearest(bench, index)
                shares = [len(one & other) / len(one) for one, other in zip(exact, walked, strict=True)]
                found["graph_recall"] = round(sum(shares) / len(shares), 4)
                found["optimised"] = await times(bench, chunks, clients)
        finally:
            await stop_owner(bench.engine)
    return {"chunks": chunks, "queries": queries, "load_average": round(os.getloadavg()[1], 1), **found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--optimise", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        rows = [asyncio.run(quality(load_set(folder), home, given.limit)) for folder in given.sets]
    took = (
        asyncio.run(timed(given.chunks, given.queries, given.clients, optimise=given.optimise)) if given.chunks else {}
    )
    print(json.dumps({"machine": machine(), "quality": rows, "time": took}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
