"""The evals room's metrics and sets, for benches that rank without the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kaijuan.evals import sets
from kaijuan.evals.metrics import score


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Normalised discounted cumulative gain of one question; k is a depth that evals/metrics.py knows."""
    return _of_one(f"ndcg@{k}", ranked, grades)


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Share of the relevant documents among the first k."""
    return _of_one(f"recall@{k}", ranked, grades)


def _of_one(metric: str, ranked: Sequence[str], grades: Mapping[str, int]) -> float:
    return score({"": ranked}, {"": grades}).means[metric]


@dataclass(frozen=True, kw_only=True)
class Set:
    """The judged questions of one set, with graded documents."""

    name: str
    corpus: Path
    queries: dict[str, str]
    grades: dict[str, dict[str, int]]


def load_set(folder: Path) -> Set:
    """Read a set, without what evals/sets.py leaves out."""
    data = sets.load_set(folder)
    return Set(
        name=data.name,
        corpus=data.corpus,
        queries={query.id: query.text for query in data.judged},
        grades={query: dict(judged) for query, judged in data.grades.items()},
    )
