"""The words of a written filter: signs, quoted text, numbers and dates, each with its place for error messages."""

from __future__ import annotations

import datetime
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from kaijuan.core.filters import Value
from kaijuan.errors import FilterError

MAX_NUMBER = 100
"""Characters of a number. Longer ones are slow to read and beyond every engine."""

PLAIN = str.maketrans("（）【】，、＝＜＞！：－．／＋　０１２３４５６７８９", "()(),,=<>!:-./+ 0123456789")
"""Full-width signs that mean the same, one for one so that positions stay."""
OPERATORS = {"==": "=", "<>": "!=", "≠": "!=", "≥": ">=", "≧": ">=", "≤": "<=", "≦": "<="}
QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "＂": "＂", "`": "`"}
KEYWORDS = {
    "and": "and",
    "or": "or",
    "not": "not",
    "in": "in",
    "has": "has",
    "exists": "exists",
    "everything": "everything",
    "nothing": "nothing",
    "且": "and",
    "或": "or",
    "非": "not",
    "属于": "in",
    "包含": "has",
    "存在": "exists",
}

_SIGN = re.compile(r">=|<=|!=|==|<>|[=<>≠≥≧≤≦(),]")
_WORD = re.compile(r"[^\s()=<>≠≥≧≤≦!,\"'“”‘’「」＂`]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_DATE = re.compile(
    r"(?P<y>\d{4})(?:[-/](?P<m>\d{1,2})[-/](?P<d>\d{1,2})|年(?:(?P<hm>\d{1,2})月(?:(?P<hd>\d{1,2})[日号])?)?)"
    r"(?:[Tt](?P<time>\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(?P<zone>[Zz]|[+-]\d{2}:?\d{2})?)?"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A date (`end` is where it stops) or an instant (`end` is None), in seconds since 1970 UTC."""

    start: float
    end: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One sign, word or quoted text. `start` counts in the text as the user wrote it."""

    kind: Literal["sign", "word", "quoted", "name", "end"]
    text: str
    plain: str
    start: int

    @property
    def keyword(self) -> str:
        """The keyword that this bare word is, or ""."""
        return KEYWORDS.get(self.plain.lower(), "") if self.kind == "word" else ""


def split_words(text: str) -> list[Token]:
    """Cut the text into tokens; the last one is always the end."""
    plain = text.translate(PLAIN)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if plain[at].isspace():
            at += 1
        elif text[at] in QUOTES:
            token, at = _quoted(text, at)
            tokens.append(token)
        elif found := _SIGN.match(plain, at):
            sign = OPERATORS.get(found.group(), found.group())
            tokens.append(Token(kind="sign", text=text[at : found.end()], plain=sign, start=at))
            at = found.end()
        elif found := _WORD.match(plain, at):
            tokens.append(Token(kind="word", text=text[at : found.end()], plain=found.group(), start=at))
            at = found.end()
        else:
            raise error_at(text, at, f"{text[at]!r} means nothing here; put text with signs in quotes")
    tokens.append(Token(kind="end", text="", plain="", start=len(text)))
    return tokens


def _quoted(text: str, start: int) -> tuple[Token, int]:
    close = QUOTES[text[start]]
    letters: list[str] = []
    at = start + 1
    while at < len(text) and text[at] != close:
        letter, at = _letter(text, at)
        letters.append(letter)
    if at >= len(text):
        raise error_at(text, start, f"this quote is never closed with {close}")
    content = "".join(letters)
    kind: Literal["name", "quoted"] = "name" if close == "`" else "quoted"
    return Token(kind=kind, text=content, plain=content, start=start), at + 1


def _letter(text: str, at: int) -> tuple[str, int]:
    if text[at] != "\\" or at + 1 >= len(text):
        return text[at], at + 1
    escaped = text[at + 1]
    if escaped == "u":
        digits = text[at + 2 : at + 6]
        if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            raise error_at(text, at, "expected four hexadecimal digits after \\u")
        return chr(int(digits, 16)), at + 6
    if escaped in _ESCAPES:
        return _ESCAPES[escaped], at + 2
    if escaped == "\\" or escaped in QUOTES or escaped in QUOTES.values():
        return escaped, at + 2
    raise error_at(text, at, f"\\{escaped} is no escape; write \\\\ for a backslash")


def bare_value(token: Token) -> Value | Moment:
    """Tell what an unquoted word is: true or false, a number, a date, or else text. ValueError when malformed."""
    word = token.plain
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if _NUMBER.fullmatch(word) and word.isascii():
        if len(word) > MAX_NUMBER:
            raise ValueError(f"a number has at most {MAX_NUMBER} characters")
        number = int(word) if re.fullmatch(r"[+-]?\d+", word) else float(word)
        if number in (float("inf"), float("-inf")):
            raise ValueError("this number is too large")
        return number
    if (found := _DATE.fullmatch(word)) and word.replace("年", "").replace("月", "").rstrip("日号").isascii():
        return _moment(found)
    return token.text


def _moment(found: re.Match[str]) -> Moment:
    year = int(found["y"])
    month, day = found["m"] or found["hm"], found["d"] or found["hd"]
    try:
        first = datetime.datetime(year, int(month or 1), int(day or 1), tzinfo=datetime.UTC)
        if found["time"]:
            return Moment(start=_instant(first, found["time"], found["zone"] or "Z"))
        return Moment(start=first.timestamp(), end=_next(first, month=bool(month), day=bool(day)).timestamp())
    except ValueError as error:
        raise ValueError(f"there is no such date; to compare text, write {json.dumps(found.group())}") from error


def _instant(first: datetime.datetime, time: str, zone: str) -> float:
    hour, _, rest = time.partition(":")
    text = f"{first.date().isoformat()}T{hour:0>2}:{rest}{'+00:00' if zone in 'Zz' else zone}"
    return datetime.datetime.fromisoformat(text).timestamp()


def _next(first: datetime.datetime, *, month: bool, day: bool) -> datetime.datetime:
    if day:
        return first + datetime.timedelta(days=1)
    if month:
        return (first + datetime.timedelta(days=31)).replace(day=1)
    return first.replace(year=first.year + 1)


def error_at(text: str, at: int, expected: str) -> FilterError:
    """Make the error that says what is wrong at a position, with the stretch of text around it and a caret below."""
    start = max(0, at - 40)
    shown = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text[start : at + 30])
    before = shown[: at - start]
    columns = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in before)
    return FilterError(f"Cannot read the filter at character {at + 1}: {expected}.\n  {shown}\n  {' ' * columns}^")
