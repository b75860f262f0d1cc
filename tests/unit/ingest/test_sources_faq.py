"""Files of questions and answers: how columns are found, how pairs are named, what a bad row becomes."""

from pathlib import Path

import pytest

from kaijuan.answer.faq import exchanges
from kaijuan.ingest.parsers.faq import FaqParser
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.faq import Columns, FaqSource


async def pairs(path: Path, **columns: str) -> tuple[list[SourceItem], list[SourceFailure]]:
    items: list[SourceItem] = []
    failures: list[SourceFailure] = []
    async for found in FaqSource(max_bytes=10_000, columns=Columns(**columns)).walk(f"faq:{path}"):
        if isinstance(found, SourceItem):
            items.append(found)
        else:
            failures.append(found)
    return items, failures


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
async def test_chinese_columns_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "常见问题.csv"
    path.write_text('问题,答案,部门\n年假有几天？,"满一年五天。\n满十年十天。",人事部\n', encoding=encoding)
    (item,), failures = await pairs(path)
    assert failures == []
    assert item.data.decode() == "问：年假有几天？\n答：满一年五天。\n满十年十天。"
    assert (item.kind, item.title, item.metadata) == ("faq", "年假有几天？", {"部门": "人事部"})


async def test_a_pair_is_one_block_that_the_answering_room_knows_as_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "faq.tsv"
    path.write_text("Question\tAnswer\nHow long?\tTen days.\n")
    (item,), _ = await pairs(path)
    parsed = FaqParser().parse(item.data, item.name)
    (block,) = parsed.blocks
    (pair,) = exchanges(block.span.of(parsed.text))
    assert (pair.question, pair.answer.of(parsed.text)) == ("How long?", "Ten days.")


async def test_lines_of_json_and_named_columns(tmp_path: Path) -> None:
    path = tmp_path / "faq.jsonl"
    path.write_text(
        '{"nr": 7, "ask": "Why?", "say": "So.", "tags": ["a"], "n": 1.5, "deep": {"x": 1}}\nnot json\n[]\n{}\n'
    )
    (item,), failures = await pairs(path, question="ask", answer="say", id="nr")
    assert item.source.endswith("faq.jsonl#7")
    assert item.metadata == {"tags": ("a",), "n": 1.5}
    assert [(f.code, f.message.partition(":")[0]) for f in failures] == [
        ("document_broken", f"faq.jsonl, row {number}") for number in (2, 3, 4)
    ]


async def test_a_better_answer_keeps_the_address_and_a_second_pair_is_told(tmp_path: Path) -> None:
    path = tmp_path / "faq.csv"
    path.write_text("question,answer\nWhy?,So.\nWhy?,Because.\n,none\nHow?,\n")
    (before,), failures = await pairs(path)
    assert [
        next(words for words in ("already met", "question is empty", "answer is empty") if words in failure.message)
        for failure in failures
    ] == ["already met", "question is empty", "answer is empty"]
    path.write_text("question,answer\nWhy?,Better.\n")
    (after,), _ = await pairs(path)
    assert before.source == after.source
    assert before.data != after.data


@pytest.mark.parametrize("text", ["name,price\na,1\n", "question,price\na,1\n", "", "\x00\x01\x02\x03" * 100])
async def test_a_table_without_pairs_is_one_failure(tmp_path: Path, text: str) -> None:
    path = tmp_path / "faq.csv"
    path.write_text(text)
    items, failures = await pairs(path)
    assert items == []
    assert len(failures) == 1


async def test_a_folder_is_refused(tmp_path: Path) -> None:
    items, failures = await pairs(tmp_path)
    assert items == []
    assert [failure.code for failure in failures] == ["source_missing"]
