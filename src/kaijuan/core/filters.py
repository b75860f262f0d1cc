"""The one filter tree, and the in-memory oracle that says what each node means.

Meaning, for every engine alike:
- a field that is missing makes every leaf false, and so `Not` of that leaf true;
- a list-valued field matches a leaf when any of its elements does;
- strings match strings exactly, booleans match booleans, and numbers compare by value (1 equals 1.0);
  a value of another type never matches;
- `And()` of nothing is true, `Or()` of nothing is false.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kaijuan.core.text.characters import HAN
from kaijuan.errors import FilterError

Value = str | int | float | bool
Payload = Mapping[str, Value | tuple[str, ...] | list[str]]

LEVEL = "chunk_level"
"""Payload field that tells points of whole documents from those of passages. Points of before have none."""
TONGUE = "chunk_language"
"""Payload field with the language of the passage itself, "" where it is in none alone; `language` is the document's.
Points of before have none."""
FIELD = re.compile(rf"[a-z_{HAN}][a-z0-9_{HAN}]*(\.[a-z0-9_{HAN}]+)*")
"""Names of fields, Chinese ones too: tables and corpora have their columns named so."""


def _check_field(name: str) -> None:
    if not FIELD.fullmatch(name):
        raise FilterError(f"{name!r} is not a field name.")


def _check_value(value: object) -> None:
    if not isinstance(value, str | int | float | bool):
        raise FilterError(f"{value!r} cannot be compared; use text, a number or true/false.")
    if isinstance(value, float) and not math.isfinite(value):
        raise FilterError("Infinite and undefined numbers cannot be compared.")


@dataclass(frozen=True, slots=True)
class Eq:
    """The field equals the value."""

    field: str
    value: Value

    def __post_init__(self) -> None:
        _check_field(self.field)
        _check_value(self.value)


@dataclass(frozen=True, slots=True)
class In:
    """The field equals one of the values (for list fields: they share an element). Nothing is in ()."""

    field: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        _check_field(self.field)
        for value in self.values:
            _check_value(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The field is a number within the given bounds; at least one bound is needed."""

    field: str
    gte: float | None = None
    gt: float | None = None
    lte: float | None = None
    lt: float | None = None

    def __post_init__(self) -> None:
        _check_field(self.field)
        bounds = [bound for bound in (self.gte, self.gt, self.lte, self.lt) if bound is not None]
        if not bounds:
            raise FilterError(f"The range over {self.field!r} has no bound.")
        for bound in bounds:
            if isinstance(bound, bool) or not isinstance(bound, int | float) or not math.isfinite(bound):
                raise FilterError(f"{bound!r} is not a number to bound {self.field!r} with.")

    def admits(self, value: object) -> bool:
        """Say whether one value lies within the bounds."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return (
            (self.gte is None or value >= self.gte)
            and (self.gt is None or value > self.gt)
            and (self.lte is None or value <= self.lte)
            and (self.lt is None or value < self.lt)
        )


@dataclass(frozen=True, slots=True)
class Exists:
    """The field is present, and if it is a list, not empty."""

    field: str

    def __post_init__(self) -> None:
        _check_field(self.field)


@dataclass(frozen=True, slots=True)
class And:
    """Every item holds."""

    items: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """At least one item holds."""

    items: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """The item does not hold."""

    item: Filter


Filter = Eq | In | Range | Exists | And | Or | Not
EVERYTHING: Filter = And()


def all_of(items: Iterable[Filter]) -> Filter:
    """Return the conjunction, flattened by one level; a single item stays itself."""
    flat: list[Filter] = []
    for item in items:
        flat.extend(item.items if isinstance(item, And) else (item,))
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def at_snapshot(snapshot: int) -> Filter:
    """Return the filter that admits what is visible in `snapshot`: valid_from <= S < valid_to."""
    return And((Range(field="valid_from", lte=snapshot), Range(field="valid_to", gt=snapshot)))


def _same(left: object, right: Value) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool) and left == right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left == right
    return isinstance(left, str) and isinstance(right, str) and left == right


def _elements(payload: Payload, name: str) -> list[object]:
    if name not in payload:
        return []
    value = payload[name]
    return list(value) if isinstance(value, list | tuple) else [value]


def matches(tree: Filter, payload: Payload) -> bool:  # noqa: PLR0911 one return a node kind
    """Judge one payload: the oracle against which every engine is tested."""
    match tree:
        case Eq(name, value):
            return any(_same(element, value) for element in _elements(payload, name))
        case In(name, values):
            return any(_same(element, value) for element in _elements(payload, name) for value in values)
        case Range():
            return any(tree.admits(element) for element in _elements(payload, tree.field))
        case Exists(name):
            return bool(_elements(payload, name))
        case And(items):
            return all(matches(item, payload) for item in items)
        case Or(items):
            return any(matches(item, payload) for item in items)
        case Not(item):
            return not matches(item, payload)


def fields_of(tree: Filter) -> Iterator[str]:
    """Yield every field the tree speaks of, with repeats."""
    match tree:
        case And(items) | Or(items):
            for item in items:
                yield from fields_of(item)
        case Not(item):
            yield from fields_of(item)
        case Eq() | In() | Range() | Exists():
            yield tree.field
