"""`kaijuan eval retrieval` as a user types it, with the onboard model."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kaijuan.cli import app
from kaijuan.evals.results import read_runs

METRICS = ["ndcg@10", "recall@5", "recall@10", "recall@50", "mrr@10", "hit@1", "hit@5", "precision@5", "map"]
DOCUMENTS = [
    {"_id": "leave", "title": "年假", "text": "员工每年有十五天年假，需提前三天申请。"},
    {"_id": "backups", "title": "Backup", "text": "Full backups are kept for ninety days on the second site."},
    {"_id": "claims", "title": "报销", "text": "差旅报销须在三十天内提交，附发票。"},
    {"_id": "valves", "title": "Valves", "text": "ERR-9988 means that the valve did not close."},
]
QUESTIONS = [
    {"_id": "q1", "text": "年假有几天？"},
    {"_id": "q2", "text": "how long are full backups kept"},
    {"_id": "q3", "text": "ERR-9988"},
    {"_id": "q4", "text": "差旅的发票最晚什么时候交？"},
    {"_id": "q5", "text": "报销 期限"},
    {"_id": "unjudged", "text": "nobody knows"},
]
JUDGED = {"q1": "leave", "q2": "backups", "q3": "valves", "q4": "claims", "q5": "claims"}

Run = Callable[..., tuple[int, Any, str]]


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny")


def write(folder: Path, *, rows: list[dict[str, Any]] = QUESTIONS, judged: dict[str, str] = JUDGED) -> Path:
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(lines(DOCUMENTS), encoding="utf-8")
    (folder / "queries.jsonl").write_text(lines(rows), encoding="utf-8")
    qrels = ["query-id\tcorpus-id\tscore", *(f"{query}\t{document}\t1" for query, document in judged.items())]
    (folder / "qrels.tsv").write_text("\n".join(qrels), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the onboard model makes at its first use."""
    home = tmp_path_factory.mktemp("exported")
    folder = write(home / "tiny")
    assert app.run(["--home", str(home), "eval", "retrieval", "--data", str(folder), "--json"]) == 0
    return home / "evals" / "cache"


@pytest.fixture
def model(exported: Path, tmp_path: Path) -> None:
    """Put these files where this test's home has them."""
    cache = tmp_path / "home" / "evals" / "cache"
    cache.mkdir(parents=True)
    for file in exported.glob("e5-*.bin"):
        shutil.copy(file, cache)


@pytest.fixture
def run(model: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command in one home: exit code, JSON or text, standard error."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words: object, as_json: bool = True) -> tuple[int, Any, str]:
        capsys.readouterr()
        end = ["--json"] if as_json else []
        code = app.run(["--home", str(tmp_path / "home"), "eval", *map(str, words), *end])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if as_json else shown.out, shown.err

    return call


def test_a_set_is_measured_and_its_corpus_taken_in_once(run: Run, folder: Path, tmp_path: Path) -> None:
    code, first, told = run("retrieval", "--data", folder, "--save", tmp_path / "runs.json")
    assert code == 0
    assert (first["set"], first["documents"], first["queries"], first["problems"]) == ("tiny", 4, 5, [])
    assert list(first["metrics"]) == METRICS
    assert set(first["stages"]) == {"dense", "lexical", "fused", "final"}
    assert first["metrics"]["hit@1"] == 1.0
    assert first["metrics"]["precision@5"] == 0.2
    assert {kind: found["queries"] for kind, found in first["by_kind"].items()} == {
        "identifier": 1,
        "short": 1,
        "question": 3,
    }
    assert set(first["latency_ms"]) == {"p50", "p95", "p99"}
    assert (first["ingest"]["reused"], first["resumed"]) == (False, 0)
    assert "asking tiny: 5 of 5" in told
    (saved,) = read_runs(tmp_path / "runs.json")
    assert {query.query_id: query.rankings["final"][0] for query in saved.queries} == JUDGED

    code, second, _ = run("retrieval", "--data", folder)
    assert (code, second["ingest"]["reused"]) == (0, True)
    assert second["stages"] == first["stages"]

    code, kept, _ = run("bases")
    assert (code, [base["documents"] for base in kept["bases"]], kept["deleted"]) == (0, [4], 0)
    assert run("bases", "--clear")[1]["deleted"] == 1
    assert run("bases")[1]["bases"] == []


def test_people_get_a_table(run: Run, folder: Path) -> None:
    code, text, told = run("retrieval", "--data", folder, "--kinds", "--limit", "3", as_json=False)
    assert code == 0
    rows = [line.split() for line in text.splitlines()]
    assert ["stage", "nDCG@10", "R@5", "R@10", "R@50", "MRR@10", "hit@1", "hit@5", "P@5", "MAP"] in rows
    assert [row[0] for row in rows if row and row[0] in ("dense", "lexical", "fused", "final")] == [
        "dense",
        "lexical",
        "fused",
        "final",
    ]
    assert "4 documents, 4 chunks, 3 questions" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "asking tiny: 3 of 3" in told

    code, text, _ = run("bases", as_json=False)
    assert code == 0
    assert "finished" in text


def test_several_sets_are_measured_one_after_another(run: Run, folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", judged={"q1": "leave"})
    code, found, _ = run("retrieval", "--data", folder, "--data", other)
    assert code == 0
    assert [(each["set"], each["queries"], each["ingest"]["reused"]) for each in found["sets"]] == [
        ("tiny", 5, False),
        ("other", 1, True),
    ]


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("qrels.tsv", None, "no judgements"),
        ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\tnothing\t1\n", "No judgement"),
        ("queries.jsonl", '{"_id": "q1", "text": " "}\n', "1 question is blank: q1"),
        ("queries.jsonl", "not json\n", "not JSON"),
        ("queries.jsonl", "", "holds no question"),
        ("corpus.jsonl", "", "holds no document"),
        ("corpus.jsonl", '{"_id": "leave", "text": "a"}\n{"_id": "leave", "text": "b"}\n', "more than one document"),
        ("corpus.jsonl", '{"_id": "leave", "text": " "}\n', "could be taken in"),
        ("corpus.jsonl", None, "no corpus"),
    ],
)
def test_a_bad_set_is_wrong_use_and_says_why(
    run: Run, folder: Path, file: str, content: str | None, words: str
) -> None:
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content, encoding="utf-8")
    code, found, _ = run("retrieval", "--data", folder)
    assert (code, found["error"]["code"]) == (2, "eval_data_invalid")
    assert words in found["error"]["message"]
    assert found["error"]["hint"]


@pytest.mark.parametrize("words", [[], ["--data", "x", "--limit", "-1"], ["--data", "x", "-k", "0"]])
def test_a_command_line_that_cannot_be_read_is_wrong_use(run: Run, words: list[str]) -> None:
    code, found, _ = run("retrieval", *words)
    assert (code, found["error"]["code"]) == (2, "usage")


def test_a_missing_folder_and_a_bad_place_to_save(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("retrieval", "--data", tmp_path / "none")[0] == 2
    code, found, _ = run("retrieval", "--data", folder, "--save", tmp_path / "none" / "runs.json")
    assert (code, found["error"]["code"]) == (2, "usage")


def test_blank_and_repeated_questions_are_left_out_and_named(run: Run, tmp_path: Path) -> None:
    rows = [*QUESTIONS, {"_id": "q1", "text": "again"}, {"_id": "blank", "text": "  "}]
    folder = write(tmp_path / "messy", rows=rows, judged={**JUDGED, "blank": "leave"})
    code, found, _ = run("retrieval", "--data", folder)
    assert (code, found["queries"]) == (0, 5)
    assert [problem.partition(":")[0] for problem in found["problems"]] == [
        "1 question is blank",
        "1 question id comes twice; the first is kept",
    ]


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(model: None, tmp_path: Path) -> None:
    rows = [{"_id": f"q{n}", "text": f"how long are full backups number {n} kept"} for n in range(1000)]
    folder = write(tmp_path / "many", rows=rows, judged={row["_id"]: "backups" for row in rows})
    words = ["--home", str(tmp_path / "home"), "eval", "retrieval", "--data", str(folder), "--limit", "150", "--json"]
    command = [sys.executable, "-m", "kaijuan", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    unfinished = tmp_path / "home" / "evals" / "unfinished"
    try:
        wait_until(lambda: any(file.stat().st_size > 5_000 for file in unfinished.glob("*.jsonl")))
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
    assert (found["queries"], found["ingest"]["reused"]) == (150, True)
    assert 10 < found["resumed"] < 150
    assert list(unfinished.iterdir()) == []
    assert found["metrics"]["hit@1"] == 1.0


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
