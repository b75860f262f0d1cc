"""The written form of filters: `kind = pdf and created >= 2024-01-01`, read into the filter tree and written back.

    filter  = all ("or" all)*                 all = part ("and" part)*
    part    = "not" part | "(" filter ")" | "exists" field | "everything" | "nothing"
            | field ("=" | "!=" | "has") value | field ["not"] "in" "(" [value ("," value)*] ")"
            | field bound+                    bound = ("<" | "<=" | ">" | ">=") (number | date)

A date without a time means that whole day in UTC, so `= 2024-01-01` is any moment of it and `> 2024-01-01` begins on
the second. Several bounds in a row (`pages >= 2 < 10`) hold for one and the same number.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

from kaijuan.core.filter_words import KEYWORDS, PLAIN, Moment, Token, bare_value, error_at, split_words
from kaijuan.core.filters import FIELD, And, Eq, Exists, Filter, In, Not, Or, Range, Value
from kaijuan.errors import FilterError

MAX_CHARACTERS = 20_000
MAX_DEPTH = 50
BOUNDS: dict[str, Literal["gte", "gt", "lte", "lt"]] = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}


def parse_filter(text: str) -> Filter:
    """Read one filter. FilterError names the position, shows it with a caret and says what was expected."""
    if len(text) > MAX_CHARACTERS:
        raise FilterError(f"The filter has {len(text)} characters; at most {MAX_CHARACTERS} are read.")
    return _Reader(text).read()


def format_filter(tree: Filter) -> str:
    """Write a filter so that `parse_filter` gives the same tree; And or Or of exactly one item becomes the item."""
    return _write(tree, inside="", depth=0)


class _Reader:
    """Recursive descent over the tokens of one filter."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = split_words(text)
        self.at = 0
        self.depth = 0

    def read(self) -> Filter:
        tree = self.either()
        if self.now.kind != "end":
            raise self.fail('expected "and", "or" or the end')
        return tree

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def fail(self, expected: str, token: Token | None = None) -> FilterError:
        return error_at(self.text, (token or self.now).start, expected)

    def take(self) -> Token:
        token = self.now
        self.at += 1
        return token

    def is_sign(self, *signs: str) -> bool:
        return self.now.kind == "sign" and self.now.plain in signs

    def expect(self, sign: str) -> None:
        if not self.is_sign(sign):
            raise self.fail(f'expected "{sign}"')
        self.at += 1

    def either(self) -> Filter:
        items = [self.both()]
        while self.now.keyword == "or":
            self.at += 1
            items.append(self.both())
        return items[0] if len(items) == 1 else Or(tuple(items))

    def both(self) -> Filter:
        items = [self.part()]
        while self.now.keyword == "and":
            self.at += 1
            items.append(self.part())
        return items[0] if len(items) == 1 else And(tuple(items))

    def part(self) -> Filter:
        self.depth += 1
        if self.depth > MAX_DEPTH + 1:
            raise self.fail(f"nested more than {MAX_DEPTH} deep")
        try:
            return self.nested()
        finally:
            self.depth -= 1

    def nested(self) -> Filter:
        if self.is_sign("("):
            self.at += 1
            tree = self.either()
            self.expect(")")
            return tree
        match self.now.keyword:
            case "not":
                self.at += 1
                return Not(self.part())
            case "exists":
                self.at += 1
                return Exists(self.field())
            case "everything" | "nothing" as word:
                self.at += 1
                return And() if word == "everything" else Or()
            case _:
                return self.leaf()

    def field(self) -> str:
        token = self.now
        if token.kind not in ("word", "name") or token.keyword:
            raise self.fail("expected a field name")
        name = token.plain.lower()
        if not FIELD.fullmatch(name):
            raise self.fail(
                "a field name has letters, Chinese characters, digits, _ and dots, and begins with no digit or dot"
            )
        self.at += 1
        return name

    def leaf(self) -> Filter:
        name = self.field()
        if self.is_sign("=") or self.now.keyword == "has":
            self.at += 1
            return self.equal(name)
        if self.is_sign("!="):
            self.at += 1
            return Not(self.equal(name))
        if self.is_sign(*BOUNDS):
            return self.bounds(name)
        if self.now.keyword == "in":
            return self.among(name)
        if self.now.keyword == "not":
            self.at += 1
            return Not(self.among(name))
        raise self.fail(f'expected =, !=, <, <=, >, >=, "in" or "has" after "{name}"')

    def equal(self, name: str) -> Filter:
        value = self.value()
        if not isinstance(value, Moment):
            return Eq(name, value)
        return Eq(name, value.start) if value.end is None else Range(field=name, gte=value.start, lt=value.end)

    def among(self, name: str) -> In:
        if self.now.keyword != "in":
            raise self.fail('expected "in"')
        self.at += 1
        self.expect("(")
        values: list[Value] = []
        while not self.is_sign(")"):
            if values:
                self.expect(",")
            token = self.now
            value = self.value()
            if isinstance(value, Moment):
                if value.end is not None:
                    raise self.fail("a whole day cannot stand in a list; use >= and <=", token)
                value = value.start
            values.append(value)
        self.at += 1
        return In(name, tuple(values))

    def bounds(self, name: str) -> Range:
        found: dict[str, float] = {}
        while self.is_sign(*BOUNDS):
            token = self.take()
            bound, number = self.bound(token.plain)
            if bound in found:
                raise self.fail("this side is bounded twice", token)
            found[bound] = number
        return Range(field=name, **found)

    def bound(self, sign: str) -> tuple[str, float]:
        token = self.now
        value = self.value()
        if isinstance(value, Moment):
            if value.end is None or sign in (">=", "<"):
                return BOUNDS[sign], value.start
            return ("gte" if sign == ">" else "lt"), value.end
        if isinstance(value, bool | str):
            raise self.fail(f'expected a number or a date after "{sign}"', token)
        return BOUNDS[sign], value

    def value(self) -> Value | Moment:
        token = self.now
        if token.kind == "quoted":
            self.at += 1
            return token.text
        if token.kind != "word" or token.keyword:
            raise self.fail("expected a value (quote it if it is one of the filter's own words)")
        self.at += 1
        try:
            return bare_value(token)
        except (ValueError, OverflowError) as error:
            raise self.fail(f"{error}", token) from error


def _write(tree: Filter, *, inside: str, depth: int) -> str:  # noqa: PLR0911 one return a node kind
    """Write a node; `inside` is the connective it stands in, which decides on parentheses."""
    if depth > MAX_DEPTH:
        raise FilterError(f"The filter is nested more than {MAX_DEPTH} deep.")
    match tree:
        case And(items) | Or(items) if len(items) == 1:
            return _write(items[0], inside=inside, depth=depth)
        case And(items):
            return _join(items, "and", "everything", inside=inside, depth=depth)
        case Or(items):
            return _join(items, "or", "nothing", inside=inside, depth=depth)
        case Not(Eq(name, value)):
            return f"{_name(name)} != {_text(value)}"
        case Not(In(name, values)):
            return f"{_name(name)} not in ({', '.join(map(_text, values))})"
        case Not(item):
            return f"not {_write(item, inside='not', depth=depth + 1)}"
        case _:
            return _leaf(tree)


def _join(items: tuple[Filter, ...], word: str, empty: str, *, inside: str, depth: int) -> str:
    if not items:
        return empty
    text = f" {word} ".join(_write(item, inside=word, depth=depth + 1) for item in items)
    bare = inside == "" or (inside == "or" and word == "and")
    return text if bare else f"({text})"


def _leaf(tree: Eq | In | Range | Exists) -> str:
    match tree:
        case Eq(name, value):
            return f"{_name(name)} = {_text(value)}"
        case In(name, values):
            return f"{_name(name)} in ({', '.join(map(_text, values))})"
        case Exists(name):
            return f"exists {_name(name)}"
        case Range():
            sides = ((sign, getattr(tree, bound)) for sign, bound in BOUNDS.items())
            return " ".join([_name(tree.field), *(f"{sign} {side!r}" for sign, side in sides if side is not None)])


def _name(name: str) -> str:
    return f"`{name}`" if name in KEYWORDS else name


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return value if _stays(value) else _quote(value)


def _stays(value: str) -> bool:
    """Say whether text may go without quotes: a plain word that reads as nothing but itself."""
    if not re.fullmatch(r"[A-Za-z_\u4e00-\u9fff][\w.\-/]*", value):
        return False
    token = Token(kind="word", text=value, plain=value.translate(PLAIN), start=0)
    return not token.keyword and bare_value(token) == value and token.plain == value


def _quote(value: str) -> str:
    letters = ("\\" + letter if letter in '"\\' else _visible(letter) for letter in value)
    return f'"{"".join(letters)}"'


def _visible(letter: str) -> str:
    control = unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")
    return f"\\u{ord(letter):04x}" if control and ord(letter) < 0x10000 else letter
