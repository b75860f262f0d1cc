"""No rewrite loses an anchor, whatever a model writes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.retrieve.understanding.anchors import AnchorKind, anchors, guarded, held, lost

WORDS = st.sampled_from(
    [
        "报销",
        "流程",
        "支持",
        "退款",
        "用户",
        "标准",
        "是",
        "多少",
        "refund",
        "policy",
        "travel",
        "limit",
        "for",
        "版本",
        "升级",
    ]
)
EXACT_TEXTS = (
    "ERR-9988",
    "v2.3.1",
    "GB/T 7714-2015",
    "2024-03-05",
    "2024年3月5日",
    "March 5, 2024",
    "18 岁",
    "600",
    "99.9%",
    "第十二条",
    "第3章",
    "《差旅管理办法》",
    "“个人所得税”",
    '"paid leave"',
    "SLA",
    "不支持退款",
    "没有发票",
    "without a receipt",
    "not included",
    "iPhone 15",
)
EXACT = st.sampled_from(EXACT_TEXTS)
QUESTIONS = st.lists(WORDS | EXACT, min_size=1, max_size=8).map(" ".join)
TEXTS = QUESTIONS | st.text(max_size=60)


@pytest.mark.parametrize("exact", EXACT_TEXTS)
def test_everything_exact_is_an_anchor(exact: str) -> None:
    assert anchors(exact)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_what_passes_the_guard_holds_every_anchor(question: str, rewrite: str) -> None:
    kept = guarded(question, rewrite)
    assert lost(anchors(question), kept) == ()
    assert kept in (question, rewrite)


@settings(deadline=None)
@given(QUESTIONS, EXACT)
def test_a_rewrite_without_an_anchor_is_thrown_away(question: str, exact: str) -> None:
    asked = f"{question} {exact}"
    wanted = anchors(exact)
    assert wanted
    for rewrite in ("报销流程是什么", "what is the policy", ""):
        assert guarded(asked, rewrite) == asked


@settings(deadline=None)
@given(QUESTIONS)
def test_a_question_holds_its_own_anchors(question: str) -> None:
    assert held(anchors(question), question)
    assert guarded(question, question) == question


@settings(deadline=None)
@given(QUESTIONS, st.lists(WORDS, max_size=4).map(" ".join))
def test_more_words_lose_nothing(question: str, more: str) -> None:
    assert lost(anchors(question), f"{more} {question}") == ()


@settings(deadline=None)
@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert all(anchor.keys and anchor.text is not None for anchor in anchors(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ERR-9988 怎么处理", "如何处理 err_9988 故障"),
        ("2024年3月5日发布的版本", "the version of March 5, 2024"),
        ("第十二条说了什么", "第12条的内容"),
        ("M8×1.25 的扭矩", "torque of M8x1.25"),
        ("不支持退款的商品", "哪些商品不支持退款"),
        ("返回 without receipt", "can goods be returned without the receipt"),
    ],
)
def test_other_ways_to_write_an_anchor_hold_it(one: str, other: str) -> None:
    assert held(anchors(one), other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("18 岁可以吗", "19 岁可以吗"),
        ("支持退款吗", "不支持退款吗"),
        ("不支持退款的商品", "支持退款的商品"),
        ("goods returned without receipt", "goods returned with receipt"),
        ("v2.3.1 的变化", "v2.3 的变化"),
        ("ERR-9988", "ERR-9989"),
        ("《差旅管理办法》", "差旅的办法"),
        ("2024年3月5日", "2024年3月6日"),
    ],
)
def test_near_misses_are_told_apart(one: str, other: str) -> None:
    assert not held(anchors(one), other)


@pytest.mark.parametrize(
    "text", ["能不能退款", "是否支持", "有没有发票", "不仅退款", "是不是本人", "不同版本", "无线网络"]
)
def test_asking_whether_is_no_denial(text: str) -> None:
    assert not any(anchor.kind is AnchorKind.NEGATION for anchor in anchors(text))
