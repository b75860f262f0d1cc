"""What other words from a language model bring a search, each kind by itself, as one JSON document.

    python -m bench.wordings --data ../shared/data --home DIR --url http://127.0.0.1:8081/v1 --model local
        [--sets NAME ...] [--sample 30] [--seconds 600] [--journal FILE]

Every question of a sample (by hash of its id) is searched as it is, then with the model asked each time for one thing:
other wordings, a passage that might answer it (HyDE), a more general question (step-back), simpler questions of which
it is made. The last is measured on questions that the rules would take apart, which are sampled by themselves. Told are
nDCG@10 and recall@10 of each way, over all questions and over those for which the model's words were used, how many
were better and worse, and how the replies fared. With a journal a stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from types import MappingProxyType
from typing import Any

from bench.journal import Journal
from bench.machine import machine
from kaijuan.config import Config
from kaijuan.core.ids import stable_id
from kaijuan.engine import Kaijuan
from kaijuan.evals.bases import open_base
from kaijuan.evals.metrics import score
from kaijuan.evals.retrieval import name_of
from kaijuan.evals.sets import EvalSet, Query, load_set
from kaijuan.retrieve.understanding.kinds import kinds_of
from kaijuan.retrieve.understanding.results import OK
from kaijuan.retrieve.understanding.router import asks_several

SETS = ("stard_law_zh", "medfaq_zh", "hotpot_en", "cosqa_code_en")
METRICS = ("ndcg@10", "recall@10")
AS_IT_IS, PARTS = "as it is", "parts"
NOTHING: Mapping[str, Any] = MappingProxyType({"rewrites": 0, "hyde": False, "step_back": False, "parts": 0})
WAYS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        AS_IT_IS: {**NOTHING, "model": "off"},
        "rewrite": {**NOTHING, "model": "always", "rewrites": 3},
        "hyde": {**NOTHING, "model": "always", "hyde": True},
        "step-back": {**NOTHING, "model": "always", "step_back": True},
        PARTS: {**NOTHING, "model": "always", "parts": 4},
    }
)
"""Settings of understanding by way; each is named as its step in the trace."""
SEED = 11


def sampled(data: EvalSet, count: int) -> dict[str, list[Query]]:
    """Return the questions for each way, the same on every machine; `parts` has those that the rules take apart."""
    ordered = sorted(data.judged, key=lambda query: stable_id("wordings", SEED, query.id))
    several = [query for query in ordered if asks_several(query.text, kinds_of(query.text))]
    return {"words": ordered[:count], PARTS: several[:count]}


def ways_of(kind: str) -> list[str]:
    """Return the ways in which questions of a sample are asked."""
    return [AS_IT_IS, PARTS] if kind == PARTS else [way for way in WAYS if way != PARTS]


async def asked(engine: Kaijuan, query: Query, way: str, grades: Mapping[str, int], seconds: float) -> dict[str, Any]:
    """Search one question one way."""
    config = engine.config
    changed = config.understanding.model_copy(update={**WAYS[way], "model_seconds": seconds})
    engine.config = config.model_copy(update={"understanding": changed})
    try:
        result = await engine.search(query.text, k=20, cut=False, read_filters=False)
    finally:
        engine.config = config
    ranking = list(dict.fromkeys(name_of(passage.source) for passage in result.passages))
    means = score({query.id: ranking}, {query.id: grades}).means
    understood = result.trace.understanding
    steps = [step for step in understood.steps if step.name == way]
    return {
        **{metric: round(float(means[metric]), 6) for metric in METRICS},
        "said": [variant.text for variant in understood.variants],
        "state": steps[0].state if steps else "",
        "seconds": round(steps[0].milliseconds / 1000, 1) if steps else 0.0,
    }


async def measured(data: EvalSet, given: argparse.Namespace, journal: Journal) -> dict[str, Any]:
    """Measure one set."""
    chat = {"url": given.url, "model": given.model, "seconds": given.seconds, "first_seconds": given.seconds}
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
    async with open_base(data, given.home, Config.model_validate({"chat": chat})) as base:
        for kind, queries in sampled(data, given.sample).items():
            rows[kind] = {way: [] for way in ways_of(kind)}
            for query in queries:
                for way, kept in rows[kind].items():
                    key = f"{data.name}:{query.id}:{way}"
                    row = journal.known(key)
                    if row is None:
                        row = await asked(base.engine, query, way, data.grades[query.id], given.seconds)
                        if row["state"] in ("", OK):  # what failed is asked again by the next run
                            journal.keep(key, row)
                    kept.append(row)
                    print(f"{key}: {json.dumps(row, ensure_ascii=False)}", file=sys.stderr, flush=True)
    return {kind: {way: summed(some[AS_IT_IS], some[way]) for way in some} for kind, some in rows.items()}


def summed(plain: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what one way came to beside the questions as they are."""
    pairs = list(zip(plain, rows, strict=True))
    used = [(before, after) for before, after in pairs if after["said"]]
    return {
        "questions": len(rows),
        **_means(rows),
        "words used": len(used),
        "where used": {"as it is": _means([one for one, _ in used]), "with them": _means([one for _, one in used])},
        "better": sum(after["ndcg@10"] > before["ndcg@10"] for before, after in pairs),
        "worse": sum(after["ndcg@10"] < before["ndcg@10"] for before, after in pairs),
        "replies": dict(Counter(row["state"] for row in rows if row["state"])),
        "seconds a reply, median": median([row["seconds"] for row in rows if row["state"]] or [0.0]),
    }


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {metric: round(fmean(row[metric] for row in rows), 4) for metric in METRICS} if rows else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--sample", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args()
    journal = Journal(given.journal)
    found = {name: asyncio.run(measured(load_set(given.data / name), given, journal)) for name in given.sets}
    told = {"machine": machine(), "model": given.model, "seed": SEED, "sample": given.sample}
    print(json.dumps({**told, "sets": found}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
