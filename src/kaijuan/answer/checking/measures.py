"""Units of measurement as both languages write them: which measure the same, and by what factor they differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

_DIMENSIONS = {
    "length": (
        ("0.001", "毫米 mm millimetre millimeter"),
        ("0.01", "厘米 公分 cm centimetre centimeter"),
        ("1", "米 公尺 m metre meter"),
        ("1000", "公里 千米 km kilometre kilometer"),
        ("1609.344", "英里 mile"),
        ("1852", "海里"),
        ("0.3048", "英尺 ft foot feet"),
        ("0.0254", "英寸 inch inches"),
    ),
    "mass": (
        ("0.001", "毫克 mg milligram"),
        ("1", "克 g gram gramme"),
        ("1000", "千克 公斤 kg kilogram kilogramme"),
        ("1000000", "吨 公吨 tonne ton"),
        ("453.59237", "磅 lb lbs"),
    ),
    "time": (
        ("0.001", "毫秒 ms millisecond"),
        ("1", "秒 秒钟 second"),
        ("60", "分钟 minute min"),
        ("3600", "小时 个小时 钟头 个钟头 hour hr"),
        ("86400", "天 日 day"),
        ("604800", "周 星期 个星期 礼拜 week"),
    ),
    "months": (
        ("1", "个月 month"),
        ("3", "个季度 季度 quarter"),
        ("12", "年 year yr"),
        ("1200", "世纪 个世纪 century centuries"),
    ),
    "working days": (("1", "个工作日 工作日 working|day business|day"),),
    "area": (
        ("1", "平方米 平方公尺 m2 square|metre square|meter"),
        ("10000", "公顷 hectare ha"),
        ("1000000", "平方公里 平方千米 km2 square|kilometre square|kilometer"),
        ("0.09290304", "平方英尺 square|feet square|foot"),
        ("2589988.110336", "平方英里 square|mile"),
        ("4046.8564224", "英亩 acre"),
    ),
    "volume": (
        ("0.001", "毫升 ml millilitre milliliter"),
        ("1", "升 公升 litre liter"),
        ("1000", "立方米 m3 cubic|metre cubic|meter"),
    ),
    "data": (
        ("1", "kb kilobyte"),
        ("1000", "mb megabyte"),
        ("1000000", "gb gigabyte"),
        ("1000000000", "tb terabyte"),
    ),
    "power": (("1", "瓦 watt"), ("1000", "千瓦 kw kilowatt"), ("1000000", "兆瓦 mw megawatt")),
    "frequency": (
        ("1", "赫兹 hz hertz"),
        ("1000", "khz kilohertz"),
        ("1000000", "mhz megahertz"),
        ("1000000000", "ghz"),
    ),
    "celsius": (("1", "度 ℃ °c 摄氏度 degrees|celsius"),),
    "fahrenheit": (("1", "°f 华氏度 degrees|fahrenheit"),),
    "people": (("1", "人 名 people person persons"),),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What a unit measures, and how many of the dimension's base unit it is."""

    dimension: str
    factor: Decimal


def _table() -> dict[str, Measure]:
    table: dict[str, Measure] = {}
    for dimension, rows in _DIMENSIONS.items():
        for factor, names in rows:
            for name in names.split():
                measure = Measure(dimension=dimension, factor=Decimal(factor))
                spelt = name.replace("|", " ")
                table[spelt] = measure
                if spelt.isascii() and len(spelt) > 2 and not spelt.endswith("s"):
                    table[spelt + "s"] = measure
    return table


_MEASURES = MappingProxyType(_table())
_NAMES = "|".join(re.escape(name) for name in sorted(_MEASURES, key=len, reverse=True))
_NOT_AFTER = {"年": "代级度前后来间内", "日": "本", "米": "其", "克": "服", "度": "过", "人": "民", "名": "称字为"}
"""Characters after which the unit is the beginning of another word: 1990年代 is a decade. """
_AFTER = re.compile(rf"\s?-?(?P<name>{_NAMES})(?![a-z0-9])")


def measure_after(text: str, at: int) -> tuple[Measure, int] | None:
    """Return the unit that stands in normalised `text` at a position, after a blank or hyphen, and where it ends."""
    found = _AFTER.match(text, at)
    if found is None:
        return None
    name = found["name"]
    if text[found.end() : found.end() + 1] in tuple(_NOT_AFTER.get(name, "")):
        return None
    return _MEASURES[name], found.end()
