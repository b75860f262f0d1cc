"""Chinese sentences, in both scripts, and the questions that rules make of them."""

from __future__ import annotations

import pytest
from tests.unit.evals.making.documents_made import article, asked, drafts, manual

from kaijuan.evals.making.chinese.words import in_script_of, is_traditional, simplified
from kaijuan.evals.making.drafting import article_of
from kaijuan.evals.making.facts import Sort

BRIDGE = (
    "云溪大桥（英语：Yunxi Bridge）是一座位于云州市北郊的公路桥，又称北门桥，由林远设计，全长1280米。"
    "云溪大桥于1987年5月3日通车。全桥共有36个桥墩。2004年被列为市级文物保护单位。"
)
PERSON = (
    "林远（1930年2月1日－1999年8月7日），云州人，中国桥梁工程师，毕业于东江大学土木系。1962年，林远担任云州桥"
    "梁研究所所长。"
)


def test_an_article_about_a_place() -> None:
    questions = asked(article("云溪大桥", BRIDGE))
    assert questions["云溪大桥位于哪里？"] == ("云州市北郊",)
    assert questions["云溪大桥又称什么？"] == ("北门桥",)
    assert questions["云溪大桥由谁设计？"] == ("林远",)
    assert questions["云溪大桥全长多少？"] == ("1280米",)
    assert questions["云溪大桥于哪一天通车？"] == ("1987年5月3日",)
    assert questions["云溪大桥在2004年被列为什么？"] == ("市级文物保护单位",)


def test_an_article_about_a_person() -> None:
    found = article_of(article("林远", PERSON))
    assert found is not None
    assert found.topic.sort is Sort.PERSON
    questions = asked(article("林远", PERSON))
    assert questions["林远毕业于哪里？"] == ("东江大学土木系",)
    assert questions["林远在1962年担任什么职务？"] == ("云州桥梁研究所所长",)
    assert questions["林远是什么时候出生的？"] == ("1930年2月1日",)


def test_a_name_inside_a_longer_word_is_not_the_subject() -> None:
    text = "云溪是云州的一条河流，位于云州北部。云溪大桥全长1280米。"
    questions = asked(article("云溪", text))
    assert questions["云溪大桥全长多少米？"] == ("1280米",)
    assert "云溪全长多少？" not in questions


def test_traditional_text_is_asked_in_traditional_characters() -> None:
    text = "雲溪大橋是一座位於雲州市北郊的公路橋，由林遠設計，全長1280公尺。雲溪大橋於1987年5月3日通車。"
    questions = asked(article("雲溪大橋", text))
    assert questions["雲溪大橋位於哪裡？"] == ("雲州市北郊",)
    assert questions["雲溪大橋由誰設計？"] == ("林遠",)


def test_scripts() -> None:
    assert is_traditional("雲溪大橋由誰設計")
    assert not is_traditional("云溪大桥由谁设计")
    assert in_script_of("什么时候", "雲溪大橋") == "什麼時候"
    assert in_script_of("什么时候", "云溪大桥") == "什么时候"
    assert len(simplified("雲溪大橋（英語）")) == len("雲溪大橋（英語）")


RULES = """# 港口值班管理办法

## 一、值班

值班人员每次值班不超过 12 小时，夜班由值班经理审批。

交接班记录须保存 3 年。

未按时到岗的，应当在 2 小时内说明原因。

## 二、信号

BX-204 表示闸门已经关闭。

它须在 5 分钟内确认。
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("根据《港口值班管理办法》，值班人员每次值班不超过多少小时？", "12 小时"),
        ("根据《港口值班管理办法》，BX-204表示什么？", "闸门已经关闭"),
        ("根据《港口值班管理办法》，交接班记录须保存多少年？", "3 年"),
    ],
)
def test_the_sentences_of_rules(question: str, answer: str) -> None:
    assert asked(manual(RULES))[question] == (answer,)


def test_a_sentence_that_points_at_another_gives_no_question() -> None:
    assert not [question for question in asked(manual(RULES)) if "确认" in question]


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("申请人自提交申请之日起 2 个月内，可以主动提出修改。", "申请人自提交申请之日起多少个月内，可以主动提出修改？"),
        ("值班记录自交班之日起保存 3 年。", "值班记录自交班之日起保存多少年？"),
        ("申请人有 2 人以上且未委托代理的，应当指定代表。", None),
        ("情况复杂的，可以延长 2 个月。", None),
        ("图纸中表示同一部分的标记应当一致。", None),
        ("公司因本办法第三条第（一）项而停用 2 台起重机。", None),
        ("请断电 30 秒后重新启动。", None),
    ],
)
def test_a_sentence_is_asked_whole_or_not_at_all(sentence: str, question: str | None) -> None:
    found = asked(manual(f"# 港口申请办法\n\n## 一、申请\n\n{sentence}\n"))
    whole = [
        each.removeprefix("根据《港口申请办法》，") for each in found if "怎么说" not in each and "怎么规定" not in each
    ]
    assert whole == ([question] if question else [])


def test_evidence_is_exact() -> None:
    material = manual(RULES)
    for draft in drafts(material):
        assert all(len(piece.quote) == len(piece.span) for piece in draft.evidence)
        assert all(piece.document is material.head for piece in draft.evidence)
