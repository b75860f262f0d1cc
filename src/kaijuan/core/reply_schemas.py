"""JSON schemas that callers give for an answer: checked before anything is asked, and replies checked against them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Schema = Mapping[str, object]
"""A JSON schema (draft 2020-12) of an object."""

MOST_CHARACTERS = 20_000
_MOST_REFERENCES = 24
"""References that lead to references multiply: more of them could keep a validator busy for hours."""
_MOST_STARTS = 40
"""Opening braces of a reply at which its object is looked for."""
_FAULT = 300
"""Characters of what is said of a fault."""
_UNSAFE = ("pattern", "patternProperties")
"""Python's regular expressions can be made to run for ever."""


def read_text(data: bytes) -> dict[str, object]:
    """Return the JSON of a file, unchecked; UsageError where it holds none, or no object."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The schema is not JSON ({str(error)[:80]}).", hint="Give a JSON schema.") from error
    if not isinstance(found, dict):
        raise UsageError("The schema is not of an object.", hint='Begin it with {"type": "object", "properties": ...}.')
    return found


def checked(given: object) -> Schema:
    """Return a schema as a plain copy; UsageError where it is none, not of an object, or could keep the check busy."""
    try:
        text = json.dumps(given, ensure_ascii=False, allow_nan=False)
        schema = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The schema is not JSON ({error}).", hint="Give a JSON schema of an object.") from error
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise UsageError("The schema is not of an object.", hint='Begin it with {"type": "object", "properties": ...}.')
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"The schema is longer than {MOST_CHARACTERS:,} characters.", hint="Ask for less at once.")
    references = 0
    for key, value in _keywords(schema):
        if key in _UNSAFE:
            raise UsageError(f"`{key}` is not checked in schemas.", hint="Use enum or maxLength in its place.")
        if key in ("$ref", "$dynamicRef"):
            references += 1
            if not str(value).startswith("#"):
                raise UsageError("Schemas elsewhere are not fetched.", hint="Put them under $defs.")
    if references > _MOST_REFERENCES:
        raise UsageError(f"The schema has more than {_MOST_REFERENCES} references.", hint="Ask for less at once.")
    _validator(schema)
    return schema


def read_reply(said: str, schema: Schema) -> tuple[object | None, str]:
    """Return the first object in a reply that the schema allows, or None and what is wrong."""
    fault = "it holds no JSON object"
    validator = _validator(schema)
    at = 0
    for _ in range(_MOST_STARTS):
        at = said.find("{", at)
        if at < 0:
            break
        try:
            found, end = json.JSONDecoder().raw_decode(said, at)
            # Escapes can spell half a code point, which no file could hold.
            whole = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            fault, at = f"it is not JSON ({str(error)[:80]})", at + 1
            continue
        fault = _fault_of(validator, whole)
        if not fault:
            return whole, ""
        # What is inside an object that does not fit is no answer either.
        at = end
    return None, fault


def _fault_of(validator: Validator, value: object) -> str:
    try:
        first = next(iter(validator.iter_errors(value)), None)
    except RecursionError:
        return "the schema leads back to itself"
    if first is None:
        return ""
    place = ".".join(map(str, first.absolute_path))
    return f"{place}: {first.message}"[:_FAULT] if place else first.message[:_FAULT]


def _validator(schema: Schema) -> Validator:
    # Asked for by few: not at every start.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    try:
        Draft202012Validator.check_schema(schema)
        root = DRAFT202012.create_resource(schema)
        resolver = Registry().with_resource("", root).resolver()
        for key, value in _keywords(schema):
            if key == "$ref":
                resolver.lookup(str(value))
    except SchemaError as error:
        raise UsageError(f"The schema is no JSON schema: {error.message[:_FAULT]}") from error
    except Unresolvable as error:
        raise UsageError(f"The schema refers to what it does not have: {str(error)[:_FAULT]}") from error
    # An empty registry: without one the library would fetch references from the network.
    return Draft202012Validator(schema, registry=Registry())


def _keywords(value: object) -> Iterator[tuple[str, object]]:
    """Yield every name with what stands under it, at any depth; names of properties are none."""
    waiting: list[tuple[object, bool]] = [(value, False)]
    while waiting:
        one, names = waiting.pop()
        if isinstance(one, Mapping):
            for key, inner in one.items():
                if not names:
                    yield str(key), inner
                if names or key not in ("enum", "const", "default", "examples"):
                    waiting.append(
                        (inner, not names and key in ("properties", "$defs", "definitions", "dependentSchemas"))
                    )
        elif isinstance(one, list):
            waiting.extend((inner, False) for inner in one)
