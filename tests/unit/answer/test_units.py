"""What may be quoted of a passage."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kaijuan.answer.cite import text_of
from kaijuan.answer.phrases import CHINESE, ENGLISH
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import Unit, cells, folded, one_line, units_of
from kaijuan.core.documents import BlockKind
from kaijuan.retrieve.results import Passage

MakePassage = Callable[..., Passage]
P, H, T, L, C = BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.TABLE, BlockKind.LIST, BlockKind.CODE
TABLE = "| 级别 | 年假 |\n| --- | --- |\n| 经理 | 15 天 |\n| 员工 | 10 天 |"


def quotes(units: list[Unit]) -> list[str]:
    return [unit.quote for unit in units]


def test_paragraphs_give_sentences_and_headings_nothing(passage: MakePassage) -> None:
    units = units_of(passage("手册", (H, "# 休假"), (P, "年假十天。可顺延。")), 0, AnswerSettings())
    assert quotes(units) == ["年假十天。", "可顺延。"]
    assert {unit.context for unit in units} == {"手册 › 休假"}


def test_spans_count_in_the_version(passage: MakePassage) -> None:
    units = units_of(passage("手册", (P, "年假十天。可顺延。"), start=1000), 0, AnswerSettings())
    assert [unit.span.start for unit in units] == [1000, 1005]


def test_a_short_list_is_offered_whole_with_its_lead_in(passage: MakePassage) -> None:
    units = units_of(passage("", (P, "见下文。须提交："), (L, "- 申请表\n- 批准书")), 0, AnswerSettings())
    assert quotes(units) == ["见下文。", "须提交：\n\n- 申请表\n- 批准书", "申请表", "批准书"]


def test_a_long_list_is_offered_by_items_only(passage: MakePassage) -> None:
    items = "\n".join(f"- 第{n}项材料" for n in range(30))
    units = units_of(passage("", (L, items)), 0, AnswerSettings(longest_list=50))
    assert len(units) == 30


def test_a_table_gives_rows_with_their_header(passage: MakePassage) -> None:
    units = units_of(passage("", (T, TABLE)), 0, AnswerSettings())
    assert quotes(units) == ["经理 | 15 天", "员工 | 10 天"]
    assert {unit.header_quote for unit in units} == {"级别 | 年假"}
    assert text_of(units[0], CHINESE) == "级别：经理；年假：15 天"
    assert text_of(units[0], ENGLISH) == "级别: 经理; 年假: 15 天"


def test_a_table_without_a_rule_has_no_header(passage: MakePassage) -> None:
    units = units_of(passage("", (T, "a\tb\nc\td")), 0, AnswerSettings())
    assert quotes(units) == ["a\tb", "c\td"]
    assert text_of(units[1], ENGLISH) == "c; d"


def test_cells_keep_escaped_pipes() -> None:
    assert cells(r"a \| b | c") == ["a | b", "c"]


@pytest.mark.parametrize(
    "text", ["字" * 2000, "word " * 400, "甲乙，丙丁" * 300, "汉字" * 290 + "international" + "汉字" * 200]
)
def test_overlong_sentences_are_cut_between_words(passage: MakePassage, text: str) -> None:
    units = units_of(passage("", (P, text)), 0, AnswerSettings(longest_unit=200))
    assert all(len(unit.quote) <= 200 for unit in units)
    assert "".join("".join(quotes(units)).split()) == "".join(text.split())
    assert not any(unit.quote.endswith(("wor", "wo", "internat")) for unit in units)
    assert sum("international" in unit.quote for unit in units) == text.count("international")


def test_code_is_kept_by_lines(passage: MakePassage) -> None:
    [unit] = units_of(passage("", (C, "x = 1\ny = 2")), 0, AnswerSettings())
    assert text_of(unit, ENGLISH) == "x = 1\ny = 2"


def test_sentences_read_as_one_line() -> None:
    assert one_line("开卷\n有益 is\n good") == "开卷有益 is good"
    assert one_line("第一条 一线城市每晚 600 元。") == "第一条 一线城市每晚 600 元。"
    assert one_line("第三章　附则\n第一节") == "第三章 附则第一节"
    assert one_line("合 同 编 号： 甲 方") == "合同编号：甲方"
    assert folded("- 甲\n-  乙") == "甲\n乙"
    # Only a bullet at the beginning is layout.
    assert one_line("- Made by Famous Players- Lasky, 3 - 4 times.") == "Made by Famous Players- Lasky, 3 - 4 times."
    assert folded("Bogra- 6 * 7") == "Bogra- 6 * 7"


def test_a_semicolon_does_not_part_advice(passage: MakePassage) -> None:
    made = passage("", (BlockKind.PARAGRAPH, "请先断电；再重启。然后检查。"))
    assert [unit.quote for unit in units_of(made, 0, AnswerSettings())] == ["请先断电；再重启。", "然后检查。"]


def test_short_uneven_lines_are_rows_and_even_lines_are_prose(passage: MakePassage) -> None:
    rows = passage("", (BlockKind.PARAGRAPH, "项目 参数\n无线频段 470 至 510 MHz\n重量 2 kg"))
    assert [unit.quote for unit in units_of(rows, 0, AnswerSettings())] == [
        "项目 参数",
        "无线频段 470 至 510 MHz",
        "重量 2 kg",
    ]
    prose = passage("", (BlockKind.PARAGRAPH, "The first line of this text is\nabout as long as the one after\nit."))
    assert len(units_of(prose, 0, AnswerSettings())) == 1


def test_an_overlong_line_is_not_cut_inside_a_number(passage: MakePassage) -> None:
    made = passage("", (BlockKind.PARAGRAPH, "Cash flow (1,497,216) and 1,343,000 net " * 60))
    quotes = [unit.quote for unit in units_of(made, 0, AnswerSettings())]
    assert len(quotes) > 1
    for quote in quotes:
        assert quote.count("1,497,216") * 9 + quote.count("1,343,000") * 9 == sum(
            c.isdigit() or c == "," for c in quote
        )
