"""Ours beside its peers: fair subsets, an exact truth, cells that are kept, tables that hide nothing; and our own part
of the protocol, run for real."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bench.peers import synthetic
from bench.peers.corpora import Corpus, write_subset
from bench.peers.embedding import SharedModel, SyntheticModel, VectorFile
from bench.peers.embedding_server import answer, split_kind
from bench.peers.measure import Report, ask_all, filters, percentiles, read_rows
from bench.peers.ours import System
from bench.peers.protocol import Row, Setup, Vectors, best_documents
from bench.peers.results import Cell, Results
from bench.peers.run import raised
from bench.peers.tables import peers_table

from kaijuan.stores.index.edge_store import EdgeIndexStore

MACHINE = {"commit": "abc"}


def test_a_document_ranks_by_its_best_chunk() -> None:
    assert best_documents(["b", "a", "b", "c"], 2) == ["b", "a"]


def test_percentiles_are_milliseconds_of_the_sorted_times() -> None:
    assert percentiles([0.004, 0.001, 0.002]) == {"p50_ms": 2.0, "p99_ms": 4.0}


# --- subsets ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "s"
    folder.mkdir(parents=True)
    documents = [{"_id": f"d{number}", "title": "T", "text": f"text {number}"} for number in range(30)]
    questions = [{"_id": f"q{number}", "text": f"question {number}"} for number in range(10)]
    for name, rows in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    grades = "".join(f"q{number}\td{number}\t1\n" for number in range(10))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + grades, encoding="utf-8")
    return tmp_path / "data"


def test_a_subset_keeps_every_relevant_document_and_is_the_same_again(data: Path, tmp_path: Path) -> None:
    corpus = Corpus(name="s", documents=8, chunk_characters=100)
    first = write_subset(corpus, data, tmp_path / "a", questions=4)
    again = write_subset(corpus, data, tmp_path / "b", questions=4)
    assert first.fingerprint == again.fingerprint
    rows = read_rows(tmp_path / "a" / "rows.jsonl")
    assert len(rows) == first.documents == 8
    assert {doc for grades in first.grades.values() for doc in grades} <= {row.id for row in rows}
    assert len(first.questions) == 4
    assert rows[0].whole.startswith("T\ntext")


def test_relevant_documents_stay_even_beyond_the_wanted_number(data: Path, tmp_path: Path) -> None:
    subset = write_subset(Corpus(name="s", documents=2, chunk_characters=100), data, tmp_path / "a", questions=6)
    assert subset.documents == 6


# --- vectors ----------------------------------------------------------------------------------------------------------


class Letters:
    """Two numbers of a text, by kind."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.made = 0

    def embed(self, kind: str, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([[len(text), kind == "query"] for text in texts], dtype=np.float32)


def test_the_file_gives_the_same_bytes_and_tells_models_and_kinds_apart(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.db", "model-1")
    vector = np.array([0.1, 1 / 3], dtype=np.float32)
    file.write({file.key("query", "中"): vector})
    assert file.read([file.key("query", "中")])[file.key("query", "中")].tobytes() == vector.tobytes()
    assert file.read([file.key("passage", "中")]) == {}
    assert file.read([VectorFile(tmp_path / "v.db", "model-2").key("query", "中")]) == {}


def test_a_model_asks_no_server_for_what_the_file_has(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.db", "m")
    file.write({file.key("passage", text): np.full(2, place, dtype=np.float32) for place, text in enumerate("ab")})
    model = SharedModel(file, "http://127.0.0.1:9/v1", 2)
    assert model.passages(["b", "a", "b"]).tolist() == [[1, 1], [0, 0], [1, 1]]
    assert model.computed == 0


def test_the_server_speaks_the_protocol_and_takes_the_kind_from_the_prefix() -> None:
    model = Letters()
    reply: Any = answer(model, {"input": ["query: ab", "query: abc"]})
    assert [one["embedding"] for one in reply["data"]] == [[2, 1], [3, 1]]
    assert model.asked == ["ab", "abc"]
    coded: Any = answer(model, {"input": "passage: a", "encoding_format": "base64"})
    assert coded["data"][0]["embedding"] == "AACAPwAAAAA="
    assert split_kind("no prefix: here") == ("passage", "no prefix: here")
    with pytest.raises(ValueError, match="one kind"):
        answer(model, {"input": ["query: a", "passage: b"]})


# --- the filtered test ------------------------------------------------------------------------------------------------


def test_fields_have_the_selectivity_that_they_are_named_for() -> None:
    made = synthetic.generate(4000)
    shares = {name: float(np.mean(made.fields[field] == 1)) for name, (field, _) in synthetic.FIELDS.items()}
    assert shares == {"50 %": 0.5, "5 %": 0.05, "0.5 %": 0.005, "0.05 %": 0.0005}
    assert made.deleted.sum() == 800


def test_truth_is_the_nearest_of_those_that_the_filter_admits() -> None:
    made = synthetic.generate(400)
    where = {"half": 1}
    found = synthetic.truth(made, 3, where, after=True)
    admitted = [n for n in range(400) if made.fields["half"][n] == 1 and not made.deleted[n]]
    nearest = sorted(admitted, key=lambda n: -float(made.vectors[n] @ made.questions[3]))[: synthetic.K]
    assert found == [synthetic.row_id(number) for number in nearest]


def test_scores_count_what_was_missed_and_what_should_not_be_there() -> None:
    made = synthetic.generate(400)
    exact = synthetic.truth(made, 0, {}, after=True)
    gone = synthetic.row_id(int(np.flatnonzero(made.deleted)[0]))
    assert synthetic.scores(made, "deleted", [exact]) == {"recall@10": 1.0, "wrong": 0}
    assert synthetic.scores(made, "deleted", [[gone, *exact[:9]]]) == {"recall@10": 0.9, "wrong": 1}


def test_ours_keeps_the_protocol(tmp_path: Path) -> None:
    made = synthetic.generate(200)
    synthetic.write(made, tmp_path / "data")
    model = SyntheticModel(tmp_path / "data" / "passages.npy", tmp_path / "data" / "questions.npy", "")
    folder = tmp_path / "base"
    folder.mkdir()
    system = System()
    system.open(Setup(folder=folder, embedder=model, chunk_characters=1000, vector_only=True))
    task = {"questions": str(tmp_path / "data" / "questions.json"), "query_seconds": 20}
    report = Report(tmp_path / "report.json")
    try:
        filters(system, task, report, read_rows(tmp_path / "data" / "rows.jsonl"), model)
    finally:
        system.close()
        # To leave no process behind.
        asyncio.run(EdgeIndexStore(folder / "home").stop_owner())
    values = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (values["documents"], values["chunks"]) == (200, 200)
    for name in ("none", "50 %", "5 %", "deleted"):
        assert synthetic.scores(made, name, values["filters"][name]["lists"]) == {"recall@10": 1.0, "wrong": 0}


def test_questions_end_with_their_time() -> None:
    class Slow:
        about, filters = "", True

        def open(self, setup: Setup) -> None: ...
        def add(self, rows: Sequence[Row]) -> int:
            return len(rows)

        def search(self, query: str, k: int, where: object) -> list[str]:
            return [query]

        def delete(self, ids: Sequence[str]) -> None: ...
        def close(self) -> None: ...

    lists, times = ask_all(Slow(), [(str(number), {}) for number in range(50)], seconds=-1)
    assert len(lists) == len(times) == 1, "at least one is asked, and no more when the time is over"


# --- cells and tables -------------------------------------------------------------------------------------------------


def cell(state: str = "done", **values: Any) -> Cell:
    return Cell(
        state=state,
        versions={"p": "1"},
        data="d",
        commit="c",
        date="2026-01-01",
        peak_mb=100,
        disk_mb=5.0,
        values=values,
    )


def test_a_failure_is_told_without_paths_and_without_what_came_after_it() -> None:
    output = "Traceback\n  File x\nlib.errors.BusyError: /home/me/base is held\nTask was destroyed in /usr/lib/x.py"
    assert raised(output) == "lib.errors.BusyError: ... is held"
    assert raised("killed\n") == "killed"
    assert raised("") == "no message"


def test_cells_are_kept_and_run_again_only_for_other_versions_data_or_after_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    Results(path, MACHINE).put("a", "quality", "s", cell())
    Results(path, MACHINE).put("b", "quality", "s", cell("failed: x"))
    kept = Results(path, MACHINE)
    assert kept.has("a", "quality", "s", versions={"p": "1"}, data="d")
    assert not kept.has("a", "quality", "s", versions={"p": "2"}, data="d")
    assert not kept.has("a", "quality", "s", versions={"p": "1"}, data="other")
    assert not kept.has("b", "quality", "s", versions={"p": "1"}, data="d")


def test_two_calls_at_once_lose_no_cell(tmp_path: Path) -> None:
    path = tmp_path / "peers.json"
    first, second = Results(path, MACHINE), Results(path, MACHINE)
    first.put("a", "quality", "s", cell())
    second.put("b", "quality", "s", cell())
    assert list(Results(path, MACHINE).document()["cells"]) == ["a|quality|s", "b|quality|s"]


def quality(ndcg: float, p50: float) -> Cell:
    values: dict[str, Any] = {"documents": 10, "chunks": 12, "queries": 4, "ingest_seconds": 2.0}
    values |= {"ingest_cpu_seconds": 1.0, "questions_cpu_seconds": 0.4, "load": [1.0, 2.0]}
    values |= {"p50_ms": p50, "p99_ms": 9.0, "ndcg@10": ndcg, "recall@10": 0.5}
    return cell(**values)


def test_the_tables_say_where_a_peer_is_better_and_what_was_stopped(tmp_path: Path) -> None:
    results = Results(tmp_path / "peers.json", MACHINE)
    results.put("ours", "quality", "s", quality(0.5, 20.0))
    results.put("txtai", "quality", "s", quality(0.75, 30.0))
    results.put("haystack", "quality", "s", cell("stopped after 8 min of ingest", about="x"))
    asked = {"none": {"queries": 1, "p50_ms": 1.0, "p99_ms": 2.0, "recall@10": 0.25, "wrong": 3}}
    results.put("txtai", "filters", "100 rows", cell("stopped 10 min after ingest", ingest_seconds=7.0, filters=asked))
    page = "\n".join(peers_table(results.document()))
    assert "| Kaijuan | 0.500 / 0.500 |" in page
    assert "| txtai | **0.750** / 0.500 |" in page
    assert "| Haystack | stopped after 8 min of ingest |" in page
    assert "- ndcg@10 on s: txtai 0.750, ours 0.500" in page
    assert "ours 20.0" not in page, "ours is faster: no peer is named there"
    assert "| txtai | 7 (0) | 0.250, 1 / 2 | stopped 10 min after ingest |" in page
    assert page.splitlines()[-1] != ""
