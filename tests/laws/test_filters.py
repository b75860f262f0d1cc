"""Laws of the filter tree: the algebra every engine must keep."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core import filters
from kaijuan.core.filters import And, Eq, Exists, Filter, In, Not, Or, Payload, Range, fields_of, matches
from kaijuan.core.snapshots import OPEN, visible
from kaijuan.errors import FilterError

FIELDS = ("kind", "year", "tags", "draft", "部门", "版本.年份")
values = st.sampled_from(["pdf", "html", "1", 1, 0, 1.0, 2.5, True, False])
payloads = st.dictionaries(
    st.sampled_from(FIELDS), values | st.lists(st.sampled_from(["pdf", "red", "1"]), max_size=3).map(tuple)
)
fields = st.sampled_from((*FIELDS, "absent"))
leaves = st.one_of(
    st.builds(Eq, fields, values),
    st.builds(In, fields, st.lists(values, max_size=3).map(tuple)),
    st.builds(lambda name, low: Range(field=name, gte=low), fields, st.sampled_from([0, 1, 2.5])),
    st.builds(lambda name, high: Range(field=name, lt=high), fields, st.sampled_from([0, 1, 2.5])),
    st.builds(Exists, fields),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: And(tuple(items))),
        st.lists(inner, max_size=3).map(lambda items: Or(tuple(items))),
        inner.map(Not),
    ),
    max_leaves=8,
)


@given(trees, payloads)
@settings(deadline=None)
def test_not_is_the_opposite_and_twice_is_nothing(tree: Filter, payload: Payload) -> None:
    assert matches(Not(tree), payload) is not matches(tree, payload)
    assert matches(Not(Not(tree)), payload) is matches(tree, payload)


@given(trees, trees, payloads)
@settings(deadline=None)
def test_de_morgan(left: Filter, right: Filter, payload: Payload) -> None:
    assert matches(Not(And((left, right))), payload) is matches(Or((Not(left), Not(right))), payload)
    assert matches(Not(Or((left, right))), payload) is matches(And((Not(left), Not(right))), payload)


@given(trees, trees, trees, payloads)
@settings(deadline=None)
def test_and_distributes_over_or(first: Filter, second: Filter, third: Filter, payload: Payload) -> None:
    apart = Or((And((first, second)), And((first, third))))
    assert matches(And((first, Or((second, third)))), payload) is matches(apart, payload)


@given(payloads)
@settings(deadline=None)
def test_nothing_to_ask_for_is_true_and_nothing_to_choose_from_is_false(payload: Payload) -> None:
    assert matches(And(()), payload)
    assert not matches(Or(()), payload)


@given(leaves, payloads)
@settings(deadline=None)
def test_a_missing_field_makes_a_leaf_false(leaf: Filter, payload: Payload) -> None:
    name = next(iter(fields_of(leaf)))
    without = {key: value for key, value in payload.items() if key != name}
    assert not matches(leaf, without)
    assert matches(Not(leaf), without)


@given(fields, st.lists(values, max_size=4), payloads)
@settings(deadline=None)
def test_in_is_any_of_its_values(name: str, chosen: list[filters.Value], payload: Payload) -> None:
    either = Or(tuple(Eq(name, value) for value in chosen))
    assert matches(In(name, tuple(chosen)), payload) is matches(either, payload)


@given(st.lists(trees, max_size=4), payloads)
@settings(deadline=None)
def test_all_of_is_the_conjunction_of_what_is_given(given_trees: list[Filter], payload: Payload) -> None:
    wanted = all(matches(tree, payload) for tree in given_trees)
    assert matches(filters.all_of(given_trees), payload) is wanted


@given(st.integers(0, 20), st.integers(0, 20) | st.just(OPEN), st.integers(0, 25))
@settings(deadline=None)
def test_the_filter_of_a_snapshot_is_its_visibility(valid_from: int, valid_to: int, snapshot: int) -> None:
    payload = {"valid_from": valid_from, "valid_to": valid_to}
    assert matches(filters.at_snapshot(snapshot), payload) is visible(valid_from, valid_to, snapshot)


@pytest.mark.parametrize(
    ("stored", "asked", "same"),
    [(1, 1.0, True), (1, True, False), (0, False, False), ("1", 1, False), (True, True, True), ("Pdf", "pdf", False)],
)
def test_values_compare_within_their_type(stored: filters.Value, asked: filters.Value, same: bool) -> None:
    assert matches(Eq("kind", asked), {"kind": stored}) is same


@pytest.mark.parametrize("name", ["", "Kind", "a b", "1a", "a..b", "a;drop"])
def test_what_is_no_field_name_is_refused(name: str) -> None:
    with pytest.raises(FilterError):
        Exists(name)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, ["pdf"]])
def test_what_cannot_be_compared_is_refused(value: object) -> None:
    with pytest.raises(FilterError):
        Eq("kind", value)  # type: ignore[arg-type]


def test_a_range_needs_a_bound_that_is_a_number() -> None:
    with pytest.raises(FilterError):
        Range(field="year")
    with pytest.raises(FilterError):
        Range(field="year", gte=True)
