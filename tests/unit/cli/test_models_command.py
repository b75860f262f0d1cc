"""Golden questions are read from lines and from sets; shares are written as people write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from kaijuan.cli.models import _pair, _share, read_golden
from kaijuan.errors import UsageError
from kaijuan.verbs.models import GoldenQuestion


def test_lines_of_golden_questions(tmp_path: Path) -> None:
    lines = [
        {"question": "差旅上限？", "relevant": ["travel.pdf", "rules.md"]},
        {"text": "How many days?", "relevant": "leave.md"},
        {"question": "What else?"},
    ]
    file = tmp_path / "golden.jsonl"
    file.write_text("\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    assert read_golden(file) == [
        GoldenQuestion(question="差旅上限？", relevant=("travel.pdf", "rules.md")),
        GoldenQuestion(question="How many days?", relevant=("leave.md",)),
        GoldenQuestion(question="What else?"),
    ]


def test_a_set_gives_its_judged_questions(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{"_id": "b", "text": "y"}\n', encoding="utf-8")
    queries = '{"_id": "1", "text": "first"}\n{"_id": "2", "text": "second"}\n'
    (tmp_path / "queries.jsonl").write_text(queries, encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tb\t1\n", encoding="utf-8")
    assert read_golden(tmp_path) == [GoldenQuestion(question="first", relevant=("b",))]


@pytest.mark.parametrize("line", ["[1]", "{}", "not json", '{"question": "x", "relevant": 3}'])
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "golden.jsonl"
    file.write_text(f'{{"question": "good"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="Line 2"):
        read_golden(file)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_golden(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.5", 0.5), ("100%", 1.0), ("0", 0.0)])
def test_shares(text: str, share: float) -> None:
    assert _share(text) == pytest.approx(share)


def test_what_is_no_share_or_setting_is_wrong_use() -> None:
    with pytest.raises(typer.BadParameter):
        _share("half")
    with pytest.raises(typer.BadParameter):
        _pair("embedder.dimensions")
    assert _pair("embedder.url=http://host/v1?a=b") == ("embedder.url", "http://host/v1?a=b")
