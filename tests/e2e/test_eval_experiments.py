"""`kaijuan eval experiment`, `ablate`, `tune`, `gate` and `report` as a user types them, with the onboard model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from kaijuan.cli import app

DOCUMENTS = {
    "leave": "员工每年有十五天年假，需提前三天申请。",
    "backups": "Full backups are kept for ninety days on the second site.",
    "claims": "差旅报销须在三十天内提交，附发票。",
    "valves": "ERR-9988 means that the valve did not close.",
    "visits": "来访客人须在前台登记，由员工陪同进入办公区。",
    "noise": "The canteen opens at eleven and closes at two.",
}
QUESTIONS = {
    "q1": ("年假有几天？", "leave"),
    "q2": ("how long are full backups kept", "backups"),
    "q3": ("ERR-9988", "valves"),
    "q4": ("差旅的发票最晚什么时候交？", "claims"),
    "q5": ("报销 期限", "claims"),
    "q6": ("客人来访怎么登记", "visits"),
    "q7": ("when does the canteen close", "noise"),
    "q8": ("请年假要提前多久", "leave"),
}
EXPERIMENT = """
sets = ["tiny"]
seed = 5
metric = "mrr@10"
[variants.rrf]
retrieve.fusion = "rrf"
[variants.words]
retrieve.dense_weight = 0.1
"""
TUNING = """
sets = ["tiny"]
method = "grid"
[space]
retrieve.dense_weight = [0.2, 0.8]
"""

Run = Callable[..., tuple[int, Any, str]]


def write(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    corpus = [{"_id": id, "title": "", "text": text} for id, text in DOCUMENTS.items()]
    queries = [{"_id": id, "text": text} for id, (text, _) in QUESTIONS.items()]
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8")
    qrels = ["query-id\tcorpus-id\tscore", *(f"{id}\t{document}\t1" for id, (_, document) in QUESTIONS.items())]
    (folder / "qrels.tsv").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home whose model and base of the set are made."""
    place = tmp_path_factory.mktemp("kept")
    folder = write(place / "tiny")
    assert app.run(["--home", str(place / "home"), "eval", "retrieval", "--data", str(folder), "--json"]) == 0
    return place


@pytest.fixture
def place(kept: Path, tmp_path: Path) -> Path:
    """Return a folder with the set, and a home that has the model."""
    write(tmp_path / "tiny")
    cache = tmp_path / "home" / "evals" / "cache"
    cache.mkdir(parents=True)
    for file in (kept / "home" / "evals" / "cache").glob("e5-*.bin"):
        shutil.copy(file, cache)
    return tmp_path


@pytest.fixture
def run(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command in that home: exit code, JSON or text, standard error."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(place)

    def call(*words: object, as_json: bool = True) -> tuple[int, Any, str]:
        capsys.readouterr()
        code = app.run(["--home", "home", "eval", *map(str, words), *(["--json"] if as_json else [])])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if as_json else shown.out, shown.err

    return call


def test_an_experiment_is_run_once_compared_and_shown(run: Run, place: Path) -> None:
    (place / "trial.toml").write_text(EXPERIMENT, encoding="utf-8")
    code, found, told = run("experiment", "trial.toml")
    assert code == 0
    assert set(found) == {"experiment", "metric", "stage", "seed", "sets", "variants", "results"}
    assert [(arm["name"], arm["changes"]) for arm in found["variants"]] == [
        ("rrf", {"retrieve.fusion": "rrf"}),
        ("words", {"retrieve.dense_weight": 0.1}),
    ]
    for arm in found["variants"]:
        assert arm["sets"]["tiny"]["questions"] == 8
        assert 0 < arm["pooled"]["p"] <= arm["pooled"]["p_holm"] <= 1
    assert "asking tiny, rrf: 8 of 8" in told

    code, again, told = run("experiment", "trial.toml")
    assert (code, again) == (0, found)
    assert "asking" not in told

    code, text, _ = run("experiment", "trial.toml", as_json=False)
    assert code == 0
    assert "rrf" in text
    assert "eval report trial" in text

    for language, head in (("en", "Variants against the baseline"), ("zh", "变体与基线")):
        code, facts, _ = run("report", "trial", "--out", f"{language}.html", "--language", language)
        assert code == 0
        assert (facts["experiment"], facts["runs"]) == ("trial", 3)
        page = (place / f"{language}.html").read_text(encoding="utf-8")
        assert head in page
        assert html.fromstring(page).xpath("//svg")


def test_an_ablation_tells_what_each_stage_is_worth(run: Run) -> None:
    code, found, _ = run("ablate", "--data", "tiny", "--metric", "hit@1")
    assert code == 0
    names = [arm["name"] for arm in found["variants"]]
    assert names == ["dense only", "lexical only", "without the cut", "fused by rrf"]
    assert found["variants"][1]["pooled"]["effect"] <= 0
    code, text, _ = run("ablate", "--data", "tiny", "--metric", "hit@1", as_json=False)
    assert (code, "lexical only" in text) == (0, True)


def test_a_search_over_settings_reports_on_questions_held_out(run: Run, place: Path) -> None:
    (place / "search.toml").write_text(TUNING, encoding="utf-8")
    code, found, _ = run("tune", "search.toml")
    assert code == 0
    assert [trial["values"] for trial in found["trials"]] == [
        {"retrieve.dense_weight": 0.2},
        {"retrieve.dense_weight": 0.8},
    ]
    assert found["dev_questions"] + found["test_questions"] == 8
    assert (found["best"] is None) == (found["held_out"] is None)
    code, text, _ = run("tune", "search.toml", as_json=False)
    assert code == 0
    assert "No trial was better" in text or "No significant gain" in text


def test_a_gate_passes_what_is_as_good_and_stops_what_is_worse(run: Run, place: Path) -> None:
    code, written, _ = run("gate", "--baseline", "base.json", "--data", "tiny", "--write")
    assert code == 0
    assert written["sets"]["tiny"]["hit@1"] > 0.8
    code, found, _ = run("gate", "--baseline", "base.json", "--data", "tiny")
    assert (code, found["passed"], found["failed"], found["changes"]) == (0, True, [], {})

    tree = json.loads((place / "base.json").read_text(encoding="utf-8"))
    (place / "home" / "config.toml").write_text("[retrieve]\ncut_relevance = 1.0\n", encoding="utf-8")
    code, found, _ = run("gate", "--baseline", "base.json", "--data", "tiny")
    assert (code, found["passed"], found["failed"]) == (4, False, ["tiny"])
    assert found["changes"] == {"retrieve.cut_relevance": [tree["settings"]["retrieve"]["cut_relevance"], 1.0]}
    code, text, _ = run("gate", "--baseline", "base.json", "--data", "tiny", as_json=False)
    assert code == 4
    assert "Failed: a drop of more than 0.01 with p below 0.05 on tiny." in text


def test_wrong_use_is_named_and_asks_nothing(run: Run, place: Path) -> None:
    (place / "bad.toml").write_text('sets = ["tiny"]\n[variants.a]\nretrieve.fussion = "rrf"\n', encoding="utf-8")
    (place / "lost.toml").write_text('sets = ["lost"]\n[variants.a]\nretrieve.fusion = "rrf"\n', encoding="utf-8")
    (place / "cut.json").write_text('{"format": 1, "sets', encoding="utf-8")
    (place / "cut.json.gz").write_bytes(b"\x1f\x8b\x08\x00")
    for words, said in (
        (["experiment", "bad.toml"], "Do you mean retrieve.fusion?"),
        (["experiment", "lost.toml"], "There is no folder"),
        (["experiment", "none.toml"], "cannot be read"),
        (["tune", "bad.toml"], "has a key variants"),
        (["gate", "--baseline", "none.json", "--data", "tiny"], "Make it with --write"),
        (["gate", "--baseline", "cut.json", "--data", "tiny"], "damaged"),
        (["gate", "--baseline", "cut.json", "--data", "tiny", "--alpha", "2"], "level of significance"),
        (["ablate", "--data", "tiny", "--metric", "ndcg"], "do you mean"),
        (["report"], "no results"),
        (["report", "cut.json.gz"], "cut short"),
        (["report", "none"], "cannot be read"),
    ):
        code, found, told = run(*words)
        assert code == 2, words
        assert said in f"{found['error']['message']} {found['error']['hint']}", words
        assert "asking" not in told
