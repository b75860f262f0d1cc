"""Whether cited words carry a statement, by rule."""

from __future__ import annotations

import pytest

from kaijuan.evals.answers.support import Support, support


@pytest.mark.parametrize(
    ("statement", "cited", "found"),
    [
        ("年假为5天。", ["员工年假为 5 天。"], Support.VERBATIM),
        ("員工年假為5天", ["员工年假为5天。"], Support.VERBATIM),
        ("Year: 2019; Sales: 44.1", ["Year | Sales", "2019 | 44.1"], Support.WORDS),
        ("Simona Halep won in 2019.", ["In 2019, Simona Halep won the title."], Support.WORDS),
        ("新增就业13.61万人", ["城镇新增就业136,100人。"], Support.WORDS),
        ("年假为6天。", ["员工年假为5天。"], Support.NONE),  # a number
        ("Sales rose on May 3, 2020.", ["Sales rose on May 2, 2020."], Support.NONE),  # a date
        ("Water boils at 100 degrees in Paris.", ["At sea level, water boils at 100 degrees."], Support.NONE),  # a name
        ("他写了《小时代》。", ["他写了《大时代》。"], Support.NONE),
        ("The plan covers dental costs.", ["The plan does not cover dental costs."], Support.NONE),  # a negation
        ("The plan does not cover dental costs.", ["The plan covers dental costs."], Support.NONE),
        ("公司不提供住房补贴。", ["公司提供住房补贴和交通补贴。"], Support.NONE),
        ("The engine overheats quickly when towing loads uphill.", ["The engine is quiet."], Support.NONE),
        ("The range is 57 dollars.", ["The range is 5 - 7 dollars."], Support.NONE),  # what a lost dash makes of it
        ("Something.", [], Support.NONE),
        ("Something.", ["  "], Support.NONE),
        ("。", ["。"], Support.NONE),
    ],
)
def test_support(statement: str, cited: list[str], found: Support) -> None:
    assert support(statement, cited) is found


def test_the_negation_of_another_sentence_does_not_count() -> None:
    cited = ["The plan covers all dental costs of members. It does not cover travel."]
    assert support("Dental costs of members, the plan covers.", cited) is Support.WORDS
