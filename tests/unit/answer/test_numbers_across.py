"""A number that a question names is found in the other language too, however it is written there."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.answer.conftest import MakePassage

from kaijuan.answer.extract import read_units, score_units
from kaijuan.answer.question import read_question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import units_of
from kaijuan.core.documents import BlockKind

P = BlockKind.PARAGRAPH


@pytest.mark.parametrize(
    ("question", "right", "other"),
    [
        ("年假满五年有几天？", "After five years employees have 15 days.", "The offices close for eight days."),
        ("住满 3 晚打几折？", "Guests who stay three nights get a discount.", "Guests who pay in cash get a discount."),
        ("How many days off after ten years?", "工作满十年的员工有 20 天假。", "春节放假 8 天。"),
    ],
)
def test_of_sentences_as_near_the_one_with_the_number_asked_about_is_best(
    passage: MakePassage, question: str, right: str, other: str
) -> None:
    reads = read_units(units_of(passage("", (P, other), (P, right)), 0, AnswerSettings()))
    level = np.full(len(reads), 0.83, dtype=np.float32)
    best = max(score_units(read_question(question), reads, level), key=lambda item: item.score)
    assert best.read.unit.quote == right
