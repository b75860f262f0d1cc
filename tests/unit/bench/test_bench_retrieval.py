"""The bench of retrieval shows what the evals room measured."""

from __future__ import annotations

import json
import math
from pathlib import Path

from bench.metrics import load_set, ndcg, recall
from bench.retrieval import measured
from bench.run import retrieval_table

from kaijuan.evals.retrieval import Options


def test_a_set_is_measured_and_shown_in_one_row(tmp_path: Path) -> None:
    folder = tmp_path / "leave"
    folder.mkdir()
    rows = [{"_id": "d1", "title": "年假", "text": "员工每年有十五天年假。"}, {"_id": "d2", "text": "Valves close."}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "年假有几天？"}\n{"_id": "q2", "text": " "}', "utf-8")
    (folder / "qrels.tsv").write_text("q1\td1\t1\nq2\td2\t1", "utf-8")

    data = load_set(folder)
    assert (data.queries, data.grades) == ({"q1": "年假有几天？"}, {"q1": {"d1": 1}})

    found = measured(folder, tmp_path / "home", Options())
    heads, _, row = retrieval_table({"sets": [found]})
    assert heads == ("| set | documents | chunks | questions | dense | lexical | fused | final | final recall@10 |")
    assert row == "| leave | 2 | 2 | 1 | 1.000 | 1.000 | 1.000 | 1.000 | 1.000 |"


def test_single_questions_are_scored_by_the_same_library() -> None:
    assert math.isclose(ndcg(["x", "a"], {"a": 2, "b": 0}, 10), 1 / math.log2(3))
    assert recall(["x", "a"], {"a": 1, "b": 1}, 10) == 0.5
    assert ndcg([], {"a": 1}, 10) == 0.0
