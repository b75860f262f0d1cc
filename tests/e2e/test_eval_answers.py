"""`kaijuan eval answers` as a user types it, with the onboard model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kaijuan.cli import app

DOCUMENTS: list[dict[str, Any]] = [
    {"_id": "leave", "title": "年假", "text": "员工每年有十五天年假，需提前三天申请。"},
    {"_id": "backups", "title": "Backup", "text": "Full backups are kept for ninety days on the second site."},
    {"_id": "claims", "title": "报销", "text": "差旅报销须在三十天内提交，附发票。"},
    {"_id": "valves", "title": "Valves", "text": "ERR-9988 means that the valve did not close."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"_id": "q1", "text": "员工每年有几天年假？", "answer": "15天"},
    {"_id": "q2", "text": "how long are full backups kept", "answer": ["ninety days", "90 days"]},
    {"_id": "q3", "text": "What does ERR-9988 mean?", "answer": ["the valve did not close", "valve open"]},
    {"_id": "q4", "text": "What does ERR-1234 mean?", "answerability": "UNANSWERABLE"},
]
JUDGED = {"q1": "leave", "q2": "backups", "q3": "valves"}
STRANGERS: list[dict[str, Any]] = [
    {"_id": f"s{at}", "text": text} for at, text in enumerate(("谁发明了电话？", "What is ZX-4711?"))
]

Run = Callable[..., tuple[int, Any, str]]


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sets; the home in it is used by all tests, so that the model is exported once."""
    place = tmp_path_factory.mktemp("answers")
    folder = place / "tiny"
    write(folder, "corpus.jsonl", DOCUMENTS)
    write(folder, "queries.jsonl", QUESTIONS)
    qrels = ["query-id\tcorpus-id\tscore", *(f"{query}\t{document}\t1" for query, document in JUDGED.items())]
    (folder / "qrels.tsv").write_text("\n".join(qrels), encoding="utf-8")
    write(place / "strangers", "questions.jsonl", STRANGERS)
    disputed: dict[str, Any] = {
        "question": "When was the church built?",
        "documents": [{"text": "The church was built in 1856."}, {"text": "The church was built in 1900."}],
        "gold_answers": ["1856"],
        "wrong_answers": ["1900"],
    }
    write(place / "ramdocs", "ramdocs.jsonl", [disputed])
    return place


@pytest.fixture
def run(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command: exit code, JSON or text, standard error."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words: object, as_json: bool = True) -> tuple[int, Any, str]:
        capsys.readouterr()
        end = ["--json"] if as_json else []
        code = app.run(["--home", str(place / "home"), "eval", "answers", *map(str, words), *end])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if as_json else shown.out, shown.err

    return call


def test_a_set_is_measured(run: Run, place: Path, tmp_path: Path) -> None:
    code, found, told = run("--data", place / "tiny", "--withheld", "--save", tmp_path / "answers.json")
    assert code == 0
    assert (found["set"], found["documents"], found["questions"], found["failed"]) == ("tiny", 4, 7, {})
    answerable = found["by_kind"]["answerable"]
    assert (answerable["answered"], answerable["hit"], answerable["cited_relevant"]) == (1.0, 1.0, 1.0)
    assert answerable["faithful"] == answerable["citation_recall"] == answerable["quotes_exact"] == 1.0
    assert found["refusal"]["table"]["answer"]["answered"] == 3
    assert found["judge"]["name"] == "rules"
    assert "asking tiny: 7 of 7" in told
    (saved,) = json.loads((tmp_path / "answers.json").read_text("utf-8"))["sets"]
    assert saved["summary"]["metrics"] == found["metrics"]
    assert {answer["id"] for answer in saved["answers"]} == {
        *("q1", "q2", "q3", "q4"),
        *(f"{q}/withheld" for q in JUDGED),
    }


def test_people_get_tables(run: Run, place: Path) -> None:
    code, text, _ = run("--data", place / "tiny", "--data", place / "ramdocs", as_json=False)
    assert code == 0
    rows = [line.split() for line in text.splitlines()]
    assert next(row[:3] for row in rows if row[:1] == ["answerable"]) == ["answerable", "3", "1.000"]
    assert any(row[:4] == ["the", "question", "answered", "partial"] for row in rows)
    assert any(row[:3] == ["documents", "disagree", "asked"] for row in rows)
    assert max(map(len, text.splitlines())) <= 100


def test_strangers_and_conflicts(run: Run, place: Path) -> None:
    code, found, _ = run("--data", place / "strangers", "--over", place / "tiny")
    assert (code, found["questions"]) == (0, 2)
    assert sum(found["refusal"]["table"]["refuse"].values()) == 2
    assert found["refusal"]["table"]["refuse"]["refused"] >= 1
    code, found, _ = run("--data", place / "ramdocs")
    assert code == 0
    (kind,) = found["conflicts"].items()
    assert (kind[0], kind[1].pop("questions")) == ("misinformed", 1)
    assert sum(kind[1].values()) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--data", "nowhere"], 2, "no folder"),
        (["--data", "strangers"], 2, "--over"),
        (["--data", "tiny", "--over", "tiny"], 2, "--over"),
        (["--data", "tiny", "--judge", "oracle"], 2, "oracle"),
        (["--data", "tiny", "--judge", "model"], 2, "judge_url"),
        (["--data", "tiny", "--save", "nowhere/x.json"], 2, "cannot be written"),
        (["--data", "home"], 2, "no answer set"),
        (["--limit", "1"], 2, "--data"),
        (["--data", "tiny", "--limit", "-1"], 2, "--limit"),
    ],
)
def test_wrong_use_says_what_is_wrong(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, said: str
) -> None:
    (place / "home").mkdir(exist_ok=True)
    monkeypatch.chdir(place)
    got, shown, _ = run(*words)
    assert got == code
    assert said in json.dumps(shown["error"], ensure_ascii=False)


@pytest.fixture
def service() -> Iterator[str]:
    """Run a judge that rules on every second question and else replies with garbage."""
    asked: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["content-length"])))
            content = '{"grade": "none", "reason": "no"}' if b"backups" in asked[-1] else "I cannot say {"
            body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_judging_model_that_fails_now_and_then(
    run: Run, place: Path, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAIJUAN_EVAL__JUDGE_URL", service)
    monkeypatch.setenv("KAIJUAN_EVAL__JUDGE_MODEL", "tiny-judge")
    monkeypatch.setenv("KAIJUAN_EVAL__JUDGE_KEY", "sk-very-secret")
    code, found, told = run("--data", place / "tiny", "--judge", "model")
    assert code == 3
    assert found["judge"]["name"] == "tiny-judge"
    assert found["judge"]["answers"] == {"full": 0, "part": 0, "none": 1, "undecided": 0}
    assert (found["judge"]["failed"], found["judge"]["failures"]) == (2, {"unreadable": 2})
    assert found["judge"]["beside_rules"] == {"both": 1, "same": 0, "kinder": 0, "stricter": 1}
    # Of three answers one was ruled on: the failures are neither right nor wrong.
    assert found["by_kind"]["answerable"]["right"] == 0.0
    assert found["by_kind"]["answerable"]["citation_recall"] == 1.0  # quotations need no ruling
    code, text, more = run("--data", place / "tiny", "--judge", "model", as_json=False)
    assert code == 3
    assert "failed 2 times (2 unreadable)" in text
    assert "on 1 short answer: 0 the same, 0 kinder, 1 stricter" in text
    assert "sk-very-secret" not in json.dumps(found) + told + text + more


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_where_it_was(place: Path) -> None:
    rows = [{"_id": f"q{at}", "text": f"{at}: how long are full backups kept", "answer": "x"} for at in range(400)]
    folder = place / "many"
    write(folder, "corpus.jsonl", DOCUMENTS)
    write(folder, "queries.jsonl", rows)
    (folder / "qrels.tsv").write_text("".join(f"q{at}\tbackups\t1\n" for at in range(400)), encoding="utf-8")
    words = ["--home", str(place / "home"), "eval", "answers", "--data", str(folder), "--json"]
    command = [sys.executable, "-m", "kaijuan", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    unfinished = place / "home" / "evals" / "unfinished"
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and process.poll() is None:
        if sum(path.read_bytes().count(b"\n") for path in unfinished.glob("*.jsonl")) >= 5:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # In a process of its own too: the code of the package, which the kept answers depend on, is read once a process.
    found = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=280).stdout)
    assert 5 <= found["resumed"] < 400
    assert (found["questions"], found["metrics"]["questions"]) == (400, 400)
