"""What fusion, the depth of the routes and the cut do to quality, tried offline on one search of every question.

    python -m bench.fusion ../shared/data/cmrc2018_zh ... [--home DIR] [--limit N]

Every route is asked for 100 chunks once; the rest is arithmetic over the two lists.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.machine import machine
from kaijuan.config import Config
from kaijuan.core.ids import ChunkId
from kaijuan.evals.bases import open_base
from kaijuan.evals.metrics import score
from kaijuan.evals.retrieval import learn_names, sample
from kaijuan.evals.sets import EvalSet, load_set
from kaijuan.index.ports import Hit
from kaijuan.retrieve.fuse import Fused, minmax, rrf
from kaijuan.retrieve.results import SearchResult

K = 25
"""Passages asked for: each route is then asked for four times as many chunks."""
DEPTHS = (10, 30, 50, 100)
RATIOS = (0.1, 0.2, 0.35, 0.5)
FIRST = 10
EVEN = {"dense": 0.5, "lexical": 0.5}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Both routes' answers to one question, and the document that each chunk belongs to."""

    query: str
    lists: Mapping[str, Sequence[Hit]]
    names: Mapping[ChunkId, str]

    def cut_to(self, depth: int) -> dict[str, Sequence[Hit]]:
        """Return the first hits of each route."""
        return {route: hits[:depth] for route, hits in self.lists.items()}

    def documents(self, ids: Iterable[ChunkId]) -> list[str]:
        """Return the documents of chunks, best first, each once."""
        return list(dict.fromkeys(self.names[id] for id in ids))


def lists_of(result: SearchResult) -> dict[str, list[Hit]]:
    """Return the routes' lists, best first, from a trace."""
    lists: dict[str, list[Hit]] = {}
    for route in EVEN:
        found = [one for one in result.trace.candidates if route in one.routes]
        found.sort(key=lambda one: one.routes[route].rank)
        lists[route] = [Hit(one.chunk_id, one.routes[route].score) for one in found]
    return lists


async def asked(data: EvalSet, home: Path, limit: int) -> list[Asked]:
    """Take the corpus in, unless `home` holds it, and ask a sample of the questions."""
    answers = []
    async with open_base(data, home, Config()) as base:
        names: dict[ChunkId, str] = {}
        for query in sample(data.judged, limit):
            result = await base.engine.search(query.text, k=K)
            await learn_names(base.engine, result, names)
            lists = lists_of(result)
            mine = {hit.id: names[hit.id] for hits in lists.values() for hit in hits}
            answers.append(Asked(query=query.id, lists=lists, names=mine))
    return answers


def scored(answers: Sequence[Asked], data: EvalSet, rankings: Mapping[str, Sequence[str]]) -> float:
    """Return the mean nDCG@10 of one ranking of every question."""
    return round(score(rankings, {one.query: data.grades[one.query] for one in answers}).means["ndcg@10"], 4)


def fusions(answers: Sequence[Asked], data: EvalSet) -> dict[str, float]:
    """Return nDCG@10 of each route and of both ways to join them."""
    ways: dict[str, dict[str, Sequence[str]]] = {way: {} for way in (*EVEN, "sum", "rrf")}
    for one in answers:
        for route, hits in one.lists.items():
            ways[route][one.query] = one.documents(hit.id for hit in hits)
        ways["sum"][one.query] = one.documents(item.id for item in minmax(one.lists, EVEN))
        ways["rrf"][one.query] = one.documents(item.id for item in rrf(one.lists, EVEN))
    return {way: scored(answers, data, rankings) for way, rankings in ways.items()}


def depths(answers: Sequence[Asked], data: EvalSet) -> dict[str, float]:
    """Return nDCG@10 of the sum when each route is asked for fewer chunks."""
    found = {}
    for depth in DEPTHS:
        rankings = {one.query: one.documents(item.id for item in minmax(one.cut_to(depth), EVEN)) for one in answers}
        found[str(depth)] = scored(answers, data, rankings)
    return found


def losses(answers: Sequence[Asked], data: EvalSet) -> dict[str, Any]:
    """Return how many of the relevant documents among the first ten each cut ratio throws away."""
    lost = dict.fromkeys(RATIOS, 0)
    relevant = 0
    for one in answers:
        fused = minmax(one.lists, EVEN)
        best = best_scores(one, fused)
        top = max(best.values(), default=0.0)
        for name in [name for name in list(best)[:FIRST] if data.grades[one.query].get(name, 0) > 0]:
            relevant += 1
            for ratio in RATIOS:
                lost[ratio] += best[name] < ratio * top
    return {"relevant_in_first_ten": relevant, "lost": {str(ratio): count for ratio, count in lost.items()}}


def best_scores(one: Asked, fused: Sequence[Fused]) -> dict[str, float]:
    """Return each document's best fused score, best document first."""
    best: dict[str, float] = {}
    for item in fused:
        best.setdefault(one.names[item.id], item.score)
    return best


def measured(folder: Path, home: Path, limit: int) -> dict[str, Any]:
    """Return all figures of one set."""
    data = load_set(folder)
    answers = asyncio.run(asked(data, home, limit))
    print(f"{data.name}: {len(answers)} questions asked", file=sys.stderr, flush=True)
    return {
        "set": data.name,
        "queries": len(answers),
        "ndcg@10": fusions(answers, data),
        "depth": depths(answers, data),
        "cut": losses(answers, data),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args()
    with TemporaryDirectory() as spare:
        rows = [measured(folder, options.home or Path(spare), options.limit) for folder in options.sets]
    print(json.dumps({"machine": machine(), "sets": rows}, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
