"""Whether a text that is to say when something is names a time at all."""

from __future__ import annotations

import pytest

from kaijuan.answer.wanted import wanted
from kaijuan.core.text.analyse import analyse
from kaijuan.core.text.normalise import normalise

WHEN = {"zh": "工资什么时候发？", "en": "On which day are wages paid?"}


def _timeless(language: str, text: str) -> bool:
    asked = wanted(WHEN[language])
    assert asked is not None
    return asked.timeless({term.text: 1 for term in analyse(text)}, normalise(text)[0])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Approved overtime is paid at 150 percent of the hourly wage."),
        ("en", "Wages are paid into a bank account of the employee's choice."),
        ("zh", "工资按岗位和级别确定。"),
        ("zh", "工资由财务部统一发放到银行卡。"),
    ],
)
def test_what_names_no_time_says_not_when(language: str, text: str) -> None:
    assert _timeless(language, text)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Wages are paid on the 10th."),
        ("en", "Wages are paid every month."),
        ("en", "Wages are paid before public holidays."),
        ("en", "Wages were first paid in 1887."),
        ("zh", "工资每月 10 日发放。"),
        ("zh", "工资在月底发放。"),
        ("zh", "入职后发放工资。"),
        ("zh", "周五下午发工资。"),
        ("zh", "工资自明朝起以银两发放。"),
    ],
)
def test_what_names_a_time_in_whatever_way_may_say_when(language: str, text: str) -> None:
    assert not _timeless(language, text)


def test_only_questions_for_a_time_want_one() -> None:
    asked = wanted("工资是多少元？")
    assert asked is not None
    assert not asked.timeless({}, "工资按岗位确定。")
