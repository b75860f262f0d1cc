"""Evaluations by the service: for who runs it, and for nobody else."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.serving import Served, config_of, in_process

from kaijuan.core.identity import Role
from kaijuan.evals.experiments.run import evals_results, run_experiment
from kaijuan.evals.experiments.variants import read_experiment
from kaijuan.testing.embedders import HashEmbedder

DOCUMENTS = {"d1": "The probation period is three months.", "d2": "Lunch is served at noon in the canteen."}
QUESTIONS = {"q1": ("How long is the probation period?", "d1"), "q2": ("When is lunch served?", "d2")}
PLAN = 'sets = ["set"]\nlimit = 0\nseed = 1\nmetric = "ndcg@10"\n[variants.rrf]\nretrieve.fusion = "rrf"\n'
ROUTES = ("/evaluations", "/evaluations/trial", "/evaluations/trial/report")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with in_process(tmp_path / "home") as service:
        yield service


async def keep_experiment(folder: Path, home: Path) -> None:
    """Run a small experiment and keep its results in a home."""
    data = folder / "set"
    data.mkdir()
    _lines(data / "corpus.jsonl", [{"_id": id, "title": id, "text": text} for id, text in DOCUMENTS.items()])
    _lines(data / "queries.jsonl", [{"_id": id, "text": text} for id, (text, _) in QUESTIONS.items()])
    rows = "".join(f"{id}\t{document}\t1\n" for id, (_, document) in QUESTIONS.items())
    (data / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}", encoding="utf-8")
    (folder / "trial.toml").write_text(PLAN, encoding="utf-8")
    plan = read_experiment(folder / "trial.toml", config_of())
    await run_experiment(plan, home, evals_results(home), embedder=HashEmbedder)


def _lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


async def test_without_experiments_the_list_is_empty(served: Served) -> None:
    assert (await served.get("/evaluations")).json() == {"evaluations": []}
    assert (await served.get("/evaluations/trial")).status_code == 404


async def test_an_experiment_is_listed_shown_and_sent_as_a_page(served: Served, tmp_path: Path) -> None:
    await keep_experiment(tmp_path, served.engine.home)
    (listed,) = (await served.get("/evaluations")).json()["evaluations"]
    assert (listed["name"], listed["runs"]) == ("trial", 2)
    shown = (await served.get("/evaluations/trial")).json()
    assert shown["metric"] == "ndcg@10"
    assert [one["questions"] for one in shown["sets"]] == [2]
    assert shown["sets"][0]["stages"][-1]["scores"]["hit@1"] == 1.0
    (variant,) = shown["variants"]
    assert variant["changes"] == {"retrieve.fusion": "rrf"}
    assert variant["pooled"]["wins"] + variant["pooled"]["losses"] + variant["pooled"]["ties"] == 2
    page = await served.get("/evaluations/trial/report", params={"language": "zh"})
    assert page.headers["content-type"].startswith("text/html")
    # Not a page of the service's: it has scripts of its own.
    assert page.headers["content-disposition"].startswith("attachment")
    assert "trial" in page.text
    assert "zh-Hans" in page.text


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2Fresults", "other"])
async def test_no_name_leads_out_of_the_results(served: Served, tmp_path: Path, name: str) -> None:
    await keep_experiment(tmp_path, served.engine.home)
    assert (await served.get(f"/evaluations/{name}")).status_code in (404, 422)


async def test_only_who_runs_the_service_sees_them(served: Served, tmp_path: Path) -> None:
    await keep_experiment(tmp_path, served.engine.home)
    await served.user("olga", role=Role.OWNER)
    await served.user("rita")
    await served.user("otto", role=Role.OWNER, tenant="other")
    for path in ROUTES:
        assert (await served.get(path, user="olga")).status_code == 200
        for stranger in ("rita", "otto"):
            answer = await served.get(path, user=stranger)
            assert answer.status_code == 403
            assert "probation" not in answer.text
