"""Our filter tree in Qdrant Edge's words, meaning what `core.filters.matches` means.

Two limits, both far from what documents hold: ranges compare integers of more than 53 bits in double precision,
and take floats of 16 or 17 digits as one unit in the last place off (see `qdrant_payloads.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import qdrant_edge as vendor

from kaijuan.core.filters import And, Eq, Exists, Filter, In, Not, Or, Range, Value
from kaijuan.stores.index.checks import RESERVED
from kaijuan.stores.index.qdrant_payloads import EXACT, encode_value, is_exact

_INTEGERS = 2**53


@dataclass(frozen=True, slots=True)
class Wish:
    """A field that a filter compares, and whether as text or as a number: what an index on it must serve."""

    field: str
    text: bool


def path(field: str) -> str:
    """Quote a field name: to the engine a dot would mean a nested object, and other letters than ASCII an error."""
    return field if field.isascii() and "." not in field else f'"{field}"'


def compile_filter(where: Filter) -> vendor.Filter:  # noqa: PLR0911 one return a node kind
    """Translate a whole tree."""
    match where:
        case Eq(name, value):
            return vendor.Filter(must=[_equals(name, value)])
        case In(name, values):
            return _either(_among(name, values))
        case Range():
            return _interval(where) if where.field in RESERVED else _range(where)
        case Exists(name):
            return vendor.Filter(must_not=[vendor.IsEmptyCondition(path(name))])
        case And(items):
            return vendor.Filter(must=[compile_filter(item) for item in items])
        case Or(items):
            return _either([compile_filter(item) for item in items])
        case Not(item):
            return vendor.Filter(must_not=[compile_filter(item)])


def _range(where: Range) -> vendor.Filter:
    bounds = {
        side: None if bound is None else float(bound)
        for side, bound in (("gte", where.gte), ("gt", where.gt), ("lte", where.lte), ("lt", where.lt))
    }
    return vendor.Filter(must=[vendor.FieldCondition(path(where.field), range=vendor.RangeFloat(**bounds))])


def _interval(where: Range) -> vendor.Filter:
    """Exclude what lies outside, which is the same since every point has the field.

    Nearly all points pass; including them would make the engine walk the field's whole index first (8.6 against
    3.3 ms for one snapshot of 20,000 points).
    """
    outside = (("lt", where.gte), ("lte", where.gt), ("gt", where.lte), ("gte", where.lt))
    return vendor.Filter(
        must_not=[
            vendor.FieldCondition(where.field, range=vendor.RangeFloat(**{side: float(bound)}))
            for side, bound in outside
            if bound is not None
        ]
    )


def _either(conditions: list[vendor.ConditionType]) -> vendor.Filter:
    # To the engine an empty `should` admits everything; to us nothing is in ().
    return vendor.Filter(should=conditions) if conditions else vendor.Filter(must=[vendor.HasIdCondition(set())])


def _equals(name: str, value: Value) -> vendor.FieldCondition:
    stored = encode_value(value)
    if isinstance(stored, str):
        return vendor.FieldCondition(path(name), match=vendor.MatchValue(stored))
    if isinstance(stored, int) and abs(stored) > _INTEGERS:
        return vendor.FieldCondition(path(name), match=vendor.MatchValue(stored))
    if isinstance(stored, float) and not is_exact(stored):
        return vendor.FieldCondition(f'"{EXACT}"."{name}"', match=vendor.MatchValue(repr(stored)))
    return vendor.FieldCondition(path(name), range=vendor.RangeFloat(gte=float(stored), lte=float(stored)))


def _among(name: str, values: Iterable[Value]) -> list[vendor.ConditionType]:
    stored = [encode_value(value) for value in values]
    texts = [value for value in stored if isinstance(value, str)]
    conditions: list[vendor.ConditionType] = [_equals(name, value) for value in stored if not isinstance(value, str)]
    if texts:
        conditions.append(vendor.FieldCondition(path(name), match=vendor.MatchAny(texts)))
    return conditions


def wishes(where: Filter) -> Iterable[Wish]:
    """Yield what the tree compares, with repeats."""
    match where:
        case Eq(name, value):
            yield Wish(name, isinstance(value, str | bool))
        case In(name, values):
            yield from (Wish(name, isinstance(value, str | bool)) for value in values[:1])
        case Range():
            yield Wish(where.field, text=False)
        case Exists():
            pass  # says nothing of the kind of value, and a field has one index only
        case And(items) | Or(items):
            for item in items:
                yield from wishes(item)
        case Not(item):
            yield from wishes(item)
