"""Four readers while an index is optimised: errors, answers of two snapshots at once, and how long searches take.

    python -m bench.optimising [--chunks N] [--quiet SECONDS] [--note TEXT]

A base is written through the catalog and index ports (bench/scaling.py). Readers ask before, while the index is
optimised by a child process from a copy, while it is optimised and a snapshot is published, and after. Every passage is
looked up in the catalog: it must be visible in the snapshot that the answer names. Vectors are a stub's. The memory of
the index owner is told before and after, and once more when it was started anew.
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
from typing import Any

from bench import clusters
from bench.machine import machine
from bench.memory import Watch, sizes
from bench.readers import Ask, Watched, beside
from bench.scaling import Bench, disk, grow, opened
from kaijuan.index.rebuild import open_space

_QUESTIONS = 500


async def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Build one base, and watch readers through the phases."""
    async with opened(_QUESTIONS, 20_000, 600) as bench:
        engine = bench.engine
        engine.home.mkdir()
        kb = await engine.catalog.create_kb(engine.tenant, engine.kb_name, now=time.time())
        index = await open_space(engine.catalog, engine.indexes, kb, bench.embedder)
        documents = options.chunks // clusters.CHUNKS_A_DOCUMENT
        started = time.perf_counter()
        await grow(bench, index, 0, documents)
        told(f"built in {time.perf_counter() - started:.0f} s")
        ask = asking(bench, documents)
        for number in range(20):
            await ask(number)
        memory = {"before": owner_mb(bench.home)}
        phases: list[Watched] = []

        async def phase(name: str, work: Any) -> None:
            watched, _ = await beside(name, ask, work)
            told(json.dumps(watched.row()))
            phases.append(watched)

        await phase("quiet, before", asyncio.sleep(options.quiet))
        with Watch(bench.home) as watch:
            await phase("optimising", index.optimise())
        memory["highest while optimising"] = watch.peaks_mb() | {"own": watch.private_mb()}  # type: ignore[assignment]
        await phase("quiet, after", asyncio.sleep(options.quiet))
        memory["after"] = owner_mb(bench.home)
        extra = max(10, documents // 20)
        with Watch(bench.home):
            work = both(index.optimise(), grow(bench, index, documents, documents + extra))
            await phase(f"optimising, {extra * clusters.CHUNKS_A_DOCUMENT} chunks published meanwhile", work)
        await engine.indexes.stop_owner()  # type: ignore[attr-defined]
        await ask(0)
        memory["started anew"] = owner_mb(bench.home)
        rows = [watched.row() for watched in phases]
        quiet = max(row["ms"]["p99"] for row in rows if row["phase"].startswith("quiet"))
        return {
            "machine": machine(),
            "note": options.note,
            "chunks": options.chunks,
            "readers": 4,
            "load_average": round(os.getloadavg()[1], 1),
            "phases": rows,
            "p99_times": round(rows[1]["ms"]["p99"] / quiet, 2),
            "memory_mb": memory,
            "disk_mb": disk(bench.home),
        }


async def both(one: Any, other: Any) -> None:
    await asyncio.gather(one, other)


def owner_mb(home: Path) -> dict[str, int]:
    """Return the memory of the index owner: all, and what no file backs."""
    size = sizes(home)["index owner"]
    return {"resident": round(size.resident / 1e6), "own": round(size.private / 1e6)}


def asking(bench: Bench, documents: int) -> Ask:
    """Return what asks the questions of the corpus and checks every passage against the catalog."""
    chance = random.Random(11)
    groups = max(1, documents // clusters.DOCUMENTS_A_CLUSTER)
    asked = [
        (cluster, bench.corpus.question(cluster, chance)) for cluster in chance.choices(range(groups), k=_QUESTIONS)
    ]
    bench.embedder.questions = {text: cluster for cluster, text in asked}

    async def ask(number: int) -> str:
        engine = bench.engine
        before = (await engine.catalog.kb(engine.tenant, engine.kb_name)).head
        found = await engine.search(asked[number % len(asked)][1])
        if not found.passages:
            return "nothing found"
        if found.snapshot < before:
            return "an older snapshot than was published"
        ids = {passage.version_id for passage in found.passages}
        versions = await engine.catalog.versions_by_id(ids)
        seen = [one for one in versions.values() if one.valid_from <= found.snapshot < one.valid_to]
        if len(seen) != len(ids):
            return "a passage of another snapshot"
        return ""

    return ask


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--quiet", type=float, default=30.0)
    parser.add_argument("--note", default="", help="what a reader should know of this run")
    print(json.dumps(asyncio.run(measured(parser.parse_args())), indent=1))


if __name__ == "__main__":
    main()
