"""Search over a base of 20,000 chunks, the question's embedding left out: p50 and p99 in milliseconds.

python -m bench.search_latency [--chunks N] [--queries N] [--home DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from bench.texts import paragraphs, sentence
from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.filters import Eq
from kaijuan.testing.embedders import HashEmbedder


def write_corpus(path: Path, records: int) -> None:
    """Write one record a chunk."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(records):
            text = "\n".join(paragraphs(number, 220))
            row = {"_id": f"r{number}", "title": f"记录 {number}", "text": text, "part": number % 2000}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Return p50, p95 and p99 in milliseconds."""
    ordered = sorted(seconds)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1000, 2) for p in (50, 95, 99)}


async def measure(home: Path, chunks: int, queries: int) -> dict[str, Any]:
    """Build the base and time searches with and without a filter."""
    corpus = home / "corpus.jsonl"
    write_corpus(corpus, chunks)
    # A stub of the model's dimensions: the embedder's own time is measured in bench/embedding.py.
    async with Kaijuan(home / "home", config=Config(), embedder=HashEmbedder(dimensions=384)) as engine:
        start = time.perf_counter()
        report = await engine.add([str(corpus)])
        ingest = time.perf_counter() - start
        chance = random.Random(1)
        questions = ["".join(sentence(chance) for _ in range(2))[:40] for _ in range(queries)]
        for question in questions[:20]:
            await engine.search(question)
        times: dict[str, list[float]] = {"plain": [], "filtered 0.05 %": []}
        for number, question in enumerate(questions):
            for name, filters in (("plain", []), ("filtered 0.05 %", [Eq("part", number % 2000)])):
                start = time.perf_counter()
                await engine.search(question, filters=filters)
                times[name].append(time.perf_counter() - start)
        return {
            "chunks": report.chunks,
            "ingest_seconds": round(ingest, 1),
            "queries": queries,
            "search_ms": {name: percentiles(values) for name, values in times.items()},
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500)
    options = parser.parse_args()
    with TemporaryDirectory() as spare:
        row = asyncio.run(measure(Path(spare), options.chunks, options.queries))
    print(json.dumps({"machine": machine(), **row}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
