"""Numbers and dates by value, in the ways that both languages write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from kaijuan.core.text.values import Amount, Day, amount_of, day_of, says_amount, says_day, values_of


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1361万", "13610000", ""),
        ("1,361万", "13610000", ""),
        ("１３６１万", "13610000", ""),
        ("13.61 million", "13610000", ""),
        ("13,610,000", "13610000", ""),
        ("一千三百六十一万人", "13610000", ""),
        ("3亿5000万元", "350000000", "CNY"),
        ("$10.4 billion", "10400000000", "USD"),
        ("$10.4B", "10400000000", "USD"),
        ("US$ 10.4bn", "10400000000", "USD"),
        ("631亿美元", "63100000000", "USD"),
        ("RMB 5 million", "5000000", "CNY"),
        ("£59.1m", "59100000", "GBP"),
        ("12.5%", "12.5", "%"),
        ("12.5 percent", "12.5", "%"),
        ("百分之十二点五", "12.5", "%"),
        ("10.48‰", "1.048", "%"),
        ("5.7个百分点", "5.7", "%"),
        ("-22.22", "-22.22", ""),
        ("−22.22", "-22.22", ""),
        ("$-3.27", "-3.27", "USD"),
        ("四次", "4", ""),
        ("four times", "4", ""),
        ("约2500万人次", "25000000", ""),
        ("超过240万", "2400000", ""),
        ("approximately 27,000 people", "27000", ""),
    ],
)
def test_an_amount_is_its_value(text: str, value: str, unit: str) -> None:
    found = amount_of(text)
    assert found is not None
    assert (found.value, found.unit) == (Decimal(value), unit)


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "流浪地球2",
        "GPT-4",
        "1.2.3",
        "iPhone 15",
        "3 of them left early",
        "2021年7月23日",
        "10:30",
        "",
        "年假",
        "H5N1",
    ],
)
def test_what_is_more_or_less_than_an_amount_is_none(text: str) -> None:
    assert amount_of(text) is None


@pytest.mark.parametrize(
    ("gold", "text", "said"),
    [
        ("1361万", "全年城镇新增就业1361 万人，有551 万", True),
        ("1361万", "13.61 million jobs were added", True),
        ("1361万", "新增就业161万人", False),
        ("13.61 million", "共 13,612,345 人", True),  # rounds to it
        ("13,610,000", "13.61 million", True),
        ("13,610,001", "13.61 million", False),  # an exact number is not said by a rounded one
        ("26.82%", "rose by 26.8234 percent", True),
        ("26.82%", "rose by 26.8 percent", False),
        ("8.1%", "增长了8.1个百分点", True),
        ("5.7", "GDP增长5.7%", True),  # without a unit any will do
        ("5.7%", "5.7亿元", False),
        ("$5", "5元", False),  # another currency
        ("4次", "将加息四次", True),
        ("4次", "有4个委员", False),  # a small number of something else
        ("第16届", "2022年第十六届", True),
        ("第16届", "16届", False),
        ("90", "共有90个议席", True),
        ("9", "2019年有19个", False),
        ("8", "2022年8月20日", False),  # a month is no amount
        ("2018", "于2018年12月", True),  # a number that could be a year
        ("361", "净亏损(361)", True),
        ("-361", "net loss $(361)", True),
        ("-361", "a gain of 361", False),
    ],
)
def test_amounts_in_text(gold: str, text: str, said: bool) -> None:
    wanted = amount_of(gold)
    assert wanted is not None
    assert says_amount(text, wanted) is said


@pytest.mark.parametrize(
    "text",
    [
        "2021年7月23日",
        "二〇二一年七月二十三日",
        "2021-07-23",
        "2021/7/23",
        "7/23/2021",
        "July 23, 2021",
        "July 23rd, 2021",
        "Jul. 23, 2021",
        "23 July 2021",
        "23rd of July 2021",
        "２０２１年７月２３号",
    ],
)
def test_a_date_in_any_style(text: str) -> None:
    assert day_of(text) == Day(year=2021, month=7, day=23)


@pytest.mark.parametrize(
    ("gold", "text", "said"),
    [
        ("1月3日", "火车票于2022年1月3日开售", True),
        ("1月3日", "11月3日", False),
        ("1月3日", "1月30日", False),
        ("2021年7月23日", "7月23日开幕", False),  # the year is not said
        ("2021年7月", "on July 23, 2021", True),
        ("1856年", "established in 1856.", True),
        ("July 1856", "于1856年8月", False),
    ],
)
def test_dates_in_text(gold: str, text: str, said: bool) -> None:
    wanted = day_of(gold)
    assert wanted is not None
    assert says_day(text, wanted) is said


def test_impossible_dates_are_none() -> None:
    assert values_of("2021-13-40").days == ()
    assert values_of("13月40日").days == ()


def test_two_parts_of_one_number_only_where_the_scale_falls() -> None:
    assert [amount.value for amount in values_of("3万5000亿").amounts] == [30_000, 500_000_000_000]
    assert [amount.value for amount in values_of("3亿，5000万").amounts] == [300_000_000, 50_000_000]


def test_rounding_is_half_the_last_digit() -> None:
    wanted = Amount(value=Decimal("1.2"), step=Decimal("0.1"))
    assert wanted.is_said_by(Amount(value=Decimal("1.25")))
    assert not wanted.is_said_by(Amount(value=Decimal("1.26")))
