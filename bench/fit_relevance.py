"""Fit the calibration of retrieve/relevance.py: cosine and BM25 density to the chance that a chunk is relevant.

    python -m bench.fit_relevance ../shared/data/cmrc2018_zh ... --home DIR [--limit N]

Prints the weights fitted on all sets and, for each set, how well weights fitted on the others tell relevant from other
chunks (AUROC), and how many relevant chunks the default cut would lose.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.machine import machine
from bench.metrics import Set, load_set
from kaijuan import Kaijuan
from kaijuan.core.text.bm25 import query_weights
from kaijuan.evals.retrieval import Names, learn_names
from kaijuan.retrieve.settings import RetrieveSettings

K = 20
Array = npt.NDArray[np.float64]


async def rows_of(data: Set, home: Path, limit: int) -> Array:
    """Return one row a candidate: cosine, BM25 per unit of query weight, 1, and whether its document is relevant."""
    rows: list[tuple[float, float, float, float]] = []
    async with Kaijuan(home, data.name) as engine:
        await engine.add(data.corpus)
        names: Names = {}
        for query in sorted(data.queries)[: limit or None]:
            result = await engine.search(data.queries[query], k=K, cut=False)
            await learn_names(engine, result, names)
            weight = sum(query_weights(data.queries[query]).values()) or 1.0
            lowest = min((c.routes["dense"].score for c in result.trace.candidates if "dense" in c.routes), default=0.0)
            for candidate in result.trace.candidates[:K]:
                cosine = candidate.routes["dense"].score if "dense" in candidate.routes else lowest
                lexical = candidate.routes["lexical"].score if "lexical" in candidate.routes else 0.0
                relevant = float(names[candidate.chunk_id] in data.grades[query])
                rows.append((cosine, lexical / weight, 1.0, relevant))
    return np.array(rows)


def fit(rows: Array, ridge: float = 1e-3) -> Array:
    """Return logistic regression weights by Newton's method (iteratively reweighted least squares)."""
    features, labels = rows[:, :3], rows[:, 3]
    weights = np.zeros(3)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (labels - chance) - ridge * weights
        curve = (features * (chance * (1 - chance))[:, None]).T @ features + ridge * np.eye(3)
        weights += np.linalg.solve(curve, slope)
    return weights


def auroc(scores: Array, labels: Array) -> float:
    """Return the chance that a relevant row scores above another one (Mann-Whitney)."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    positive = labels == 1
    count = int(positive.sum())
    others = len(labels) - count
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * others)) if count and others else 0.5


def report(sets: dict[str, Array]) -> dict[str, Any]:
    """Fit on everything, and judge each set by the others."""
    everything = np.concatenate(list(sets.values()))
    cosine, density, constant = (round(float(value), 2) for value in fit(everything))
    cut = RetrieveSettings().cut_relevance
    judged = {}
    for name, rows in sets.items():
        rest = np.concatenate([other for key, other in sets.items() if key != name]) if len(sets) > 1 else rows
        scores = 1 / (1 + np.exp(-(rows[:, :3] @ fit(rest))))
        positive = rows[:, 3] == 1
        judged[name] = {
            "auroc": round(auroc(scores, rows[:, 3]), 4),
            "relevant_lost_by_the_cut": round(float((scores[positive] < cut).mean()), 4),
            "others_dropped_by_the_cut": round(float((scores[~positive] < cut).mean()), 4),
        }
    return {"fit": {"cosine": cosine, "density": density, "constant": constant}, "sets": judged}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=0)
    options = parser.parse_args()
    sets = {folder.name: asyncio.run(rows_of(load_set(folder), options.home, options.limit)) for folder in options.sets}
    print(json.dumps({"machine": machine(), **report(sets)}, indent=1))


if __name__ == "__main__":
    main()
