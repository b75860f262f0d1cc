"""Kinds of a thing: what speaks of another kind than the one asked for is no part of the answer."""

from __future__ import annotations

import pytest
from tests.unit.answer.conftest import MakePassage

from kaijuan.answer.extract import Scored, read_units
from kaijuan.answer.kinds import is_unspoken, without_other_kinds
from kaijuan.answer.question import read_question
from kaijuan.answer.settings import AnswerSettings
from kaijuan.answer.units import units_of
from kaijuan.core.documents import BlockKind

P = BlockKind.PARAGRAPH


def _kept(passage: MakePassage, question: str, *texts: str) -> list[str]:
    made = passage("", *((P, text) for text in texts))
    reads = read_units(units_of(made, 0, AnswerSettings()))
    scored = [Scored(read=read, coverage=0.5, similarity=0.8, score=1.0) for read in reads]
    return [item.read.unit.quote for item in without_other_kinds(read_question(question), scored, reads)]


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("How many days of sick leave are paid?", "The first 12 days of sick leave are paid.", "Annual leave is paid."),
        (
            "How many sick leave days after five years?",
            "The first 12 days of sick leave are paid.",
            "After five years employees have 15 days of annual leave.",
        ),
        ("How long are full backups kept?", "Full backups stay 90 days.", "Incremental backups are kept 14 days."),
        ("病假发多少工资？", "病假前 12 天发全额工资。", "年假期间发全额工资。"),
        ("住宿费上限是多少？", "住宿费每晚上限为 600 元。", "交通费上限为 300 元。"),
    ],
)
def test_another_kind_than_the_one_asked_for_is_left_out(
    passage: MakePassage, question: str, right: str, wrong: str
) -> None:
    assert _kept(passage, question, wrong, right) == [right]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is paternity leave?", "Parental leave lasts ten days."),
        ("陪产假有几天？", "护理假共 15 天。"),
    ],
)
def test_where_nothing_has_the_name_asked_for_it_may_go_by_another(
    passage: MakePassage, question: str, text: str
) -> None:
    assert _kept(passage, question, text) == [text]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many days of sick leave are paid?", "Sick leave and annual leave are both paid."),
        ("病假发工资吗？", "病假、年假都照发工资。"),
        ("How many days of sick leave are paid?", "Sick employees get paid leave."),
    ],
)
def test_what_speaks_of_both_stays(passage: MakePassage, question: str, text: str) -> None:
    other = "Sick leave is reported by 9:30." if question.isascii() else "病假须在 9:30 前报告。"
    assert text in _kept(passage, question, text, other)


@pytest.mark.parametrize(
    ("question", "best", "unspoken"),
    [
        ("How much parental leave do I get?", "Employees have 15 days of annual leave.", True),
        ("How much annual leave do I get?", "Employees have 15 days of annual leave.", False),
        ("How much leave do I get?", "Employees have 15 days of annual leave.", False),
        ("How much parental leave do I get?", "Parents get ten days off.", False),
        ("产假有几天？", "员工每年有年假 15 天。", True),
        ("年假有几天？", "员工每年有年假 15 天。", False),
        ("停车费怎么交？", "住宿费由公司统一支付。", True),
        ("停车费怎么交？", "停车位由行政部统一安排。", False),
    ],
)
def test_a_kind_that_no_text_names_is_told_from_its_neighbours(
    passage: MakePassage, question: str, best: str, *, unspoken: bool
) -> None:
    reads = read_units(units_of(passage("", (P, best)), 0, AnswerSettings()))
    assert is_unspoken(read_question(question), reads[0], reads) is unspoken
