"""Short names are learned where a document explains them, in both languages, and nothing else is."""

from __future__ import annotations

import pytest

from kaijuan.ingest.abbreviations import MOST, abbreviations


def pairs(text: str) -> list[tuple[str, str]]:
    return [(one.short, one.long) for one in abbreviations(text)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("根据《中华人民共和国个人信息保护法》（以下简称《个保法》）的规定", "个保法", "中华人民共和国个人信息保护法"),
        ("他毕业于北京大学（简称北大）。", "北大", "北京大学"),
        ("由人力资源和社会保障部（以下简称“人社部”）负责", "人社部", "人力资源和社会保障部"),
        ("中国人民银行（以下简称央行）发布公告", "央行", "中国人民银行"),
        ("本公司与客户签订的服务级别协议（SLA）规定", "SLA", "服务级别协议"),
        ("深圳市腾讯计算机系统有限公司（以下简称“腾讯”）", "腾讯", "腾讯计算机系统有限公司"),
        ("中華人民共和國勞動合同法（下稱勞動法）", "勞動法", "勞動合同法"),
        ("SLA（Service Level Agreement）是一种承诺", "SLA", "Service Level Agreement"),
        ("The Service Level Agreement (SLA) defines it.", "SLA", "Service Level Agreement"),
        ("infected by human immunodeficiency virus (HIV) in", "HIV", "human immunodeficiency virus"),
        ('the World Health Organization (hereinafter referred to as "WHO")', "WHO", "World Health Organization"),
        ("Paid time off, PTO (Paid Time Off) for short.", "PTO", "Paid Time Off"),
    ],
)
def test_what_is_explained_is_learned(text: str, short: str, long: str) -> None:
    assert (short, long) in pairs(text)


@pytest.mark.parametrize(
    "text",
    [
        "腾讯科技（深圳）有限公司（以下简称“公司”）",
        "甲方：某某有限公司（以下简称甲方）",
        "某某〔2020〕12号（见附件）",
        "as Figure (A1) and section (IV) show",
        "the company (IBM) and the price (USD)",
        "国家标准（GB/T 7714-2015）",
        "三十（30）日内支付人民币（大写）",
        "f(x) and g(YZ) are functions",
        "()（）((()))（以下简称）",
    ],
)
def test_what_is_not_explained_is_not_learned(text: str) -> None:
    assert pairs(text) == []


def test_two_names_are_both_learned_with_the_place_that_explains_them() -> None:
    text = "本项目采用知识图谱（Knowledge Graph，KG）。"
    found = abbreviations(text)
    assert [(one.short, one.long) for one in found] == [("KG", "Knowledge Graph"), ("KG", "知识图谱")]
    assert found[1].span.of(text) == "知识图谱（Knowledge Graph，KG）"


def test_a_pair_is_learned_once_and_not_without_end() -> None:
    assert len(abbreviations("北京大学（简称北大）" * 3)) == 1
    many = "".join(f"某{chr(0x4E00 + n)}大学（简称{chr(0x4E00 + n)}大）。" for n in range(2 * MOST))
    assert len(abbreviations(many)) == MOST


def test_hostile_text_takes_no_time() -> None:
    for text in ("(" * 100_000, "（以下简称" * 50_000, "A (" + "a " * 100_000 + ")", "很" * 100_000 + "（简称很）"):
        abbreviations(text)
