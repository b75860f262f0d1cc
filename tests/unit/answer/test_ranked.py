"""What holds for one rank is not given for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from kaijuan.answer.ranked import ranked_otherwise


@dataclass
class Said:
    folded: str


def _rank(question: str, *texts: str) -> str:
    reads: Any = [Said(text) for text in texts]
    return ranked_otherwise(question, reads)


@pytest.mark.parametrize(
    ("question", "said", "missing"),
    [
        ("二线城市住宿费上限是多少？", "一线城市住宿费上限为 600 元。", "二线"),
        ("乙类物品怎么存放？", "甲类物品放在阴凉处。", "乙类"),
        ("What is the limit for tier 2 cities?", "the limit for tier 1 cities is 600 yuan.", "tier 2"),
        ("Who may open Class B valves?", "class a valves are opened by the chief.", "class b"),
    ],
)
def test_another_rank_is_no_answer(question: str, said: str, missing: str) -> None:
    assert _rank(question, said) == missing


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("一线城市住宿费上限是多少？", "一线城市 600 元，二线城市 450 元。"),
        ("一线城市住宿费上限是多少？", "北京、上海、广州、深圳 600 元。"),
        ("这一类问题归谁管？", "甲类物品放在阴凉处。"),
        ("第二类是什么？", "一类是水果。"),
        ("How many levels are there?", "level 1 and level 2."),
    ],
)
def test_a_rank_that_is_there_or_has_no_rival_is_no_obstacle(question: str, said: str) -> None:
    assert _rank(question, said) == ""
