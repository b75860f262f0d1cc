"""`kaijuan eval make`, `review` and `export` as a user types them, on the bundled samples and the onboard model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kaijuan.cli import app
from kaijuan.evals.sets import load_set
from kaijuan.samples import sample_folder

Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    assert app.run(["--home", str(home), "add", str(sample_folder())]) == 0
    return home


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `kaijuan eval`: exit code, JSON or text, standard error."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def call(*words: object, as_json: bool = True) -> tuple[int, Any, str]:
        capsys.readouterr()
        code = app.run(["--home", str(home), "eval", *map(str, words), *(["--json"] if as_json else [])])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if as_json else shown.out, shown.err

    return call


@pytest.fixture(scope="module")
def made(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a set of the samples, made once: everything in the train split but for the travel rules."""
    folder = tmp_path_factory.mktemp("sets") / "samples"
    words = ["--home", str(home), "eval", "make", str(folder), "--count", "8", "--json"]
    assert app.run(words) == 0
    return folder


def test_people_are_told_what_was_made_and_what_to_type_next(run: Run, tmp_path: Path) -> None:
    code, text, told = run("make", tmp_path / "set", "--kind", "table", "--count", "3", as_json=False)
    assert code == 0
    assert "3 questions in" in text
    assert "Version 1, from snapshot 1 of default (7 documents), seed 0." in text
    assert ["kind", "train", "dev", "test"] in [line.split() for line in text.splitlines()]
    assert "eval review" in text
    assert "eval retrieval --data" in text
    assert "reading documents: 7 of 7" in told

    code, text, _ = run("make", tmp_path / "set", "--kind", "table", "--count", "3", as_json=False)
    assert code == 0
    assert text.startswith("Nothing changed: version 1 in")


def test_the_same_command_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        code, facts, _ = run("make", folder, "--count", "5")
        assert (code, facts["version"], facts["unchanged"]) == (0, 1, False)
    paths = [path for path in sorted(one.rglob("*")) if path.is_file()]
    assert len(paths) >= 8
    for path in paths:
        if path.name != "set.json":  # which says when it was made
            assert (other / path.relative_to(one)).read_bytes() == path.read_bytes(), path.name
    facts, twin = (json.loads((each / "v1" / "set.json").read_text("utf-8")) for each in (one, other))
    assert {**facts, "made_at": ""} == {**twin, "made_at": ""}


def test_the_set_is_measured_like_any_other(run: Run, made: Path) -> None:
    code, found, _ = run("retrieval", "--data", made / "v1" / "train")
    assert code == 0
    assert found["queries"] == len(load_set(made / "v1" / "train").judged) > 0
    assert found["documents"] == 7
    assert found["problems"] == []
    assert found["metrics"]["recall@10"] == 1.0  # of seven documents


def test_a_review_from_list_to_export(run: Run, made: Path, tmp_path: Path) -> None:
    code, listed, _ = run("review", made, "list", "--limit", "0")
    assert code == 0
    ids = [row["id"] for row in listed["questions"]]
    assert all(row["split"] != "test" for row in listed["questions"])
    first, second, third = [row for row in listed["questions"] if row["answers"]][:3]

    code, said, _ = run("review", made, "approve", first["id"], "--by", "Lena", "--note", "good")
    assert code == 0
    assert said["questions"][0]["status"] == "approved"
    assert said["questions"][0]["reviews"][0]["by"] == "Lena"
    assert said["questions"][0]["reviews"][0]["note"] == "good"
    assert run("review", made, "reject", second["id"][:8])[1]["questions"][0]["status"] == "rejected"
    new = ("--question", "New words?", "--answer", "one", "--answer", "two")
    code, edited, _ = run("review", made, "edit", third["id"], *new)
    assert code == 0
    assert (edited["questions"][0]["question"], edited["questions"][0]["answers"]) == ("New words?", ["one", "two"])

    assert run("review", made, "list", "--status", "approved")[1]["found"] == 2
    assert run("review", made, "list", "--status", "open", "--limit", "1")[1]["found"] == len(ids) - 3
    queries = (made / "v1" / second["split"] / "queries.jsonl").read_text("utf-8")
    assert second["id"] not in queries
    assert "New words?" in queries

    code, done, _ = run("export", made, "--to", tmp_path / "good.jsonl", "--format", "jsonl", "--only", "approved")
    assert (code, done["questions"]) == (0, 2)
    code, done, _ = run("export", made, "--to", tmp_path / "beir", "--split", first["split"])
    assert code == 0
    assert second["id"] not in {query.id for query in load_set(tmp_path / "beir").queries}

    code, text, _ = run("review", made, "show", third["id"], as_json=False)
    assert "New words?" in text
    assert "one / two" in text
    assert "edit" in text


def test_the_test_split_is_shown_only_when_asked_for(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    assert run("make", folder, "--kind", "single", "--count", "4", "--shares", "0,0,100")[0] == 0
    code, listed, _ = run("review", folder, "list")
    assert (code, listed["questions"], listed["hidden"]) == (0, [], 4)
    code, listed, _ = run("review", folder, "list", "--split", "test")
    assert (code, len(listed["questions"])) == (0, 4)
    id = listed["questions"][0]["id"]
    code, said, _ = run("review", folder, "show", id)
    assert code == 2
    assert "--split test" in said["error"]["hint"]
    assert run("review", folder, "approve", id)[0] == 2
    assert run("review", folder, "approve", id, "--split", "test")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("make", "SET", "--shares", "50,50"), "three shares"),
        (("make", "SET", "--shares", "50,50,50"), "do not make 100"),
        (("make", "SET", "--estimate"), "--model"),
        (("make", "SET", "--model"), "eval.judge_url"),
        (("make", "SET", "--as-of", "99"), "no snapshot 99"),
        (("review", "SET", "list"), "no set made by kaijuan"),
        (("export", "SET", "--to", "SET/x.csv"), "no set made by kaijuan"),
        (("retrieval", "--data", "SET"), "no folder"),
    ],
)
def test_wrong_use_is_named(run: Run, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    code, said, _ = run(*(word.replace("SET", str(tmp_path / "set")) for word in words))
    assert code in (1, 2)
    assert told in said["error"]["message"] + said["error"]["hint"]
    assert not (tmp_path / "set").exists()


def test_a_base_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--home", str(tmp_path / "none"), "eval", "make", str(tmp_path / "set"), "--json"]
    assert app.run(words) == 1
    assert "no home folder" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_wrong_reviews_are_named_and_change_nothing(run: Run, made: Path) -> None:
    before = (made / "reviews.jsonl").read_bytes() if (made / "reviews.jsonl").exists() else b""
    row = run("review", made, "list", "--limit", "1")[1]["questions"][0]
    for words in (
        ("approve",),
        ("approve", "zzzzzz"),
        ("edit", row["id"]),
        ("edit", row["id"], "--question", " "),
        ("approve", row["id"], "--answer", "x"),
        ("list", row["id"]),
    ):
        assert run("review", made, *words)[0] in (1, 2), words
    after = (made / "reviews.jsonl").read_bytes() if (made / "reviews.jsonl").exists() else b""
    assert after == before


def test_the_folder_of_a_set_leads_to_its_splits(run: Run, made: Path) -> None:
    code, said, _ = run("retrieval", "--data", made)
    assert code == 2
    assert "v1/train" in said["error"]["hint"]
