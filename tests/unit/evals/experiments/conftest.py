"""Stored runs without an engine: what each question found is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from kaijuan.evals.experiments.origin import Origin
from kaijuan.evals.experiments.store import Document, Question, StoredRun
from kaijuan.evals.results import STAGES, QueryRun, RetrievalRun

MakeRun = Callable[..., StoredRun]
ORIGIN = Origin(
    date="2026-11-30T12:00:00Z",
    commit="abc123",
    code="c0de",
    system="Linux x86_64",
    processor="A processor",
    cores=2,
    python="3.11.9",
    packages={"numpy": "2.0"},
)


def _query(id: str, ranking: Sequence[str], place: int) -> QueryRun:
    kind = ("question", "short")[place % 2]
    return QueryRun(query_id=id, kind=kind, rankings=dict.fromkeys(STAGES, tuple(ranking)), milliseconds=5.0 + place)


@pytest.fixture
def make_run() -> MakeRun:
    """Return a function that makes a run: for each question its ranking; "r" and its number is what is expected."""

    def make(
        variant: str = "baseline",
        rankings: Mapping[str, Sequence[str]] | None = None,
        *,
        set: str = "tiny",
        fingerprint: str = "f1",
        changes: Mapping[str, object] | None = None,
    ) -> StoredRun:
        rankings = rankings or {f"q{n}": (f"r{n}",) for n in range(6)}
        run = RetrievalRun(
            set=set,
            set_fingerprint=fingerprint,
            documents=10,
            chunks=20,
            reused=False,
            ingest_seconds=1.0,
            config={"k": 100, "limit": 0, "seed": 7},
            queries=tuple(_query(id, ranking, place) for place, (id, ranking) in enumerate(rankings.items())),
        )
        return StoredRun(
            key=f"{variant}-{set}",
            experiment="trial",
            variant=variant,
            metric="ndcg@10",
            changes=dict(changes or {}),
            settings={"retrieve": {"route_k": 30}},
            origin=ORIGIN,
            run=run,
            questions={id: Question(text=f"what is {id}?", grades={f"r{id[1:]}": 1}) for id in rankings},
            documents={
                id: Document(title=f"Title of {id}", text=f"The text of {id}.")
                for ranking in rankings.values()
                for id in ranking
            },
        )

    return make
