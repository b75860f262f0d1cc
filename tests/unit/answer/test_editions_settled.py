"""Which sentences of an older edition a newer one overrules, for a question."""

from __future__ import annotations

import pytest
from tests.unit.answer.conftest import MakePassage

from kaijuan.answer.conflicts import settle
from kaijuan.answer.extract import Scored, read_units
from kaijuan.answer.named import named
from kaijuan.answer.question import read_question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import units_of
from kaijuan.core.documents import BlockKind

P = BlockKind.PARAGRAPH
RULES = ("差旅管理办法（2023 版）", "差旅管理办法（2025 版）")
HANDBOOK = ("Travel rules 2023", "Travel rules 2025")


def _kept(passage: MakePassage, question: str, titles: tuple[str, str], old: str, new: str) -> list[str]:
    passages = [passage(titles[0], (P, old), rank=1), passage(titles[1], (P, new), rank=2)]
    reads = read_units([unit for at, one in enumerate(passages) for unit in units_of(one, at, AnswerSettings())])
    scored = [Scored(read=read, coverage=0.5, similarity=0.8, score=1.0) for read in reads]
    asked = read_question(question)
    kept, _ = settle(asked, scored, reads, passages, named(asked, reads, passages))
    return [item.read.unit.quote for item in kept]


@pytest.mark.parametrize(
    ("question", "titles", "old", "new"),
    [
        (
            "谁负责解释差旅管理办法？",
            RULES,
            "文件编号 HR-012，版本 v1.0，自 2023 年 3 月 1 日起施行，由人力资源部负责解释。",
            "文件编号 HR-012，版本 v2.0，自 2025 年 1 月 1 日起施行。",
        ),
        (
            "Who keeps the original receipts?",
            HANDBOOK,
            "Claims are handed in within 30 days of the trip; the accounting office keeps the original receipts.",
            "Claims are handed in within 15 days of the trip.",
        ),
    ],
)
def test_what_the_newer_edition_leaves_out_is_not_overruled_by_it(
    passage: MakePassage, question: str, titles: tuple[str, str], old: str, new: str
) -> None:
    assert _kept(passage, question, titles, old, new) == [old, new]


@pytest.mark.parametrize(
    ("question", "titles", "old", "new"),
    [
        ("出差伙食补助是多少？", RULES, "出差期间伙食补助为每人每天 80 元。", "出差期间伙食补助为每人每天 100 元。"),
        (
            "When must claims be handed in?",
            HANDBOOK,
            "Claims are handed in within 30 days of the trip.",
            "Claims are handed in within 15 days of the trip.",
        ),
    ],
)
def test_what_the_newer_edition_says_otherwise_is_overruled(
    passage: MakePassage, question: str, titles: tuple[str, str], old: str, new: str
) -> None:
    assert _kept(passage, question, titles, old, new) == [new]
