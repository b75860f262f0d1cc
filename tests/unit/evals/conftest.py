"""A small set in two languages, written where a test wants it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

DOCUMENTS = {
    "d1": ("年假", "员工每年有十五天年假，需提前三天申请。"),
    "d2": ("Backup", "Full backups are kept for ninety days on the second site."),
    "d3": ("报销", "差旅报销须在三十天内提交，附发票。"),
    "d4": ("Valves", "ERR-9988 means that the valve did not close."),
}
QUESTIONS = {"q1": "年假有几天？", "q2": "how long are full backups kept", "q3": "ERR-9988", "q4": "报销 期限"}
JUDGEMENTS = (("q1", "d1", 1), ("q2", "d2", 1), ("q3", "d4", 1), ("q4", "d3", 2))

WriteSet = Callable[..., Path]


@pytest.fixture
def write_set(tmp_path: Path) -> WriteSet:
    """Return a function that writes a set and gives its folder."""

    def write(
        name: str = "tiny",
        *,
        documents: Mapping[str, tuple[str, str]] = DOCUMENTS,
        questions: Mapping[str, str] = QUESTIONS,
        judgements: Sequence[tuple[str, str, int]] = JUDGEMENTS,
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        corpus = [{"_id": id, "title": title, "text": text} for id, (title, text) in documents.items()]
        queries = [{"_id": id, "text": text} for id, text in questions.items()]
        for file, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (folder / file).write_text(text, encoding="utf-8")
        lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, each)) for each in judgements)]
        (folder / "qrels.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return folder

    return write
