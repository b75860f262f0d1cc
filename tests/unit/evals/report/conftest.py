"""Stored runs whose every word comes from somebody who means harm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from kaijuan.evals.experiments.origin import Origin
from kaijuan.evals.experiments.store import Document, Question, StoredRun
from kaijuan.evals.results import STAGES, QueryRun, RetrievalRun

MakeRun = Callable[..., StoredRun]
EVIL = "<script>alert('x')</script>\"><img src=https://evil.example onerror=a()>{{7*7}}{% x %}$x^{$&amp;\u202e\x00]]>"


def _rankings(place: int, document: str) -> Mapping[str, tuple[str, ...]]:
    return dict.fromkeys(STAGES, (*(f"x{n}" for n in range(place)), document))


@pytest.fixture
def make_run() -> MakeRun:
    """Return a function that makes a run; `places` says how many others stand before each question's document."""

    def make(
        variant: str = "baseline", places: Sequence[int] = (0,) * 8, *, set: str = "tiny", word: str = ""
    ) -> StoredRun:
        queries = tuple(
            QueryRun(query_id=f"q{n}", kind="question", rankings=_rankings(place, f"r{n}"), milliseconds=n + 1.0)
            for n, place in enumerate(places)
        )
        run = RetrievalRun(
            set=set + word,
            set_fingerprint="f" * 64,
            documents=1234,
            chunks=5678,
            reused=True,
            ingest_seconds=1.0,
            config={"k": 100, "limit": 0, "seed": 7},
            queries=queries,
            problems=(f"a note {word}",),
        )
        texts = {
            f"{letter}{n}": Document(title=f"T{n} {word}", text=f"Text {letter}{n} {word}")
            for letter in "rx"
            for n in range(8)
        }
        origin = Origin(
            date="2026-11-30T12:00:00Z", commit="abc123", code="c0de", system="Linux", processor=f"P {word}", cores=2,
            python="3.11", packages={"numpy": "2"},
        )  # fmt: skip
        return StoredRun(
            key="k",
            experiment=f"trial {word}",
            variant=variant if variant == "baseline" else variant + word,
            metric="mrr@10",
            changes={} if variant == "baseline" else {"retrieve.fusion": f"rrf{word}"},
            settings={"retrieve": {"fusion": word}},
            origin=origin,
            run=run,
            questions={f"q{n}": Question(text=f"Q{n} {word}", grades={f"r{n}": 1}) for n in range(len(places))},
            documents=texts,
        )

    return make


@pytest.fixture
def evil(make_run: MakeRun) -> list[StoredRun]:
    """Two variants on two sets, hostile through and through."""
    runs = [
        make_run(variant, places, set=name, word=EVIL)
        for name in ("a", "b")
        for variant, places in (("baseline", (1,) * 8), ("better", (0,) * 8), ("mixed", (3, 0) * 4))
    ]
    return [_with_kind(run) for run in runs]


def _with_kind(run: StoredRun) -> StoredRun:
    queries: Any = tuple(replace(query, kind=f"strange {EVIL}") for query in run.run.queries)
    return replace(run, run=replace(run.run, queries=queries))
