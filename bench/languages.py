"""Questions in one language, documents in two: what searching each language by itself brings, as one JSON document.

    python -m bench.languages ../shared/data/xquad_zh_en ... [--home DIR] [--limit N] [--preset balanced]

Every question is asked with `retrieve.languages_apart` off and on. Where a set has relevant documents in the question's
own language and in another, recall is told for both by themselves too; in a set of one language nothing may change.
`noise` has mean and deviation of a question's cosines to texts picked at random, by the languages of both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.machine import machine
from kaijuan.config import Config
from kaijuan.core.ids import stable_id
from kaijuan.core.text.language import language_of
from kaijuan.evals.bases import Base, open_base
from kaijuan.evals.results import RetrievalRun
from kaijuan.evals.retrieval import Options, evaluate, sample, scores_of
from kaijuan.evals.sets import EvalSet, load_set, rows

DEPTH = 10
TEXTS, QUESTIONS = 240, 30
"""Of a set, how many are compared for its noise."""
FEWEST = 20
LONGEST = 600
"""Characters of a text that are embedded for it."""
METRICS = ("recall@10", "ndcg@10")


def document_languages(data: EvalSet) -> dict[str, str]:
    """Return the language of every document."""
    return {str(row["_id"]): language_of(str(row.get("text", ""))) for _, row in rows(data.corpus)}


def recall_by_side(data: EvalSet, run: RetrievalRun, languages: Mapping[str, str]) -> dict[str, float]:
    """Return recall@10 over the relevant documents in the question's own language and over the others."""
    shares: dict[str, list[float]] = {"own language": [], "other language": []}
    texts = {query.id: query.text for query in data.queries}
    for query in run.queries:
        own = language_of(texts[query.query_id])
        found = set(query.rankings.get("final", ())[:DEPTH])
        for side, wanted in (("own language", True), ("other language", False)):
            relevant = [id for id in data.grades[query.query_id] if (languages.get(id) == own) is wanted]
            if relevant:
                shares[side].append(len(found.intersection(relevant)) / len(relevant))
    return {side: round(fmean(values), 4) for side, values in shares.items() if values}


async def figures(
    data: EvalSet, base: Base, apart: bool, preset: str, languages: Mapping[str, str]
) -> dict[str, float]:
    """Ask all questions with languages searched apart, or together."""
    engine = base.engine
    config = engine.config
    changed = config.retrieve.model_copy(update={"languages_apart": apart, "preset": preset})
    engine.config = config.model_copy(update={"retrieve": changed})
    try:
        run = await evaluate(data, base, Options())
    finally:
        engine.config = config
    means = scores_of(run, data, "final").means
    return {metric: round(float(means[metric]), 4) for metric in METRICS} | recall_by_side(data, run, languages)


async def noise(data: EvalSet, base: Base, languages: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return mean and deviation of the cosines of a question and texts that have nothing to do with it."""
    texts = {str(row["_id"]): str(row.get("text", "")) for _, row in rows(data.corpus)}
    picked = sorted(texts, key=lambda id: stable_id("noise", id))[:TEXTS]
    passages = np.asarray(await base.engine.embedder.embed_passages([texts[id][:LONGEST] for id in picked]))
    found: dict[str, list[tuple[float, float]]] = {}
    for query in sample(data.judged, QUESTIONS):
        cosines = passages @ np.asarray(await base.engine.embedder.embed_query(query.text))
        for language in sorted({languages[id] for id in picked}):
            there = cosines[[languages[id] == language for id in picked]]
            if len(there) >= FEWEST:
                way = f"{language_of(query.text)} to {language}"
                found.setdefault(way, []).append((float(there.mean()), float(there.std())))
    return {
        way: {
            name: round(fmean(values), 4)
            for name, values in zip(("mean", "deviation"), zip(*pairs, strict=True), strict=True)
        }
        for way, pairs in found.items()
    }


async def measured(folder: Path, home: Path, limit: int, preset: str) -> dict[str, Any]:
    """Measure one set."""
    whole = load_set(folder)
    data = replace(whole, queries=tuple(sample(whole.judged, limit)))
    languages = document_languages(whole)
    row: dict[str, Any] = {"set": whole.name, "questions": len(data.queries)}
    async with open_base(whole, home, Config()) as base:
        for name, apart in (("together", False), ("apart", True)):
            row[name] = await figures(data, base, apart, preset, languages)
            print(f"{whole.name}, {name}: {row[name]}", file=sys.stderr, flush=True)
        row["noise"] = await noise(whole, base, languages)
    return row


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--preset", default="balanced")
    asked = parser.parse_args(given)
    with TemporaryDirectory() as spare:
        home = asked.home or Path(spare)
        found = [asyncio.run(measured(folder, home, asked.limit, asked.preset)) for folder in asked.sets]
    print(json.dumps({"machine": machine(), "preset": asked.preset, "sets": found}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
