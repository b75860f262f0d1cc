"""Data about persons: numbers that can be checked, and contact data in bulk.

Only forms with a check digit or a label of their own count one by one; phone numbers and e-mail addresses stand in
every letterhead and count when there are many. Names and postal addresses need a model and are not looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kaijuan.core.reviews import Finding
from kaijuan.ingest.gate.matter import Matter

_DIGITS = re.compile(r"\d[\d -]{5,}\d")
_CHINESE_ID = re.compile(
    r"(?<![\dA-Za-z])[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])"
)
_CHINESE_MOBILE = re.compile(r"(?<![\dA-Za-z.-])(?:\+?86[ -]?)?1[3-9]\d(?:[ -]?\d{4}){2}(?![\dA-Za-z.-]\d?)")
_PHONE = re.compile(
    r"(?<![\w.-])(?:\+\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?![\w-]|\.\d)"
    r"|(?<![\w.-])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?![\w-]|\.\d)"
)
_CARD = re.compile(
    r"(?<![A-Za-z\d.,-])(?:[3-6]\d{3}|2[2-7]\d{2}|1800|2131)(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\d.,]\d|\d|-)"
)
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_PASSPORT = re.compile(
    r"(?:护照(?:号码?)?|passport(?: (?:no|number))?)\W{0,4}((?:[EGDSPHM][A-Z]?\d{7,8}|[A-Z]\d{8}|\d{9}))\b", re.I
)
_MAIL = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z]{2,18}")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_SIGNS = "10X98765432"


def personal(matter: Matter, bulk: int) -> Iterator[Finding]:
    """Find them; each kind once, with its number. `bulk` is how many contacts make a list."""
    text = matter.text
    if "@" in text:
        yield from _told(matter, "e-mail addresses", _MAIL, lambda _: True, bulk)
    if _DIGITS.search(text) is None:
        return
    yield from _told(matter, "Chinese identity numbers", _CHINESE_ID, is_chinese_id, 1)
    yield from _told(matter, "bank card numbers", _CARD, is_card, 1)
    yield from _told(matter, "US social security numbers", _SSN, lambda _: True, 1)
    yield from _told(matter, "IBAN account numbers", _IBAN, is_iban, 1)
    yield from _told(matter, "passport numbers", _PASSPORT, lambda _: True, 1)
    yield from _told(matter, "mobile numbers", _CHINESE_MOBILE, lambda _: True, bulk)
    yield from _told(matter, "phone numbers", _PHONE, lambda _: True, bulk)


def _told(
    matter: Matter, said: str, pattern: re.Pattern[str], is_one: Callable[[str], bool], least: int
) -> Iterator[Finding]:
    places: dict[str, int] = {}
    for match in pattern.finditer(matter.text):
        if is_one(match.group()):
            places.setdefault(match.group(), match.start())
    if len(places) >= least:
        value, start = next(iter(places.items()))
        shown = f"{value[:3]}…{value[-2:]}"
        yield matter.finding("personal", said, start, start + len(value), count=len(places), shown=shown)


def is_chinese_id(number: str) -> bool:
    """Say whether the check digit of a citizen's identity number is right (GB 11643-1999)."""
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _ID_WEIGHTS, strict=True))
    return number[17].upper() == _ID_SIGNS[total % 11]


def is_card(number: str) -> bool:
    """Say whether a number is as long as a card's and has the right check digit (ISO/IEC 7812, Luhn)."""
    digits = [int(sign) for sign in number if sign.isdigit()]
    if not 14 <= len(digits) <= 19 or len(set(digits)) < 4 or _CHINESE_ID.fullmatch(number):
        return False
    doubled = (digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_iban(number: str) -> bool:
    """Say whether the check digits of an account number are right (ISO 13616, modulo 97)."""
    plain = number.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1
