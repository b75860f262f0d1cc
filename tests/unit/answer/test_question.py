"""Questions: parts, content, anchors, the kind of value asked for."""

from __future__ import annotations

import pytest

from kaijuan.answer.extract import near_miss, read_units
from kaijuan.answer.question import AnchorKind, parts_of, read_question
from kaijuan.answer.units import Unit
from kaijuan.answer.wanted import wanted
from kaijuan.core.documents import BlockKind
from kaijuan.core.spans import Span


def unit(quote: str, context: str = "") -> Unit:
    return Unit(
        passage=0,
        span=Span(0, len(quote)),
        kind=BlockKind.PARAGRAPH,
        quote=quote,
        context=context,
        header=None,
        header_quote="",
        found=True,
    )


@pytest.mark.parametrize(
    ("question", "identifiers"),
    [
        ("ERR-9988 是什么意思？", ["ERR-9988"]),
        ("Which release fixes v2.3.1 of iPhone 15 Pro Max?", ["v2.3.1", "iPhone 15 Pro Max"]),
        ("GB/T 7714-2015 规定了什么？", ["GB/T 7714-2015"]),
        ("M8×1.25 的扭矩", ["M8×1.25"]),
        ("一年有几天年假？", []),
        ("3kg 的包裹在 8:30 前寄出多少钱？", []),
    ],
)
def test_identifiers_are_anchors(question: str, identifiers: list[str]) -> None:
    found = [anchor.text for anchor in read_question(question).anchors if anchor.kind is AnchorKind.IDENTIFIER]
    assert found == identifiers


@pytest.mark.parametrize(
    ("question", "kind", "text"),
    [
        ("《员工手册》里怎么说？", AnchorKind.NAME, "员工手册"),
        ('What is "cold start"?', AnchorKind.NAME, "cold start"),
        ("2024年3月5日发生了什么？", AnchorKind.NUMBER, "2024年3月5日"),
        ("第十二条说了什么？", AnchorKind.NUMBER, "第十二条"),
        ("What changed in 2019?", AnchorKind.NUMBER, "2019"),
    ],
)
def test_names_numbers_and_dates_are_anchors(question: str, kind: AnchorKind, text: str) -> None:
    assert (kind, text) in [(anchor.kind, anchor.text) for anchor in read_question(question).anchors]


@pytest.mark.parametrize(
    ("question", "evidence"),
    [
        ("err_9988?", "The code ERR-9988 means a full disk."),
        ("第12条", "第十二条 员工应当遵守纪律。"),
        ("2024-03-05 的会议", "会议在2024年3月5日召开。"),
        ("GB/T 7714 的格式", "按 GB/T 7714-2015 著录。"),
        ("《劳动合同法》", "依据《勞動合同法》执行。"),
    ],
)
def test_anchors_are_held_in_other_spellings(question: str, evidence: str) -> None:
    [read] = read_units([unit(evidence)])
    anchors = read_question(question).anchors
    assert anchors
    assert all(anchor.held(read.terms, read.folded) for anchor in anchors)


def test_a_near_miss_is_told_from_the_code_itself() -> None:
    [anchor] = read_question("ERR-9988?").anchors
    near, right, far = read_units([unit("ERR-9981 fails."), unit("ERR-9988 fails."), unit("XY-1 fails.")])
    assert near_miss(anchor, near)
    assert not near_miss(anchor, right)
    assert not near_miss(anchor, far)


def test_question_words_are_not_content() -> None:
    assert not read_question("这是什么？").weights
    assert not read_question("Who is it?").weights
    assert read_question("年假有几天？").weights.keys().isdisjoint({"几天", "~几天"})


def test_several_questions_are_parted() -> None:
    assert parts_of("年假有几天？工资何时发？") == ["年假有几天？", "工资何时发？"]
    assert parts_of("I read about bots. What is a bot? Who runs them at night?") == [
        "I read about bots. What is a bot?",
        "Who runs them at night?",
    ]
    assert parts_of("真的吗？年假有几天？") == ["真的吗？", "年假有几天？"]
    assert parts_of(" 年假有几天？ ") == ["年假有几天？"]


@pytest.mark.parametrize(
    ("question", "met", "unmet"),
    [
        ("年假有几天？", "年假为十天。", "年假须在三月前申请。"),
        ("公司成立于哪一年？", "公司成立于1998年。", "公司位于上海。"),
        ("When was it founded?", "It was founded in 1998.", "It was founded by two brothers."),
        ("How many members are there?", "There are 240 members.", "There are many members."),
    ],
)
def test_values_asked_for(question: str, met: str, unmet: str) -> None:
    want = wanted(question)
    assert want is not None
    good, bad = read_units([unit(met), unit(unmet)])
    assert want.met(good.terms, good.quote)
    assert not want.met(bad.terms, bad.quote)


@pytest.mark.parametrize(
    "question",
    [
        "谁负责这个项目？",
        "电话是谁发明的？",
        "错误代码 ERR-9988 是什么意思？",
        "What is the dress code?",
        "What website sells it?",
        "What does the error code mean?",
    ],
)
def test_no_value_is_wanted_of_other_questions(question: str) -> None:
    assert wanted(question) is None


@pytest.mark.parametrize(
    ("question", "focus"),
    [
        ("公司的股票代码是多少？", "股票代码"),
        ("公司有多少名员工？", "员工"),
        ("Which city hosts the fair?", "citi"),
        ("What is the budget of the fair?", "budget"),
    ],
)
def test_the_focus_names_what_is_asked_for(question: str, focus: str) -> None:
    assert focus in read_question(question).focus


@pytest.mark.parametrize(
    "question", ["怎么申请？", "如何申请？", "卡丢了怎么办？", "How do I apply?", "What should I do now?"]
)
def test_questions_after_a_procedure_are_known(question: str) -> None:
    assert read_question(question).how


@pytest.mark.parametrize("question", ["申请要多久？", "天气怎么样？", "How many are there?", "What is it?"])
def test_other_questions_are_not(question: str) -> None:
    assert not read_question(question).how


@pytest.mark.parametrize(
    ("question", "met", "unmet"),
    [
        ("泵的售价是多少？", "泵每台 900 元。", "泵重 900 kg。"),
        ("How much is overtime paid?", "Overtime is paid at 150 percent of the wage.", "Overtime is paid for 3 hours."),
        ("周末加班付多少钱？", "周末加班按两倍工资计算。", "周末加班不超过 8 小时。"),
        ("How much does the pump cost?", "The pump is 900 dollars.", "The pump weighs 900 kg."),
        ("公司有多少名员工？", "公司有 300 名员工。", "公司有 300 台泵。"),
        ("How many vacation days do I get?", "New staff have 10 days of annual leave.", "Staff ask 2 managers."),
        ("How many meeting rooms are there?", "There are 12 rooms on each floor.", "Meetings last 30 minutes."),
        ("公司的传真号码是多少？", "传真 010-6255 1234。", "超过 200 元的礼品须上交。"),
        ("公司股票代码是多少？", "本公司股票代码为 600519。", "超过 200 元的礼品须上交。"),
        ("安保电话是多少？", "安保电话 8119。", "体检费报销上限 300 元，2025 年起施行。"),
        ("公司网址是什么？", "网址为 www.qinghe.example。", "公司网站由行政部维护。"),
        ("人力资源部的邮箱是什么？", "请写信至 hr@qinghe.example。", "请联系人力资源部。"),
        ("What is the phone number of the canteen?", "Call extension 8110.", "It opened on 18 June 2012."),
        ("What is the document number?", "Document QH-HR-001, version 4.", "The document has 12 pages."),
        ("What is the company website?", "See qinghe.example for more.", "The site was renewed in 2020."),
        ("How many employees are there?", "There are 300 employees.", "Employees get 300 pumps."),
    ],
)
def test_a_strict_value_is_told_from_other_numbers(question: str, met: str, unmet: str) -> None:
    want = wanted(question)
    assert want is not None
    assert want.strict
    good, bad = read_units([unit(met), unit(unmet)])
    assert want.met(good.terms, good.quote)
    assert not want.met(bad.terms, bad.quote)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("公司日几点下班？", {"公司", "日", "下班"}),
        ("工资几号发？", {"工资", "发"}),
        ("库房有几台机器？", {"库房", "机器"}),
        ("食堂幾點關門？", {"食堂", "关门"}),
    ],
)
def test_what_is_asked_for_is_no_word_that_an_answer_must_have(text: str, words: set[str]) -> None:
    assert {key for key in read_question(text).weights if key[0] != "~"} == words


@pytest.mark.parametrize("text", ["几率有多大？", "好几个人负责，是谁？"])
def test_words_that_only_look_like_asking_stay(text: str) -> None:
    assert any("几" in key for key in read_question(text).weights)


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("年假满五年有几天？", {5}),
        ("How many days after ten years?", {10}),
        ("员工一年有几天年假？", set()),
        ("How many days a year?", set()),
    ],
)
def test_numbers_are_the_same_in_both_languages(text: str, amounts: set[int]) -> None:
    assert read_question(text).amounts == amounts
