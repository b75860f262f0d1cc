"""What is searched with chunks and is no part of their text: summaries, descriptions, contexts."""

from __future__ import annotations

import pytest

from kaijuan.core.documents import BlockKind, ChunkLevel
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.describe import described
from kaijuan.ingest.chunkers.enrich import enriched, enrichment
from kaijuan.ingest.chunkers.recursive import RecursiveChunker
from kaijuan.ingest.chunkers.situate import names_of, situated
from kaijuan.ingest.chunkers.summary import summary
from kaijuan.ingest.ports import Facts
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.testing.contracts.chunker import PieceTokenizer, blocks_of

TOKENS = PieceTokenizer()
PEARS = [
    "The orchard of Lindenfield grows pears on forty acres of clay.",
    "Its pears are picked in September and sold at the market in Lindenfield.",
    "It rained.",
    "A bicycle was found behind the shed by somebody who had nothing to do with this.",
    "The market buys the pears of the orchard by weight, at a price set in August.",
]
RICE = [
    "青禾农场在长江边种植水稻，面积四百亩。",
    "农场的水稻九月收割，稻谷卖给县里的粮站。",
    "那天下雨了。",
    "有人在仓库后面捡到一辆自行车，与此无关。",
    "粮站按重量收购农场的稻谷，价格八月公布。",
]


def size(text: str) -> int:
    return len(TOKENS.token_spans(text))


@pytest.mark.parametrize(
    ("lines", "telling", "beside"), [(PEARS, (0, 1, 4), 3), (RICE, (0, 1, 4), 3)], ids=["en", "zh"]
)
def test_a_summary_is_made_of_the_sentences_that_others_share(
    lines: list[str], telling: tuple[int, ...], beside: int
) -> None:
    text, blocks = blocks_of((BlockKind.HEADING, "Title"), *((BlockKind.PARAGRAPH, line) for line in lines))
    room = sum(size(lines[at]) for at in telling)
    spans = summary(text, blocks, room, size)
    said = [span.of(text) for span in spans]
    assert set(said) <= set(lines)
    assert lines[beside] not in said
    assert said[0] == lines[0], "in the order of the text"
    assert sum(map(size, said)) <= room
    assert summary(text, blocks, 3, size) == [], "no sentence fits"
    assert summary(text, blocks[:1], room, size) == []


def test_long_documents_are_summed_up_from_all_their_parts() -> None:
    lines = [f"Part {n} tells of machine M{n} and of how the works keep machine M{n} running." for n in range(2000)]
    text, blocks = blocks_of(*((BlockKind.PARAGRAPH, line) for line in lines))
    spans = summary(text, blocks, 100, size)
    assert 0 < sum(size(span.of(text)) for span in spans) <= 100


def test_only_documents_with_enough_children_get_a_point_of_their_own() -> None:
    text, blocks = blocks_of(
        (BlockKind.HEADING, "果园 Orchard"), *((BlockKind.PARAGRAPH, line) for line in PEARS + RICE)
    )
    settings = ChunkSettings(child_tokens=16, max_tokens=32, parent_tokens=64, summary_chunks=4, summary_tokens=64)
    drafts = RecursiveChunker(settings.sizes()).chunk(text, blocks, TOKENS)
    facts = Facts(title="果园", kind="markdown", language="zh")
    made = enriched(settings, facts, text, blocks, drafts, TOKENS)
    own, *others = made
    assert own.level is ChunkLevel.DOCUMENT
    assert own.span == Span(0, len(text))
    assert own.context == "果园 Orchard"
    assert size(own.search_text) <= 64
    for before, after in zip(drafts, others, strict=True):
        assert after.span == before.span
        assert after.parent == (0 if before.parent is None else before.parent + 1)
    few = settings.model_copy(update={"summary_chunks": 100})
    assert enriched(few, facts, text, blocks, drafts, TOKENS) == drafts
    assert enrichment(settings) != enrichment(few) != enrichment(ChunkSettings(summaries=False)) == ""


TABLE = "| City | Pears | Price |\n|---|---|---|\n| Lind | 4 | 2.5 |\n| Ulm | 4 | 3.0 |"


def test_a_table_is_described_by_its_columns() -> None:
    text, blocks = blocks_of((BlockKind.PARAGRAPH, "Sales:"), (BlockKind.TABLE, TABLE))
    assert described(text, blocks[1:], blocks[1].span, "en") == "Table with columns City, Pears, Price"
    assert described(text, blocks[1:], blocks[1].span, "zh") == "表格，各列为City、Pears、Price"
    assert described(text, blocks, Span(0, 5), "en") == "", "prose needs no description"


def test_code_is_described_by_what_it_defines() -> None:
    code = 'def read_settings_file(path):\n    """Return the settings of a folder."""\n    return path\n'
    text, blocks = blocks_of((BlockKind.CODE, code.strip()))
    said = described(text, blocks, blocks[0].span, "en")
    assert said == "code that defines read_settings_file (read settings file): Return the settings of a folder."
    assert described(text, blocks, blocks[0].span, "zh").startswith(
        "代码，定义read_settings_file (read settings file)："
    )


def test_a_context_names_what_the_chunk_does_not() -> None:
    text = "青禾科技公司成立于 2010 年。青禾科技公司生产水泵。该公司获得过三次奖。"
    names = names_of(text)
    assert names == ["青禾科技公司"]
    facts = Facts(title="年报", kind="pdf", language="zh", metadata={"date": "2024-03-01"})
    said = situated(facts, ("第一章", "荣誉"), names, "该公司获得过三次奖。")
    assert said == "出自《年报》，日期 2024-03-01，“荣誉”部分，涉及青禾科技公司"
    assert "青禾" not in situated(facts, (), names, "青禾科技公司生产水泵。")
    english = names_of("Green Field Works opened in 2010. Green Field Works makes pumps. The firm won prizes.")
    assert english == ["Green Field Works"]
    plain = Facts(title="Report", kind="pdf", language="en")
    assert situated(plain, (), english, "The firm won prizes.") == "From “Report”, about Green Field Works"


def test_contexts_and_descriptions_leave_text_and_spans_alone() -> None:
    text, blocks = blocks_of((BlockKind.PARAGRAPH, "Words about pears."), (BlockKind.TABLE, TABLE))
    settings = ChunkSettings(
        child_tokens=16, max_tokens=48, parent_tokens=64, summaries=False, contexts="rules", descriptions=True
    )
    drafts = RecursiveChunker(settings.sizes()).chunk(text, blocks, TOKENS)
    made = enriched(settings, Facts(title="T", kind="text", language="en"), text, blocks, drafts, TOKENS)
    assert [(one.span, one.tokens, one.parent) for one in made] == [
        (one.span, one.tokens, one.parent) for one in drafts
    ]
    assert all(one.context.startswith("From “T”") for one in made if one.level is ChunkLevel.CHILD)
    assert any("Table with columns" in one.context for one in made)
