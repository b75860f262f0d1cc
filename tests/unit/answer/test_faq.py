"""Question-and-answer pairs with markers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kaijuan.answer.faq import exchanges
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import units_of
from kaijuan.core.documents import BlockKind
from kaijuan.retrieve.results import Passage

P = BlockKind.PARAGRAPH


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("问：何时发薪？\n答：每月 10 日。", [("何时发薪？", "每月 10 日。")]),
        ("Q: When?\nA: On the 10th.\nQ2: Where?\nA2: Here.", [("When?", "On the 10th."), ("Where?", "Here.")]),
        ("问：何时发薪？", [("何时发薪？", "")]),
        ("问题很多，答案很少。", []),
        ("答：没有问题在前。", []),
        ("前言。\n问：何时？\n答：现在。", []),
        ("Quick start: run it.\nA: no", []),
    ],
)
def test_pairs_are_read_with_their_markers_left_out(text: str, pairs: list[tuple[str, str]]) -> None:
    assert [(pair.question, pair.answer.of(text)) for pair in exchanges(text)] == pairs


def test_a_question_left_open_is_answered_by_the_next_text() -> None:
    [pair] = exchanges("答：每月 10 日。", "何时发薪？")
    assert pair.question == "何时发薪？"


def test_units_are_answers_that_know_their_question(passage: Callable[..., Passage]) -> None:
    made = passage("FAQ", (P, "问：何时发薪？"), (P, "答：每月 10 日。遇节假日提前。"), (P, "完。"), start=7)
    units = units_of(made, 0, AnswerSettings())
    assert [(unit.quote, unit.asked) for unit in units] == [("每月 10 日。遇节假日提前。", "何时发薪？"), ("完。", "")]
    for unit in units:
        assert made.text[unit.span.start - 7 : unit.span.end - 7] == unit.quote
