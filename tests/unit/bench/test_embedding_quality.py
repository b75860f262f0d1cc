"""The comparison of the onboard engines: fair samples, an honest interval, operations counted as by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.embedding import multiply_adds
from bench.embedding_quality import interval, sample

from kaijuan.models.embedders.e5_weights import Shape


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = [{"_id": f"d{number}", "title": "", "text": f"text {number}"} for number in range(40)]
    questions = [{"_id": f"q{number}", "text": f"question {number}"} for number in range(12)]
    for name, rows in (("corpus", documents), ("queries", questions)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    graded = "".join(f"q{number}\td{number}\t1\nq{number}\td{number + 20}\t2\n" for number in range(11))
    (tmp_path / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{graded}q11\tgone\t1\n", encoding="utf-8")
    return tmp_path


def test_a_sample_holds_every_relevant_document_and_is_the_same_for_the_same_seed(folder: Path) -> None:
    documents, queries, grades = sample(folder, 15, 5, seed=1)
    assert len(documents) == 15
    assert len(queries) == 5
    assert {doc for query in queries for doc in grades[query]} <= documents.keys()
    assert sample(folder, 15, 5, seed=1) == (documents, queries, grades)
    assert sample(folder, 15, 5, seed=2) != (documents, queries, grades)


def test_a_question_whose_document_is_gone_is_not_asked(folder: Path) -> None:
    documents, queries, _ = sample(folder, 100, 100, seed=1)
    assert len(documents) == 40
    assert sorted(queries) == sorted(f"q{number}" for number in range(11))


def test_the_interval_is_of_the_average_over_sets() -> None:
    assert interval([{"differences": [0.1, 0.1]}, {"differences": [-0.1] * 50}], seed=1) == [0.0, 0.0]
    low, high = interval([{"differences": [0.0, 1.0] * 50}], seed=1)
    # The deviation of a mean of 100 coin throws is 0.05.
    assert low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.015)
    assert high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.015)


def test_operations_are_counted_as_by_hand() -> None:
    shape = Shape(width=4, layers=2, heads=2, inner=8, vocabulary=9, positions=9, epsilon=1e-5)
    # A layer: four products of 4 x 4 and two of 4 x 8 for each token; scores and mixing for each pair of tokens.
    assert multiply_adds(shape, [3, 5]) == (2 * (4 * 16 + 2 * 32) * 4, 2 * 2 * 4 * (9 + 25) / 2)
