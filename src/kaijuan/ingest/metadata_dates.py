"""Dates as documents write them, to ISO 8601. A date that can be read two ways (03/04/2024) is none."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_HAN_DIGITS = {mark: value for value, marks in enumerate(("〇零○", *"一二三四五六七八九")) for mark in marks}
_REPUBLIC_BEGAN = 1911
"""Years of the Republic of China (民國) are counted from 1912."""

DATE = (
    r"(?:(?P<roc>(?:中華民國|中华民国|民國|民国)\s*)?(?P<y1>\d{2,4})\s*年\s*(?P<m1>\d{1,2})\s*月\s*(?P<d1>\d{1,2})\s*日"
    r"|(?P<y2>[一二三四五六七八九〇零○]{4})年(?P<m2>[一二三四五六七八九十]{1,2})月(?P<d2>[一二三四五六七八九十]{1,3})日"
    r"|(?<![\d.])(?P<y3>\d{4})(?P<mark>[-/.])(?P<m3>\d{1,2})(?P=mark)(?P<d3>\d{1,2})(?![\d.]\d|\d)"
    rf"|\b(?P<m4>{_MONTH})\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y4>\d{{4}})\b"
    rf"|\b(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m5>{_MONTH}),?\s+(?P<y5>\d{{4}})\b)"
)
"""A pattern of one date; to be used once in a pattern, with re.IGNORECASE. `read` takes its groups."""
_DATE = re.compile(DATE, re.I)


def read(found: re.Match[str]) -> str:
    """Return the ISO date of a match of DATE, "" for a day that is not in the calendar."""
    groups = found.groupdict()
    for kind in "12345":
        if groups[f"y{kind}"]:
            year, month, day = (groups[f"{part}{kind}"] for part in "ymd")
            return _iso(_year(year, republic=bool(groups["roc"])), _number(month), _number(day))
    return ""


def only_date(text: str) -> str:
    """Return the ISO date that a text holds, "" when there is none or more than one."""
    dates = {read(found) for found in _DATE.finditer(text)}
    return dates.pop() if len(dates) == 1 else ""


def _iso(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _year(text: str, *, republic: bool) -> int:
    if not text.isdecimal():
        return int("".join(str(_HAN_DIGITS[mark]) for mark in text))
    year = int(text)
    if republic:
        return year + _REPUBLIC_BEGAN
    return year if len(text) == len("2024") else 0


def _number(text: str) -> int:
    """Return the number of a month or day: "7", "July", "十二"."""
    if text.isdecimal():
        return int(text)
    if text[0].isascii():
        return _MONTHS.index(text[:3].lower()) + 1
    tens, ten, ones = text.rpartition("十")
    number = _HAN_DIGITS.get(ones, 0)
    return number + (10 * _HAN_DIGITS.get(tens, 1) if ten else 0)
