"""Schemas that callers give for answers: what is taken, what is refused, and what of a reply fits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.core.reply_schemas import checked, read_reply, read_text
from kaijuan.errors import UsageError

LEAVE: dict[str, Any] = {
    "type": "object",
    "properties": {"days": {"type": "integer"}, "kind": {"enum": ["annual", "sick"]}},
    "required": ["days"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "array"}, "not of an object"),
        ({"properties": {}}, "not of an object"),
        ({"type": "object", "properties": {"a": {"type": "whole number"}}}, "no JSON schema"),
        ({"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}, "`pattern`"),
        ({"type": "object", "patternProperties": {"^a": {}}}, "`patternProperties`"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}}, "not fetched"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "does not have"),
        ({"type": "object", "allOf": [{"$ref": "#/$defs/a"}] * 25, "$defs": {"a": {}}}, "references"),
        ({"type": "object", "description": "长" * 20_001}, "longer"),
        ({"type": "object", "properties": {"a": {"maximum": float("nan")}}}, "not JSON"),
        ({"type": "object", "default": {1, 2}}, "not JSON"),
    ],
)
def test_what_could_not_be_checked_is_refused_before_anything_is_asked(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("$", r"\$")):
        checked(schema)


def test_properties_may_have_the_names_of_keywords() -> None:
    schema = {
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "$ref": {"type": "string"}, "type": {"const": {"pattern": "x"}}},
    }
    assert checked(schema) == schema


@pytest.mark.parametrize(
    ("reply", "data"),
    [
        ('{"days": 15}', {"days": 15}),
        ('好的：\n```json\n{"days": 15, "kind": "sick"}\n```', {"days": 15, "kind": "sick"}),
        ('For example {"days": "many"}, so: {"days": 3}', {"days": 3}),
        ('{broken {"days": 3}', {"days": 3}),
    ],
)
def test_the_first_object_that_fits_is_taken(reply: str, data: dict[str, Any]) -> None:
    assert read_reply(reply, checked(LEAVE)) == (data, "")


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("fifteen", "no JSON object"),
        ('{"days": "15"}', "days: '15' is not of type 'integer'"),
        ('{"days": 1, "more": {"days": 2}}', "Additional properties"),
        ("{" * 500, "not JSON"),
    ],
)
def test_what_does_not_fit_says_why(reply: str, fault: str) -> None:
    found, said = read_reply(reply, checked(LEAVE))
    assert found is None
    assert fault in said


def test_a_schema_that_leads_back_to_itself_ends() -> None:
    schema = checked({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}})
    assert read_reply('{"a": 1}', schema) == (None, "the schema leads back to itself")


def _nested(levels: int, key: str = "not") -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {key: schema}
    return {"type": "object", **schema}


@pytest.mark.parametrize(
    "schema",
    [
        _nested(70),
        _nested(300),
        {"type": "object", "allOf": [_nested(70)]},
        {"type": "object", "properties": {"a": {"$dynamicRef": "#none"}}},
        {
            "type": "object",
            "properties": {"a": {"$id": "http://example.org/x", "$ref": "#/$defs/x"}},
            "$defs": {"x": {}},
        },
        {"type": "object", "allOf": [{}], "$ref": "#/allOf/first"},
        {"type": "object", "$ref": "#/type/0/x"},
        {"type": "object", "$ref": {"$ref": "#"}},
    ],
)
def test_what_would_lead_a_validator_astray_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        checked(schema)


def test_a_schema_may_be_as_deep_as_is_said() -> None:
    assert read_reply('{"a": 1}', checked(_nested(62))) == ({"a": 1}, "")
    assert checked(
        {
            "type": "object",
            "$id": "https://example.org/a",
            "properties": {"a": {"$ref": "#/$defs/b"}},
            "$defs": {"b": {}},
        }
    )


@pytest.mark.parametrize(
    "schema",
    [
        {"x": {"properties": {"pattern": "(a+)+$"}}, "properties": {"a": {"$ref": "#/x/properties"}}},
        {"default": {"pattern": "(a+)+$"}, "properties": {"a": {"$ref": "#/default"}}},
        {"x": {"$defs": {"patternProperties": {"(a+)+$": False}}}, "properties": {"a": {"$ref": "#/x/$defs"}}},
    ],
)
def test_a_pattern_is_never_tried_wherever_it_stands(schema: dict[str, Any]) -> None:
    word = "a" * 60 + "!"
    for reply in ({"a": word}, {"a": {word: 1}}):
        found, fault = read_reply(json.dumps(reply), checked({"type": "object", **schema}))
        assert found is not None or fault


def _deep(levels: int) -> str:
    return '{"a": ' * levels + "1" + "}" * levels


@pytest.mark.parametrize(
    ("schema", "reply"),
    [
        ({"properties": {"a": {"anyOf": [{"$ref": "#"}] * 20}}}, _deep(12)),
        ({"properties": {"a": {"oneOf": [{"$ref": "#"}, {"$ref": "#"}]}}}, _deep(60)),
        ({"properties": {"a": {"items": {"allOf": [{}] * 4000}}}}, json.dumps({"a": list(range(5000))})),
        ({"properties": {"a": {"uniqueItems": True}}}, json.dumps({"a": [{"x": at} for at in range(5000)]})),
    ],
)
def test_what_takes_too_long_is_given_up(schema: dict[str, Any], reply: str) -> None:
    """Each of these would keep a validator busy for minutes, some for years."""
    assert read_reply(reply, checked({"type": "object", **schema})) == (None, "to check it takes too long")


def test_objects_as_large_as_models_write_are_checked() -> None:
    row = {"type": "object", "properties": {name: {"type": "string", "maxLength": 40} for name in "abcdefghij"}}
    schema = checked({"type": "object", "properties": {"rows": {"type": "array", "uniqueItems": True, "items": row}}})
    data = {"rows": [{name: f"{name}{at}" for name in "abcdefghij"} for at in range(300)]}
    assert read_reply(json.dumps(data), schema) == (data, "")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_none(number: str) -> None:
    found, fault = read_reply(f'{{"a": {number}}}', checked({"type": "object"}))
    assert (found, fault[:14]) == (None, "it is not JSON")


def test_numbers_that_no_division_holds_do_not_fit() -> None:
    schema = checked({"type": "object", "properties": {"a": {"multipleOf": 0.1}}})
    assert read_reply(f'{{"a": {"9" * 400}}}', schema)[0] is None


def test_half_a_code_point_is_replaced() -> None:
    found, _ = read_reply('{"a": "\\ud800"}', checked({"type": "object"}))
    json.dumps(found, ensure_ascii=False).encode()


@given(days=st.integers(), before=st.text(max_size=20), after=st.text(max_size=20))
def test_whatever_stands_around_an_object_it_is_found(days: int, before: str, after: str) -> None:
    reply = before.replace("{", "") + json.dumps({"days": days}) + after
    assert read_reply(reply, checked(LEAVE)) == ({"days": days}, "")


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff\xfe"])
def test_a_file_without_an_object_is_no_schema(data: bytes) -> None:
    with pytest.raises(UsageError):
        read_text(data)
