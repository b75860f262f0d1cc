"""Numbers of spreadsheets as their cells show them, by the format codes of ECMA-376 part 1, 18.8.31.

Colours, fill characters and column widths are not shown. Dates are in date_formats.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

from kaijuan.ingest.parsers.date_formats import is_date_code, shown_date
from kaijuan.ingest.parsers.han_numbers import han_number

# A piece is a quoted text, an escaped character, a gap (_x), a fill (*x), something in brackets, or one character.
_PIECE = re.compile(r'"([^"]*)"?|\\(.)|([_*]).?|\[([^\]]*)\]|(General)|([eE][+-])|(.)', re.I | re.S)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)$")
_CURRENCY = re.compile(r"\$([^-]*)(?:-\w+)?$")
_DIGITS = frozenset("0#?")
_MOST_DIGITS = 15
"""Significant digits that a spreadsheet keeps."""
_SIGNS = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "=": lambda a, b: a == b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<>": lambda a, b: a != b,
}


@dataclass(frozen=True, slots=True)
class _Mark:
    """One piece of a section: text as it is, or what stands for something ("0", ".", "%", "E+", ...)."""

    text: str
    literal: bool


@dataclass(frozen=True, slots=True)
class _Section:
    code: str
    marks: tuple[_Mark, ...]
    condition: tuple[str, Decimal] | None
    han: str
    is_date: bool


@lru_cache(maxsize=1 << 14)
def shown_number(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as a cell with this format code shows it; what no code explains is shown in full."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    sections = _sections(code or "General")
    section, negated = _chosen(value, sections)
    if section is None:
        return general(value)
    if section.is_date:
        return shown_date(value, section.code, han=section.han, since_1904=since_1904)
    number = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)
    try:
        return _drawn(-number if negated else number, section)
    except (InvalidOperation, ValueError, OverflowError):
        return general(value)


def shown_text(text: str, code: str) -> str:
    """Return a text as a cell with this format code shows it: a fourth section, or one with "@", frames it."""
    if code in {"General", "@", ""}:
        return text
    sections = _sections(code)
    section = sections[3] if len(sections) > 3 else sections[-1]
    if not any(mark.text == "@" and not mark.literal for mark in section.marks):
        return text
    return "".join(text if mark.text == "@" and not mark.literal else mark.text for mark in section.marks)


def general(value: float) -> str:
    """Return a number in full, with the digits that a spreadsheet keeps and without a useless point."""
    if float(value).is_integer() and abs(value) < 10**15:
        return str(int(value))
    return f"{value:.{_MOST_DIGITS}g}"


def is_date_format(code: str) -> bool:
    """Say whether numbers with this format code are moments or lengths of time."""
    return _sections(code or "General")[0].is_date


@lru_cache(maxsize=2048)
def _sections(code: str) -> tuple[_Section, ...]:
    return tuple(_section(part) for part in _parted(code[:1000]))


def _parted(code: str) -> list[str]:
    parts = [""]
    for found in _PIECE.finditer(code):
        if found[0] == ";":
            parts.append("")
        else:
            parts[-1] += found[0]
    return parts


def _section(code: str) -> _Section:
    marks: list[_Mark] = []
    condition = None
    han = ""
    for found in _PIECE.finditer(code):
        quoted, escaped, gap, bracket, whole, exponent, single = found.groups()
        if quoted is not None or escaped is not None:
            marks.append(_Mark(quoted if quoted is not None else escaped, literal=True))
        elif bracket is not None:
            if said := _CONDITION.match(bracket):
                condition = (said[1], Decimal(said[2]))
            elif bracket.lower().startswith("dbnum"):
                han = bracket[5:]
            elif money := _CURRENCY.match(bracket):
                marks.append(_Mark(money[1], literal=True))
        elif gap is None:
            mark = "General" if whole else exponent.upper() if exponent else single
            marks.append(_Mark(mark, literal=False))
    return _Section(code, tuple(marks), condition, han, is_date_code(code))


def _chosen(value: float, sections: tuple[_Section, ...]) -> tuple[_Section | None, bool]:
    """Return the section for a number, and whether the section itself says that it is below zero."""
    number = Decimal(repr(float(value)))
    numeric = sections[:3]
    if any(section.condition for section in numeric):
        for section in numeric:
            if section.condition is None or _SIGNS[section.condition[0]](number, section.condition[1]):
                # A lone condition below zero speaks of negative numbers only.
                return section, section.condition is not None and value < 0 and len(numeric) > 1
        return None, False
    if len(numeric) == 1 or value > 0 or (value == 0 and len(numeric) == 2):
        return numeric[0], False
    if value < 0:
        return numeric[1], True
    return numeric[2], False


def _drawn(number: Decimal, section: _Section) -> str:
    marks = section.marks
    active = [mark.text for mark in marks if not mark.literal]
    if "General" in active or "@" in active:
        text = han_number(int(number), section.han) if section.han and number == int(number) else general(float(number))
        stands = {"General", "@"}
        return "".join(text if mark.text in stands and not mark.literal else mark.text for mark in marks)
    if not any(mark in _DIGITS for mark in active):
        return "".join(mark.text for mark in marks)
    text = _in_digits(abs(number) * Decimal(100) ** active.count("%"), section, active)
    # Rounded to nothing, a small negative number is shown without its sign.
    return "-" + text if number < 0 and re.search(r"[1-9\u4e00-\u9fff]", text) else text


def _in_digits(number: Decimal, section: _Section, active: list[str]) -> str:
    if "/" in active:
        return _fraction(number, section.marks)
    exponent = next((mark for mark in active if mark in {"E+", "E-"}), "")
    if exponent:
        return _scientific(number, section.marks, exponent)
    if section.han and all(mark in {"0", "#"} for mark in active):
        return _joined(section.marks, han_number(int(number.to_integral_value(ROUND_HALF_UP)), section.han))
    return _plain(number, section.marks)


def _joined(marks: tuple[_Mark, ...], digits: str) -> str:
    out, done = [], False
    for mark in marks:
        if mark.literal or mark.text not in _DIGITS:
            out.append(mark.text)
        elif not done:
            out.append(digits)
            done = True
    return "".join(out)


def _plain(number: Decimal, marks: tuple[_Mark, ...]) -> str:
    """Draw with digits, point and thousands: the whole part from the right, the rest from the left."""
    point = next((at for at, mark in enumerate(marks) if mark.text == "." and not mark.literal), len(marks))
    last = max(at for at, mark in enumerate(marks) if _is_digit(mark))
    # Commas behind the digits of the whole part, or behind all, scale by thousands each.
    before = max((at for at in range(min(point, last + 1)) if _is_digit(marks[at])), default=-1)
    scale = sum(1 for mark in marks[before + 1 : point] + marks[max(last + 1, point) :] if _is(mark, ","))
    grouped = any(_is(mark, ",") for mark in marks[:before]) if before >= 0 else False
    places = sum(1 for mark in marks[point:] if _is_digit(mark))
    number = (number / 1000**scale).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    whole, _, rest = f"{number:f}".partition(".")
    text = _whole(whole.lstrip("0"), marks[:point], grouped=grouped)
    return text + _decimals(rest, marks[point:])


def _is_digit(mark: _Mark) -> bool:
    return not mark.literal and mark.text in _DIGITS


def _is(mark: _Mark, text: str) -> bool:
    return not mark.literal and mark.text == text


def _whole(digits: str, marks: tuple[_Mark, ...], *, grouped: bool) -> str:
    out: list[str] = []
    used = 0
    left = sum(1 for mark in marks if _is_digit(mark))
    for mark in reversed(marks):
        if not _is_digit(mark):
            if not _is(mark, ","):
                out.append(mark.text)
            continue
        left -= 1
        # The leftmost placeholder takes all digits that are left.
        for _ in range(max(len(digits) - used, 1) if left == 0 else 1):
            digit = digits[len(digits) - 1 - used] if used < len(digits) else "0" if mark.text == "0" else ""
            if digit and grouped and used and used % 3 == 0:
                out.append(",")
            out.append(digit)
            used += 1
    return "".join(reversed(out))


def _decimals(digits: str, marks: tuple[_Mark, ...]) -> str:
    out: list[str] = []
    kept = len(digits.rstrip("0"))
    at = 0
    for mark in marks:
        if _is_digit(mark):
            if at < kept or mark.text == "0":
                out.append(digits[at] if at < len(digits) else "0")
            at += 1
        elif not _is(mark, ","):
            out.append(mark.text)
    text = "".join(out)
    return text[1:] if text.startswith(".") and not any(char.isdigit() for char in text[1:2]) else text


def _scientific(number: Decimal, marks: tuple[_Mark, ...], exponent: str) -> str:
    at = next(at for at, mark in enumerate(marks) if mark.text == exponent and not mark.literal)
    mantissa, tail = marks[:at], marks[at + 1 :]
    point = next((n for n, mark in enumerate(mantissa) if _is(mark, ".")), len(mantissa))
    whole = max(1, sum(1 for mark in mantissa[:point] if _is_digit(mark)))
    power = number.adjusted() if number else 0
    power -= power % whole if whole > 1 else 0
    scaled = number.scaleb(-power)
    places = sum(1 for mark in mantissa[point:] if _is_digit(mark))
    if scaled.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP) >= Decimal(10) ** whole:
        power += 1 if whole == 1 else whole
        scaled = number.scaleb(-power)
    width = sum(1 for mark in tail if _is_digit(mark))
    sign = "-" if power < 0 else "+" if exponent == "E+" else ""
    rest = "".join(mark.text for mark in tail if not _is_digit(mark))
    return f"{_plain(scaled, mantissa)}E{sign}{abs(power):0{width}d}{rest}"


def _fraction(number: Decimal, marks: tuple[_Mark, ...]) -> str:
    slash = next(at for at, mark in enumerate(marks) if _is(mark, "/"))
    below = [mark.text for mark in marks[slash + 1 :] if not mark.literal]
    fixed = "".join(below).strip()
    if fixed.isdigit() and int(fixed):
        bottom = int(fixed)
        part = Fraction(int((number * bottom).to_integral_value(ROUND_HALF_UP)), bottom)
        top_of = part * bottom
    else:
        part = Fraction(number).limit_denominator(10 ** max(1, sum(text in _DIGITS for text in below)) - 1)
        bottom, top_of = part.denominator, Fraction(part.numerator)
    has_whole = sum(1 for mark in marks[:slash] if _is(mark, " ")) > 0
    whole, top = divmod(int(top_of), bottom) if has_whole else (0, int(top_of))
    if not top:
        return str(whole)
    return f"{whole} {top}/{bottom}" if whole else f"{top}/{bottom}"
