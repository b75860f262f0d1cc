"""Claims against the words they cite: what carries them, and which kind of fault is found where something differs."""

from __future__ import annotations

import pytest

from kaijuan.answer.checking.check import check_claims, quoted
from kaijuan.answer.checking.claims import Claim, FaultKind
from kaijuan.testing.embedders import HashEmbedder

ZH = "大桥于1998年7月3日建成通车，全长1.2万米，由李明设计，允许货车在夜间通行。"
EN = "The bridge opened on 3 July 1998. It is 12,000 metres long, was designed by Mary Hill, and lorries may use it."
RULE = "正式员工不得在外兼职，违者扣发三个月奖金。"
NUMBER, DATE, UNIT = FaultKind.NUMBER, FaultKind.DATE, FaultKind.UNIT
NAME, NEGATION, COMPARISON = FaultKind.NAME, FaultKind.NEGATION, FaultKind.COMPARISON


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("大桥全长1.2万米。", ZH),
        ("大桥全长12000米。", ZH),
        ("大桥全长12公里。", ZH),
        ("大桥于1998年7月3日建成通车。", ZH),
        ("大桥建成通车是在1998年。", ZH),
        ("The bridge opened on 1998-07-03.", EN),
        ("The bridge is 12 km long.", EN),
        ("The bridge was designed by Mary Hill.", EN),
        ("正式员工不得在外兼职。", RULE),
    ],
)
async def test_what_the_words_carry_is_supported(claim: str, evidence: str) -> None:
    [verdict] = await check_claims([Claim(text=claim, evidence=(evidence,))], HashEmbedder())
    assert verdict.faults == ()
    assert verdict.supported


@pytest.mark.parametrize(
    ("claim", "evidence", "kind"),
    [
        ("大桥全长1.3万米。", ZH, NUMBER),
        ("大桥全长1.2亿米。", ZH, NUMBER),
        ("大桥全长1.2万吨。", ZH, UNIT),
        ("大桥于1998年7月8日建成通车。", ZH, DATE),
        ("大桥于1996年7月3日建成通车。", ZH, DATE),
        ("大桥不允许货车在夜间通行。", ZH, NEGATION),
        ("The bridge opened on 3 July 1989.", EN, DATE),
        ("The bridge is 13,000 metres long.", EN, NUMBER),
        ("The bridge was designed by Mary Stone.", EN, NAME),
        ("Lorries may not use the bridge.", EN, NEGATION),
        ("正式员工可以在外兼职。", RULE, NEGATION),
        ("违者扣发六个月奖金。", RULE, NUMBER),
        ("2023年的利润高于2022年。", "2023年的利润低于2022年。", COMPARISON),
        ("Sales in May were higher than in April.", "Sales in May were lower than in April.", COMPARISON),
    ],
)
async def test_what_differs_is_named_by_its_kind(claim: str, evidence: str, kind: FaultKind) -> None:
    [verdict] = await check_claims([Claim(text=claim, evidence=(evidence,))], HashEmbedder())
    assert not verdict.supported
    assert verdict.score < 0.5
    assert kind in {fault.kind for fault in verdict.faults}


async def test_a_fault_names_both_words() -> None:
    [verdict] = await check_claims([Claim(text="违者扣发六个月奖金。", evidence=(RULE,))], HashEmbedder())
    [fault] = verdict.faults
    assert "六" in fault.detail
    assert "三" in fault.said


@pytest.mark.parametrize("evidence", [(), ("",), (" \n",)])
async def test_a_claim_without_evidence_is_not_supported(evidence: tuple[str, ...]) -> None:
    [verdict] = await check_claims([Claim(text="大桥全长1.2万米。", evidence=evidence)], HashEmbedder())
    assert not verdict.supported
    assert verdict.score == 0.0


async def test_evidence_about_something_else_carries_nothing() -> None:
    [verdict] = await check_claims([Claim(text="公司为员工提供免费午餐。", evidence=(ZH,))], HashEmbedder())
    assert not verdict.supported


async def test_two_names_in_each_others_place_are_found() -> None:
    evidence = "In 2004 Hart bought the paper from Lindon."
    [right, wrong] = await check_claims(
        [
            Claim(text="In 2004 Hart bought the paper from Lindon, it says.", evidence=(evidence,)),
            Claim(text="In 2004 Lindon bought the paper from Hart, it says.", evidence=(evidence,)),
        ],
        HashEmbedder(),
    )
    assert right.score > wrong.score
    assert NAME in {fault.kind for fault in wrong.faults}


def test_half_a_sentence_is_no_quotation() -> None:
    """What stands before it could turn it round."""
    evidence = ("员工不得携带外人进入。",)
    assert quoted(Claim(text="员工不得携带外人进入。", evidence=evidence))
    assert not quoted(Claim(text="携带外人进入。", evidence=evidence))
