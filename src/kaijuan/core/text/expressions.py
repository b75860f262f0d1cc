"""Things written in several ways that mean one: dates, ordinals, quantities, document numbers, model names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kaijuan.core.text.characters import HAN
from kaijuan.core.text.identifiers import canonical, leads
from kaijuan.core.text.stopwords import ENGLISH, ENGLISH_MONTHS


class Expression(NamedTuple):
    """One reading of a piece of normalised text. `lead` marks the leading part of a longer code."""

    key: str
    start: int
    end: int
    kind: str
    """date, number, code or lead."""


_DIGITS = "零〇一二三四五六七八九"
_NUMERAL = f"{_DIGITS}两十百千万亿"
_VALUES = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10_000, "亿": 100_000_000}
_LONGEST_NUMERAL = 18
"""Digits of a number that is read as one; longer rows are no amounts, and reading them would not be linear."""
_NUM = rf"(?:\d+|[{_NUMERAL}]+)"
_UNITS_HAN = "年月日天周岁元角分个名位人次条章节款项页层楼号栋室里米克吨斤度倍期届版卷集回批级类种台辆艘架份小"
_UNITS_LATIN = (
    "mm|cm|dm|km|nm|um|μm|m|kg|mg|μg|ug|g|ml|l|kb|mb|gb|tb|pb|hz|khz|mhz|ghz|mv|v|kv|mw|w|kw|kwh|wh|ma|mah|a|k"
    "|px|pt|dpi|fps|bit|bits|bytes?|ms|s|h|min|inch(?:es)?|in|ft|lbs?|oz|°c|°f|°|%|℃|mpa|kpa|pa|db|rpm|nits?|mp"
)
_EDITIONS = (
    "pro|max|plus|ultra|mini|air|se|lite|fe|ti|super|xt|gt|gb|tb|home|enterprise|professional|standard|premium"
    "|edition|beta|alpha|rc\\d*|lts|preview|turbo|note|s|x|xl|xs|r2|sp\\d+"
)
_MONTHS = "|".join(sorted(ENGLISH_MONTHS, key=len, reverse=True))

_DATE = re.compile(
    rf"(?<!\d)(?P<y>\d{{4}}|[{_DIGITS}]{{4}})(?:\s?年\s?(?P<m>{_NUM})\s?月(?:\s?(?P<d>{_NUM})\s?[日号])?"
    r"|(?P<j>[-/.])(?P<m2>\d{1,2})(?P=j)(?P<d2>\d{1,2})(?![\d]|[-/.]\d))"
)
_DATE_ENGLISH = re.compile(
    rf"(?<![a-z0-9])(?:(?P<m>{_MONTHS})\.? (?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? |(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? "
    rf"(?:of )?(?P<m2>{_MONTHS})\.?,? |(?P<m3>{_MONTHS})\.?,? )(?P<y>\d{{4}})(?!\d)"
)
_ORDINAL = re.compile(rf"第\s?(?P<n>{_NUM})\s?(?P<unit>[{HAN}])")
_QUANTITY = re.compile(rf"(?<![\d.第])(?<!第 )(?P<n>\d+(?:\.\d+)?)\s?(?P<unit>[{HAN}])")
_QUANTITY_HAN = re.compile(rf"(?<![第{_NUMERAL}])(?P<n>[{_NUMERAL}]+)(?P<unit>[{_UNITS_HAN}])")
_QUANTITY_LATIN = re.compile(rf"(?<![a-z0-9.])(?P<n>\d+(?:\.\d+)?)(?: | ?(?=°))(?P<unit>{_UNITS_LATIN})(?![a-z0-9])")
_DOCUMENT = re.compile(
    rf"(?P<by>[{HAN}]{{1,4}})\s?[〔(\[【]\s?(?P<y>\d{{4}})\s?[〕)\]】]\s?第?\s?(?P<n>\d{{1,9}})\s?号"
)
_NAME = re.compile(
    r"(?<![a-z0-9/.@'’-])(?P<name>[a-z][a-z.+-]*+(?:/[a-z]{1,3}+)?+)(?P<gap> ?)"
    r"(?P<code>[a-z]{0,3}\d[a-z0-9]*+(?:[-./×*:][a-z0-9]+)*+)"
    rf"(?P<rest>(?: (?:{_EDITIONS})(?![a-z0-9]))*+)"
)


def expressions(text: str) -> Iterator[Expression]:
    """Yield what `text` (normalised) says in one of the known forms. Readings may overlap."""
    if any(map(str.isdigit, text)) or any(character in text for character in _VALUES | _POWERS):
        yield from _dates(text)
        yield from _quantities(text)
        yield from _codes(text)


def number_of(numeral: str) -> int | None:
    """Return the value of an Arabic or Chinese numeral (十二, 二〇二四, 一百零五, 三万五千), or None.

    Digits after a power without one of their own are taken at face value: 一百五 is 105, as written in laws.
    """
    if len(numeral) > _LONGEST_NUMERAL:
        return None
    if numeral.isdecimal():
        return int(numeral)
    if all(character in _VALUES for character in numeral):
        return int("".join(str(_VALUES[character]) for character in numeral))
    total = group = digit = 0
    for character in numeral:
        if character in _VALUES:
            digit = _VALUES[character]
        elif character in _POWERS:
            group += (digit or 1) * _POWERS[character]
            digit = 0
        elif character in _GROUPS and (total or group or digit):
            total = (
                (total + group + digit) * _GROUPS[character] if character == "亿" else total + (group + digit) * 10_000
            )
            group = digit = 0
        else:
            return None
    return total + group + digit


def _date_key(year: int | None, month: int | None, day: int | None) -> str | None:
    if year is None or month is None or not 1 <= month <= 12 or (day is not None and not 1 <= day <= 31):
        return None
    return f"{year:04}-{month:02}" if day is None else f"{year:04}-{month:02}-{day:02}"


def _dates(text: str) -> Iterator[Expression]:
    for match in _DATE.finditer(text):
        month, day = match["m"] or match["m2"], match["d"] or match["d2"]
        yield from _date(match, number_of(month), number_of(day) if day else None)
    for match in _DATE_ENGLISH.finditer(text):
        day = match["d"] or match["d2"]
        yield from _date(match, ENGLISH_MONTHS[match["m"] or match["m2"] or match["m3"]], int(day) if day else None)


def _date(match: re.Match[str], month: int | None, day: int | None) -> Iterator[Expression]:
    year = number_of(match["y"])
    # In a fixed order: a set of texts has another one in every process.
    for key in dict.fromkeys((_date_key(year, month, day), _date_key(year, month, None))):
        if key is not None:
            yield Expression(key, *match.span(), "date")


def _quantities(text: str) -> Iterator[Expression]:
    for pattern, prefix in ((_ORDINAL, "第"), (_QUANTITY, ""), (_QUANTITY_HAN, "")):
        for match in pattern.finditer(text):
            raw = match["n"]
            value = raw if "." in raw else number_of(raw)
            if value is not None:
                yield Expression(f"{prefix}{value}{match['unit']}", *match.span(), "number")
    for match in _QUANTITY_LATIN.finditer(text):
        yield Expression(match["n"] + match["unit"], *match.span(), "code")


def _codes(text: str) -> Iterator[Expression]:
    for match in _DOCUMENT.finditer(text):
        by, rest = match["by"], f"{match['y']}#{int(match['n'])}号"
        yield Expression(by[-2:] + rest, *match.span(), "code")
        if len(by) > 2:
            yield Expression(by[-3:] + rest, *match.span(), "lead")
    for match in _NAME.finditer(text):
        yield from _name(match)


def _name(match: re.Match[str]) -> Iterator[Expression]:
    """Yield iphone15promax, and iphone15 and iphone15pro as its leading parts."""
    name, code = match["name"], match["code"]
    joined = not match["gap"] and not match["rest"]  # one token, which stands for itself
    if joined or name in ENGLISH or name in ENGLISH_MONTHS:
        return
    editions = match["rest"].split()
    for end in range(len(editions) + 1):
        key = canonical(f"{name}-{code}{''.join(editions[:end])}")
        yield Expression(key, *match.span(), "code" if end == len(editions) else "lead")
    for lead in leads(f"{name}-{code}"):
        yield Expression(lead, *match.span(), "lead")
