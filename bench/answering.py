"""How long an answer in the documents' own sentences takes over a real base, the onboard model's time included.

    python -m bench.answering ../shared/data/stard_law_zh --home DIR [--sample 100]

The set's base is built where it is not there yet (`stard_law_zh` has more than 20,000 chunks). Questions are asked one
after the other with the default preset and without the cache of answers; the first three are not counted. Processor
time is that of this process; the owner of the index has its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.machine import machine
from bench.search_latency import percentiles
from kaijuan.config import Config
from kaijuan.evals.bases import open_base
from kaijuan.evals.sets import load_set

WARMING = 3


async def measure(folder: Path, home: Path, sample: int) -> dict[str, Any]:
    """Ask the first judged questions of a set."""
    data = load_set(folder)
    queries = list(data.judged)[: sample + WARMING]
    whole: list[float] = []
    search: list[float] = []
    cpu: list[float] = []
    ended: Counter[str] = Counter()
    async with open_base(data, home, Config()) as base:
        for at, query in enumerate(queries):
            start, worked = time.perf_counter(), time.process_time()
            given = await base.engine.ask(query.text, extractive=True)
            if at < WARMING:
                continue
            whole.append(time.perf_counter() - start)
            cpu.append(time.process_time() - worked)
            search.append((given.timings_ms.get("total", 0.0) - given.timings_ms.get("answer", 0.0)) / 1000)
            ended[f"{given.status}{' cached' if given.cache in ('hit', 'similar') else ''}"] += 1
            print(f"{at + 1} of {len(queries)}", file=sys.stderr, flush=True)
        chunks = base.chunks
    return {
        "set": folder.name,
        "chunks": chunks,
        "questions": len(whole),
        "ended": dict(sorted(ended.items())),
        "answer_ms": percentiles(whole),
        "search_ms": percentiles(search),
        "cpu_ms": percentiles(cpu),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("set", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=100)
    options = parser.parse_args()
    row = asyncio.run(measure(options.set, options.home, options.sample))
    print(json.dumps({"machine": machine(), **row}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
