"""What the steps of understanding are worth, as one JSON document: questions as they are, and with slips made by rule.

    python -m bench.understanding ../shared/data/xquad_zh_en ... [--home DIR] [--limit N] [--rerank]

Every question is asked without any step, and with all of them; then with one word amiss, both ways. Steps that change
nothing where there is nothing to mend, and bring back what a slip lost, are worth being on. The steps come before the
reranker, which is left out unless it is asked for: so a set is measured in minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from bench.slips import with_slip
from kaijuan.config import Config
from kaijuan.evals.bases import Base, open_base
from kaijuan.evals.retrieval import Options, evaluate, sample, scores_of
from kaijuan.evals.sets import EvalSet, load_set

OFF = dict.fromkeys(("glossary", "abbreviations", "spelling", "filters"), False)
STAGES = ("lexical", "final")
METRICS = ("ndcg@10", "recall@10")


async def figures(data: EvalSet, base: Base, steps: dict[str, bool], *, rerank: bool) -> dict[str, float]:
    """Ask all questions of `data` with these steps and return the metrics of words alone and of the whole."""
    engine = base.engine
    config = engine.config
    understanding = config.understanding.model_copy(update=steps)
    # Not the preset `fast`, which leaves spelling out.
    retrieve = config.retrieve.model_copy(update={"preset": "balanced", "rerank": rerank})
    engine.config = config.model_copy(update={"understanding": understanding, "retrieve": retrieve})
    try:
        run = await evaluate(data, base, Options())
    finally:
        engine.config = config
    return {
        f"{stage} {metric}": round(float(scores_of(run, data, stage).means[metric]), 4)
        for stage in STAGES
        for metric in METRICS
    }


async def measured(folder: Path, home: Path, limit: int, *, rerank: bool) -> dict[str, Any]:
    """Measure one set."""
    whole = load_set(folder)
    questions = sample(whole.judged, limit)
    chance = random.Random(5)
    slipped = {query.id: with_slip(query.text, chance) for query in questions}
    data = replace(whole, queries=tuple(questions))
    amiss = [replace(query, text=slipped[query.id]) for query in questions if slipped[query.id] != query.text]
    mistyped = replace(whole, queries=tuple(amiss))
    rows: dict[str, dict[str, float]] = {}
    async with open_base(whole, home, Config()) as base:
        for name, asked in (("as they are", data), ("with a slip", mistyped)):
            for how, steps in (("off", OFF), ("on", {})):
                rows[f"{name}, {how}"] = await figures(asked, base, steps, rerank=rerank)
                print(f"{whole.name}: {name}, {how}: {rows[f'{name}, {how}']}", file=sys.stderr, flush=True)
    return {"set": whole.name, "questions": len(questions), "with a slip": len(amiss), "reranked": rerank, **rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--rerank", action="store_true")
    given = parser.parse_args()
    with TemporaryDirectory() as spare:
        home = given.home or Path(spare)
        rows = [asyncio.run(measured(folder, home, given.limit, rerank=given.rerank)) for folder in given.sets]
    print(json.dumps({"machine": machine(), "sets": rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
