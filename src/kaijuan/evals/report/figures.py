"""The figures of a report, computed from stored runs: by stage, by kind of question, against K, and in time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kaijuan.evals.experiments.outcome import READER_STAGE
from kaijuan.evals.experiments.store import StoredRun
from kaijuan.evals.kinds import KINDS
from kaijuan.evals.results import DEPTH

Row = Mapping[str, StoredRun]
"""The runs of one variant, by set."""
PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, kw_only=True)
class KindRow:
    """Questions of one kind over all sets: how many, and the mean of each variant."""

    kind: str
    questions: int
    means: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Times:
    """How long the questions of one variant took, in milliseconds, over all sets."""

    variant: str
    milliseconds: tuple[float, ...]
    """In rising order."""

    def percentile(self, percent: int) -> float:
        """Return the time that this many of a hundred questions took at most, interpolated linearly."""
        place = (len(self.milliseconds) - 1) * percent / 100
        low, high = math.floor(place), math.ceil(place)
        return self.milliseconds[low] + (self.milliseconds[high] - self.milliseconds[low]) * (place - low)


def by_kind(table: Mapping[str, Row], metric: str) -> tuple[KindRow, ...]:
    """Return the means by kind of question, in the order in which kinds are known."""
    values: dict[str, dict[str, list[float]]] = {}
    for variant, row in table.items():
        for run in row.values():
            scores = run.scores(READER_STAGE).by_query[metric]
            for query in run.run.queries:
                values.setdefault(query.kind, {}).setdefault(variant, []).append(scores[query.query_id])
    known = [*KINDS, *sorted(values.keys() - KINDS.keys())]
    return tuple(
        KindRow(
            kind=kind,
            questions=len(next(iter(values[kind].values()))),
            means={variant: math.fsum(each) / len(each) for variant, each in values[kind].items()},
        )
        for kind in known
        if kind in values
    )


def recall_curve(run: StoredRun, stage: str, depth: int = DEPTH) -> tuple[float, ...]:
    """Return recall at 1, 2, ... `depth`: the mean share of a question's relevant documents among the first K."""
    gained = [0.0] * depth
    for query in run.run.queries:
        grades = run.questions[query.query_id].grades
        for place, document in enumerate(query.rankings.get(stage, ())[:depth]):
            if document in grades:
                gained[place] += 1 / len(grades)
    return tuple(total / len(run.run.queries) for total in accumulate(gained))


def times(table: Mapping[str, Row]) -> tuple[Times, ...]:
    """Return the times of each variant."""
    return tuple(
        Times(
            variant=variant,
            milliseconds=tuple(sorted(query.milliseconds for run in row.values() for query in run.run.queries)),
        )
        for variant, row in table.items()
    )


def best_of(values: Sequence[float]) -> float:
    """Return the largest value as it is shown, so that equal-looking ones are all marked as best."""
    return round(max(values, default=0.0), 3)
