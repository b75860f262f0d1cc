"""Search through the index owner's socket, as one JSON document.

    python -m bench.index_search [--rows N] [--repeat N] [--optimise]

Random unit vectors of 384 dimensions, about 60 zipfian terms a chunk, filters of tenant, groups and snapshot that
leave 50, 5, 0.5 and 0.05 % of the rows. Each search has its own query; milliseconds are those a caller sees.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import numpy as np

from bench.machine import machine
from bench.memory import size_of
from kaijuan.core.filters import EVERYTHING, Eq, Filter, In, all_of, at_snapshot
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN
from kaijuan.index.ports import Index, Point, SpaceSpec
from kaijuan.stores.index.edge_store import EdgeIndexStore

DIMENSIONS = 384
SHARES = (50.0, 5.0, 0.5, 0.05)
BATCH = 2_000


def points(rows: int, start: int, chance: np.random.Generator) -> list[Point]:
    """Return one batch of chunks."""
    count = min(BATCH, rows - start)
    places = chance.normal(size=(count, DIMENSIONS)).astype(np.float32)
    words = np.minimum(chance.zipf(1.25, size=(count, 60)), 200_000)
    weights = chance.uniform(0.2, 2.2, size=(count, 60)).astype(np.float32)
    chances = chance.random(size=(count, 2))
    return [
        Point(
            id=ChunkId(chance.bytes(16).hex()),
            vector=places[row],
            terms=dict(zip(words[row].tolist(), weights[row].tolist(), strict=True)),
            payload={
                "tenant": "one",
                "acl": tuple(f"share{share}" for share in SHARES if chances[row, 0] * 100 < share) or ("nobody",),
                "document_id": f"{(start + row) // 10:032x}",
                "kind": ("pdf", "html", "md")[row % 3],
            },
            valid_from=1 + (start + row) % 20,
            valid_to=OPEN if chances[row, 1] > 0.05 else 25,
        )
        for row in range(count)
    ]


def filters() -> Iterator[tuple[str, Filter]]:
    """Yield the filters by name."""
    yield "none", EVERYTHING
    yield "snapshot", at_snapshot(24)
    for share in SHARES:
        yield f"{share:g} %", all_of([Eq("tenant", "one"), In("acl", (f"share{share}", "else")), at_snapshot(24)])


async def timed(repeat: int, work: Callable[[int], Awaitable[object]]) -> dict[str, float]:
    """Return p50 and p99 in milliseconds."""
    for number in range(min(5, repeat)):
        await work(number)
    taken = []
    for number in range(repeat):
        start = time.perf_counter()
        await work(number)
        taken.append((time.perf_counter() - start) * 1000)
    return {"p50_ms": round(float(np.percentile(taken, 50)), 3), "p99_ms": round(float(np.percentile(taken, 99)), 3)}


async def measure(index: Index, repeat: int, chance: np.random.Generator) -> dict[str, object]:
    """Return the figures of every filter and route."""
    queries = chance.normal(size=(repeat, DIMENSIONS)).astype(np.float32)
    terms = [{int(word): 1.0 for word in np.minimum(chance.zipf(1.25, size=6), 200_000)} for _ in range(repeat)]
    report: dict[str, object] = {}
    for name, where in filters():

        async def dense(number: int, where: Filter = where) -> object:
            return await index.search_dense(queries[number], 50, where)

        async def lexical(number: int, where: Filter = where) -> object:
            return await index.search_lexical(terms[number], 50, where)

        async def both(number: int, where: Filter = where) -> object:
            return await asyncio.gather(
                index.search_dense(queries[number], 50, where), index.search_lexical(terms[number], 50, where)
            )

        report[name] = {
            "rows": await index.count(where),
            "dense": await timed(repeat, dense),
            "lexical": await timed(repeat, lexical),
            "both": await timed(repeat, both),
        }
    return report


async def run(rows: int, repeat: int, optimise: bool, home: Path) -> dict[str, object]:
    """Load, search and report."""
    chance = np.random.default_rng(1)
    store = EdgeIndexStore(home, 120.0, patience=300.0)
    start = time.perf_counter()
    index = await store.open(SpaceSpec(name="bench", dimensions=DIMENSIONS, model="bench", analyser="1"))
    report: dict[str, object] = {
        "machine": machine(),
        "rows": rows,
        "first_open_seconds": round(time.perf_counter() - start, 3),
    }
    loading = 0.0
    for first in range(0, rows, BATCH):
        batch = points(rows, first, chance)
        start = time.perf_counter()
        await index.upsert(batch)
        loading += time.perf_counter() - start
    start = time.perf_counter()
    await index.flush()
    report |= {"load_rows_per_second": round(rows / loading), "flush_seconds": round(time.perf_counter() - start, 3)}
    report["socket_round_trip"] = await timed(repeat, lambda _: store.spaces())
    report["count"] = await timed(repeat, lambda _: index.count(EVERYTHING))
    report["search"] = await measure(index, repeat, chance)
    memory = size_of(str(await store.owner_pid()))
    report["owner_mb"] = {"resident": round(memory.resident / 1e6), "private": round(memory.private / 1e6)}
    await store.stop_owner()
    start = time.perf_counter()
    await index.count(EVERYTHING)
    report["load_average"] = round(os.getloadavg()[1], 1)
    report["reopen_seconds"] = round(time.perf_counter() - start, 3)
    if optimise:
        start = time.perf_counter()
        await index.optimise()
        report["optimise_seconds"] = round(time.perf_counter() - start, 3)
        report["search_optimised"] = await measure(index, repeat, chance)
    await store.stop_owner()
    await store.close()
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--optimise", action="store_true", help="measure again after optimising")
    chosen = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="kaijuan-bench-"))
    try:
        report = asyncio.run(run(chosen.rows, chosen.repeat, chosen.optimise, home))
    finally:
        shutil.rmtree(home, ignore_errors=True)
    json.dump(report, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
