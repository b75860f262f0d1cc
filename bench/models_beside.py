"""Two more vector spaces beside the onboard model's: built from stored chunks, compared, switched to under readers.

    python -m bench.models_beside SET [--questions N] [--switches N] [--note TEXT]

SET is a folder in BEIR layout. The models are the onboard one, its word vectors alone, and its vectors cut to 192
numbers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from bench.readers import READERS, beside
from kaijuan import Kaijuan
from kaijuan.evals.sets import load_set
from kaijuan.verbs.models import GoldenQuestion

OTHERS: dict[str, dict[str, str]] = {"words": {}, "small": {"embedder.dimensions": "192"}}


async def measured(folder: Path, questions: int, switches: int, note: str) -> dict[str, Any]:
    """Build, compare and switch."""
    known = load_set(folder)
    chosen = random.Random(3).sample(list(known.judged), min(questions, len(known.judged)))
    golden = [GoldenQuestion(question=one.text, relevant=tuple(known.grades[one.id])) for one in chosen]
    with TemporaryDirectory() as spare:
        async with Kaijuan(Path(spare) / "home") as engine:
            report = await engine.add([str(known.corpus)])
            rows: list[dict[str, Any]] = []
            for name, settings in OTHERS.items():
                started = time.perf_counter()
                made = await engine.add_model(name, settings=settings)
                built = time.perf_counter() - started
                found = await engine.compare_models(name, golden)
                if not rows:
                    rows.append(_row(found.serving, 384, None, found.ndcg_before, found.ms_before))
                row = _row(name, made.dimensions, built, found.ndcg_after, found.ms_after)
                rows.append(
                    row
                    | {
                        "overlap": round(found.overlap, 4),
                        "better": found.better,
                        "worse": found.worse,
                        "p_value": None if found.p_value is None else round(found.p_value, 4),
                    }
                )
            forth, back, watched = await _switched(engine, golden, switches)
            await engine.indexes.stop_owner()  # type: ignore[attr-defined]
    return {
        "machine": machine(),
        "note": note,
        "set": known.name,
        "documents": report.documents,
        "questions": len(golden),
        "models": rows,
        "switches": switches,
        "switch_ms": median(forth),
        "roll_back_ms": median(back),
        "readers": READERS,
        "asked_meanwhile": len(watched.seconds),
        "failed_meanwhile": sum(watched.faults.values()),
        "faults": dict(watched.faults),
    }


def _row(model: str, dimensions: int, built: float | None, ndcg: float | None, ms: float) -> dict[str, Any]:
    return {
        "model": model,
        "dimensions": dimensions,
        "built_seconds": built,
        "ndcg@10": ndcg,
        "ms": ms,
        "overlap": None,
        "better": None,
        "worse": None,
        "p_value": None,
    }


async def _switched(engine: Kaijuan, golden: list[GoldenQuestion], times: int) -> tuple[list[float], list[float], Any]:
    """Switch to another model and back, while readers ask."""
    forth: list[float] = []
    back: list[float] = []

    async def work() -> None:
        for _ in range(times):
            started = time.perf_counter()
            await engine.switch_model("small")
            forth.append(1000 * (time.perf_counter() - started))
            await engine.search(golden[0].question)
            started = time.perf_counter()
            await engine.roll_back_model()
            back.append(1000 * (time.perf_counter() - started))
            await engine.search(golden[0].question)

    async def ask(at: int) -> str:
        found = await engine.search(golden[at % len(golden)].question)
        return "" if found.passages else "nothing found"

    watched, _ = await beside("switching", ask, work())
    return forth, back, watched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("set", type=Path)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--switches", type=int, default=10)
    parser.add_argument("--note", default="", help="what a reader should know of this run")
    options = parser.parse_args()
    found = asyncio.run(measured(options.set, options.questions, options.switches, options.note))
    print(json.dumps(found, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
