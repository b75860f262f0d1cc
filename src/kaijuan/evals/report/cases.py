"""Single questions worth looking at: what a variant won and lost, with what was expected and what was shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kaijuan.evals.experiments.outcome import READER_STAGE
from kaijuan.evals.experiments.store import SHOWN, Document, StoredRun
from kaijuan.evals.report.excerpts import Excerpt, excerpt

MOST_CASES = 8
"""Wins, and as many losses, shown of each variant."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One document as a reader of the page sees it. `rank` 0 is one that was not among the first."""

    rank: int
    id: str
    title: str
    excerpt: Excerpt | None
    """None where the run did not keep the text."""
    expected: bool


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question with the documents expected, and the first of each ranking: the baseline's, then the variant's."""

    set: str
    question: str
    kind: str
    scores: tuple[float, ...]
    expected: tuple[Shown, ...]
    """`rank` is the place in the last of the rankings."""
    rankings: tuple[tuple[Shown, ...], ...]

    @property
    def effect(self) -> float:
        """The last score less the first."""
        return self.scores[-1] - self.scores[0]


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """What one variant won and lost against the baseline, the largest differences first."""

    variant: str
    wins: tuple[Case, ...]
    losses: tuple[Case, ...]
    more_wins: int
    more_losses: int


def contrast(name: str, baseline: Mapping[str, StoredRun], variant: Mapping[str, StoredRun], metric: str) -> Contrast:
    """Find the questions on which a variant differs most; `baseline` and `variant` are runs by set."""
    effects = [
        (variant[each].scores(READER_STAGE).by_query[metric][id] - value, each, id)
        for each, run in baseline.items()
        for id, value in run.scores(READER_STAGE).by_query[metric].items()
    ]
    wins = sorted((row for row in effects if row[0] > 0), key=lambda row: (-row[0], *row[1:]))
    losses = sorted(row for row in effects if row[0] < 0)

    def cases(rows: Sequence[tuple[float, str, str]]) -> tuple[Case, ...]:
        return tuple(_case([baseline[each], variant[each]], id, metric) for _, each, id in rows[:MOST_CASES])

    return Contrast(
        variant=name,
        wins=cases(wins),
        losses=cases(losses),
        more_wins=max(0, len(wins) - MOST_CASES),
        more_losses=max(0, len(losses) - MOST_CASES),
    )


def hardest(runs: Mapping[str, StoredRun], metric: str) -> tuple[Case, ...]:
    """Return the questions that scored lowest, for a run that is compared with nothing."""
    rows = sorted(
        (value, each, id)
        for each, run in runs.items()
        for id, value in run.scores(READER_STAGE).by_query[metric].items()
        if value < 1
    )
    return tuple(_case([runs[each]], id, metric) for _, each, id in rows[: 2 * MOST_CASES])


def _case(runs: Sequence[StoredRun], id: str, metric: str) -> Case:
    question = runs[0].questions[id]
    rankings = []
    documents: dict[str, Document] = {}
    for run in runs:
        documents |= run.documents
        (query,) = (query for query in run.run.queries if query.query_id == id)
        rankings.append(query.rankings.get(READER_STAGE, ()))
    shown = [
        tuple(
            _shown(rank, document, documents, question.text, expected=document in question.grades)
            for rank, document in enumerate(ranking[:SHOWN], start=1)
        )
        for ranking in rankings
    ]
    expected = sorted(question.grades, key=lambda document: (-question.grades[document], document))
    return Case(
        set=runs[0].set,
        question=question.text,
        kind=query.kind,
        scores=tuple(run.scores(READER_STAGE).by_query[metric][id] for run in runs),
        expected=tuple(
            _shown(_rank(document, rankings[-1]), document, documents, question.text, expected=True)
            for document in expected[:SHOWN]
        ),
        rankings=tuple(shown),
    )


def _shown(rank: int, id: str, documents: Mapping[str, Document], question: str, *, expected: bool) -> Shown:
    found = documents.get(id)
    text = excerpt(found.text, question) if found else None
    return Shown(rank=rank, id=id, title=found.title if found else "", excerpt=text, expected=expected)


def _rank(document: str, ranking: Sequence[str]) -> int:
    return ranking.index(document) + 1 if document in ranking else 0
