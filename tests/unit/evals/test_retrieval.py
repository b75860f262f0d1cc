"""Asking a set: what each stage found, samples, what goes wrong, and going on after a stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from kaijuan.config import Config
from kaijuan.errors import EvalDataError, StoreError, UsageError
from kaijuan.evals.bases import open_base
from kaijuan.evals.results import STAGES, read_runs, write_runs
from kaijuan.evals.retrieval import Options, evaluate, measure, rankings_of, sample, scores_of
from kaijuan.evals.sets import EvalSet, Query, load_set
from kaijuan.evals.summary import summary_of
from kaijuan.index.ports import Vector
from kaijuan.testing.embedders import HashEmbedder

WriteSet = Callable[..., Path]
MEMORY = Config.model_validate({"stores": {"index": "memory"}})


@pytest.fixture
def data(write_set: WriteSet) -> EvalSet:
    return load_set(write_set())


async def run(data: EvalSet, home: Path, options: Options | None = None, **more: Any) -> Any:
    options = options or Options()
    return await measure(data, home, MEMORY, options, embedder=HashEmbedder, **more)


async def test_every_stage_ranks_documents(data: EvalSet, tmp_path: Path) -> None:
    found = (await run(data, tmp_path / "home")).run
    assert [query.query_id for query in found.queries] == ["q1", "q2", "q3", "q4"]
    assert [query.kind for query in found.queries] == ["question", "question", "identifier", "short"]
    by_id = {query.query_id: query for query in found.queries}
    for query, document in (("q1", "d1"), ("q2", "d2"), ("q3", "d4"), ("q4", "d3")):
        assert by_id[query].rankings["lexical"][0] == document
        assert by_id[query].rankings["final"][0] == document
        for stage in STAGES:
            ranking = by_id[query].rankings[stage]
            assert len(set(ranking)) == len(ranking) <= 4
    assert set(by_id["q3"].rankings["dense"]) == {"d2", "d4"}, "those in the language of the question"
    assert by_id["q3"].rankings["lexical"] == ("d4",)
    assert scores_of(found, data, "final").means["hit@1"] == 1.0
    assert set(scores_of(found, data, "final", "short").by_query["map"]) == {"q4"}


async def test_final_is_what_a_reader_is_given(data: EvalSet, tmp_path: Path) -> None:
    async with open_base(data, tmp_path / "home", MEMORY, embedder=HashEmbedder) as base:
        result = await base.engine.search(data.queries[1].text, k=2)
        (query,) = (await evaluate(replace(data, grades={"q2": {"d2": 1}}), base, Options(k=2))).queries
        assert query.rankings["final"] == tuple(each.source.rpartition("#")[2] for each in result.passages)
        assert len(query.rankings["final"]) <= 2 < len(query.rankings["fused"])


async def test_a_document_stands_where_its_best_chunk_stands(write_set: WriteSet, tmp_path: Path) -> None:
    long = "\n\n".join(f"Backups of kind {n} are kept for {n} days on the second site." for n in range(100))
    folder = write_set(documents={"d 1/一#": ("Long", long), "d2": ("", "Valves.")}, judgements=(("q2", "d 1/一#", 1),))
    data = load_set(folder)
    config = MEMORY.model_copy(update={"chunk": MEMORY.chunk.model_copy(update={"child_tokens": 30})})
    async with open_base(data, tmp_path / "home", config, embedder=HashEmbedder) as base:
        assert base.chunks > 20
        (query,) = (await evaluate(data, base, Options())).queries
    assert query.rankings["fused"] == ("d 1/一#", "d2")
    assert query.rankings["lexical"] == ("d 1/一#",)


async def test_time_is_measured_by_question(data: EvalSet, tmp_path: Path) -> None:
    ticks = count()
    async with open_base(data, tmp_path / "home", MEMORY, embedder=HashEmbedder) as base:
        found = await evaluate(data, base, Options(), clock=lambda: next(ticks) * 0.25)
    assert [query.milliseconds for query in found.queries] == [250.0] * 4


def test_a_sample_is_stable_and_the_larger_holds_the_smaller() -> None:
    queries = [Query(id=f"q{n}", text="x", fields={}) for n in range(200)]
    ids = [query.id for query in sample(queries, 20)]
    assert ids == [query.id for query in sample(list(reversed(queries)), 20)][::-1]
    assert set(ids) < {query.id for query in sample(queries, 50)}
    assert ids != [query.id for query in sample(queries, 20, seed=1)]
    assert ids == [f"q{n}" for n in sorted(int(id[1:]) for id in ids)]
    assert sample(queries, 0) == sample(queries, 500) == queries
    assert ids[:3] == PINNED


PINNED = ["q0", "q17", "q27"]
"""First of the sample: a change would make every stored result of a sample incomparable."""


async def test_a_limit_asks_a_sample(data: EvalSet, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = await run(data, tmp_path / "home", Options(limit=2), asked=lambda done, total: told.append((done, total)))
    assert [query.query_id for query in found.run.queries] == [query.id for query in sample(data.judged, 2)]
    assert told == [(1, 2), (2, 2)]
    assert set(scores_of(found.run, data, "final").by_query["map"]) == {query.query_id for query in found.run.queries}


async def test_a_run_that_was_stopped_goes_on(data: EvalSet, tmp_path: Path) -> None:
    home = tmp_path / "home"

    def stop(done: int, _total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await run(data, home, asked=stop)
    second = await run(data, home)
    assert (second.resumed, len(second.run.queries)) == (2, 4)
    assert (await run(data, home)).resumed == 0


async def test_fresh_and_other_settings_ask_everything(data: EvalSet, tmp_path: Path) -> None:
    home = tmp_path / "home"

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await run(data, home, asked=stop)
    assert (await run(data, home, Options(k=7))).resumed == 0
    assert (await run(data, home, Options(limit=4))).resumed == 1

    with pytest.raises(KeyboardInterrupt):
        await run(data, home, asked=stop)
    assert (await run(data, home, Options(fresh=True))).resumed == 0
    assert (await run(data, home)).resumed == 0


async def test_a_question_that_is_refused_has_found_nothing_and_is_named(write_set: WriteSet, tmp_path: Path) -> None:
    folder = write_set(questions={"q1": "年假有几天？", "q2": "long " * 5000})
    data = load_set(folder)
    found = (await run(data, tmp_path / "home")).run
    assert found.queries[1].rankings == {}
    assert scores_of(found, data, "final").by_query["hit@1"] == {"q1": 1.0, "q2": 0.0}
    assert "1 question refused: The question has" in found.problems[-1]


class Mute(HashEmbedder):
    """An embedder that fails at some questions."""

    async def embed_query(self, text: str) -> Vector:
        if "backups" in text:
            raise StoreError("no room")
        return await super().embed_query(text)


async def test_a_question_asked_without_a_route_is_named_and_asked_again(data: EvalSet, tmp_path: Path) -> None:
    home = tmp_path / "home"

    def stop(done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await measure(data, home, MEMORY, Options(), embedder=Mute, asked=stop)
    second = await measure(data, home, MEMORY, Options(), embedder=Mute)
    assert second.resumed == 2
    failed = "dense (failed: store_failed) and dense_zh (failed: store_failed)"
    assert second.run.problems == (f"1 question asked without the route {failed}.",)
    assert second.run.queries[1].rankings["final"] == ("d2",)


async def test_the_summary_adds_up(data: EvalSet, tmp_path: Path) -> None:
    measured = await run(data, tmp_path / "home")
    found = summary_of(measured, data)
    assert found["metrics"] == found["stages"]["final"]
    assert list(found["stages"]) == ["dense", "lexical", "fused", "final"]
    assert sum(each["queries"] for each in found["by_kind"].values()) == found["queries"] == 4
    means = [each["ndcg@10"] * each["queries"] for each in found["by_kind"].values()]
    assert sum(means) / 4 == pytest.approx(found["metrics"]["ndcg@10"], abs=1e-3)
    assert found["latency_ms"]["p50"] <= found["latency_ms"]["p95"] <= found["latency_ms"]["p99"]
    assert found["config"]["k"] == 100


async def test_a_saved_run_is_read_back(data: EvalSet, tmp_path: Path) -> None:
    found = (await run(data, tmp_path / "home")).run
    write_runs(tmp_path / "runs.json", [found, found])
    assert read_runs(tmp_path / "runs.json") == (found, found)
    with pytest.raises(UsageError, match="cannot be written"):
        write_runs(tmp_path / "none" / "runs.json", [found])
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    for name in ("other.json", "none.json"):
        with pytest.raises(EvalDataError):
            read_runs(tmp_path / name)


async def test_nothing_found_has_four_empty_rankings(data: EvalSet, tmp_path: Path) -> None:
    async with open_base(data, tmp_path / "home", MEMORY, embedder=HashEmbedder) as base:
        nothing = await base.engine.search("年假", k=1, filters="kind = pdf")
    assert rankings_of(nothing, {}) == {stage: [] for stage in STAGES}
