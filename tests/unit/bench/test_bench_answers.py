"""The bench of answers shows what the evals room measured."""

from __future__ import annotations

import json
from pathlib import Path

from bench.answers import measured
from bench.tables import answers_table

from kaijuan.evals.answers.run import Options


def write(path: Path, rows: list[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_sets_are_measured_and_shown(tmp_path: Path) -> None:
    folder = tmp_path / "leave"
    write(
        folder / "corpus.jsonl",
        [{"_id": "d1", "text": "员工每年有十五天年假。"}, {"_id": "d2", "text": "Valves close."}],
    )
    write(folder / "queries.jsonl", [{"_id": "q1", "text": "员工每年有几天年假？", "answer": "15天"}])
    (folder / "qrels.tsv").write_text("q1\td1\t1\n", "utf-8")
    write(tmp_path / "strangers" / "questions.jsonl", [{"_id": "s", "text": "What is ZX-4711?"}])
    disputed = {
        "question": "When?",
        "documents": [{"text": "In 1856."}],
        "gold_answers": ["1856"],
        "wrong_answers": ["1"],
    }
    write(tmp_path / "disputed" / "ramdocs.jsonl", [disputed])

    home = tmp_path / "home"
    names = ("leave", "strangers", "disputed")
    sets = [measured(tmp_path / name, folder, home, Options()) for name in names]
    text = "\n".join(answers_table({"sets": sets}))
    assert "| leave | answerable | 1 | 1.000 | 1.000 | 1.000 |" in text
    assert "| leave | withheld | 1 |" in text
    assert "| strangers over leave | stranger | 1 | 0.000 |" in text
    assert "| disputed | misinformed | 1 |" in text
    assert "0 questions failed, the judge (rules) failed 0 times." in text
