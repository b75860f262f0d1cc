"""Dates and times of spreadsheets as their cells show them, with Chinese names where the format is Chinese."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from kaijuan.ingest.parsers.han_numbers import han_digits, han_number

_TOKEN = re.compile(
    r'"([^"]*)"?|\\(.)|[_*].?|\[([^\]]*)\]|(AM/PM|A/P|上午/下午)|(y+|m+|d+|h+|s+|aaaa?|e+|g+|b+)|(\.0+)|(.)',
    re.I | re.S,
)
_LITERAL = re.compile(r'"[^"]*"?|\\.|[_*].?', re.S)
_DATE = re.compile(r"\[(?:h+|m+|s+)\]|AM/PM|A/P|上午/下午|[ymdhs]|aaa|(?<![a-z])e(?![+-])", re.I)
_DIGIT = re.compile(r"[0#?]")
_ELAPSED = {"h": 3600, "m": 60, "s": 1}
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HAN_DAYS = "一二三四五六日"
_LAST_SERIAL = 2_958_465
"""31 December 9999."""
_CHINESE = re.compile(r"\[\$-(?:[0-9A-F]*0?(?:804|404|C04|1004|1404)|zh[\w-]*)", re.I)


def is_date_code(section: str) -> bool:
    """Say whether one section of a format code shows a moment or a length of time."""
    bare = _LITERAL.sub("", section)
    if "general" in bare.lower():
        return False
    timed = re.sub(r"\[(?!h+\]|m+\]|s+\])[^\]]*\]", "", bare, flags=re.I)
    # Digits beside letters are a number with a unit; after a point they are parts of a second.
    return bool(_DATE.search(timed)) and not _DIGIT.search(re.sub(r"(?<=s)\.0+|(?<=s\])\.0+", "", timed, flags=re.I))


def shown_date(value: float, section: str, *, han: str = "", since_1904: bool = False) -> str:
    """Return a serial number of days as a section of a format code shows it; digits where it is no day."""
    tokens = [_kind(found) for found in _TOKEN.finditer(section)]
    elapsed = any(kind == "elapsed" for kind, _ in tokens)
    if not elapsed and not 0 <= value <= _LAST_SERIAL:
        return f"{value:.15g}"
    moment = _moment(
        value, since_1904=since_1904, places=max((len(t) - 1 for k, t in tokens if k == "parts"), default=0)
    )
    chinese = bool(_CHINESE.search(section)) or any(
        "年" in text or "月" in text for kind, text in tokens if kind == "text"
    )
    context = _Context(value, moment, tokens, chinese=chinese, han=han)
    return "".join(context.shown(at) for at in range(len(tokens))).strip()


def _kind(found: re.Match[str]) -> tuple[str, str]:
    quoted, escaped, bracket, half, token, parts, single = found.groups()
    if quoted is not None or escaped is not None:
        return "text", quoted if quoted is not None else escaped
    if bracket is not None:
        letters = bracket.lower()
        return ("elapsed", letters) if letters and set(letters) <= {letters[0]} and letters[0] in _ELAPSED else ("", "")
    if half:
        return "half", half
    if token:
        return token[0].lower(), token.lower()
    if parts:
        return "parts", parts
    return "text", single or ""


def _moment(value: float, *, since_1904: bool, places: int) -> datetime:
    """Return the moment, rounded to the smallest part shown. Day 60 of 1900 never was; days before it count from 1."""
    first = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 31 if 0 <= value < 60 else 30)
    seconds = (Decimal(repr(float(value))) * 86_400).quantize(Decimal(1).scaleb(-min(places, 6)), ROUND_HALF_UP)
    try:
        return first + timedelta(seconds=float(seconds))
    except OverflowError:
        return first


class _Context:
    """What one token needs to know of its neighbours."""

    def __init__(
        self, value: float, moment: datetime, tokens: list[tuple[str, str]], *, chinese: bool, han: str
    ) -> None:
        self._value = value
        self._moment = moment
        self._tokens = tokens
        self._chinese = chinese
        self._han = han
        self._halves = any(kind == "half" for kind, _ in tokens)

    def shown(self, at: int) -> str:
        kind, text = self._tokens[at]
        shape = {
            "text": lambda: text,
            "elapsed": lambda: self._elapsed(text),
            "half": lambda: self._half(text),
            "parts": lambda: f".{self._moment.microsecond:06d}"[: len(text)],
            "y": lambda: self._year(text),
            "e": lambda: self._year("yyyy"),
            "m": lambda: self._minute_or_month(at, text),
            "d": lambda: self._day(text),
            "h": lambda: self._hour(text),
            "s": lambda: self._number(self._moment.second, text),
            "a": lambda: ("星期" if len(text) > 3 else "周") + _HAN_DAYS[self._moment.weekday()],
        }.get(kind)
        return shape() if shape else ""

    def _number(self, number: int, text: str) -> str:
        if self._han:
            return han_number(number, self._han)
        return f"{number:02d}" if len(text) > 1 else str(number)

    def _year(self, text: str) -> str:
        year = self._moment.year if len(text) > 2 else self._moment.year % 100
        if self._han:
            return han_digits(year, self._han)
        return f"{year:0{4 if len(text) > 2 else 2}d}"

    def _minute_or_month(self, at: int, text: str) -> str:
        if len(text) <= 2 and self._is_minute(at):
            return self._number(self._moment.minute, text)
        month = self._moment.month
        if len(text) <= 2:
            return self._number(month, text)
        if self._chinese:
            return f"{han_number(month, '1')}月"
        name = _MONTHS[month - 1]
        return {3: name[:3], 5: name[0]}.get(len(text), name)

    def _is_minute(self, at: int) -> bool:
        parts = [(n, kind, text) for n, (kind, text) in enumerate(self._tokens) if kind in {*"ymdhs", "elapsed"}]
        place = next(n for n, part in enumerate(parts) if part[0] == at)
        before = parts[place - 1] if place else None
        after = parts[place + 1] if place + 1 < len(parts) else None
        return bool(
            (before and (before[1] == "h" or (before[1] == "elapsed" and before[2][0] == "h")))
            or (after and (after[1] == "s" or (after[1] == "elapsed" and after[2][0] == "s")))
        )

    def _day(self, text: str) -> str:
        if len(text) <= 2:
            return self._number(self._moment.day, text)
        weekday = self._moment.weekday()
        if self._chinese:
            return ("周" if len(text) == 3 else "星期") + _HAN_DAYS[weekday]
        return _DAYS[weekday][:3] if len(text) == 3 else _DAYS[weekday]

    def _hour(self, text: str) -> str:
        hour = self._moment.hour
        return self._number((hour % 12 or 12) if self._halves else hour, text)

    def _half(self, text: str) -> str:
        late = self._moment.hour >= 12
        if "午" in text or (self._chinese and len(text) > 3):
            return "下午" if late else "上午"
        return ("PM" if late else "AM") if len(text) > 3 else ("P" if late else "A")

    def _elapsed(self, text: str) -> str:
        seconds = int((Decimal(repr(float(abs(self._value)))) * 86_400).to_integral_value(ROUND_HALF_UP))
        sign = "-" if self._value < 0 else ""
        return f"{sign}{seconds // _ELAPSED[text[0]]:0{len(text)}d}"
