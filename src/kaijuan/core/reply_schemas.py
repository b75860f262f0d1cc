"""JSON schemas that callers give for an answer: checked before anything is asked, and replies checked against them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

Check = Callable[..., Iterable[Any] | None]
"""What the library calls for one keyword of a schema."""
Schema = Mapping[str, object]
"""A JSON schema (draft 2020-12) of an object."""

MOST_CHARACTERS = 20_000
_MOST_REFERENCES = 24
"""References that lead to references multiply: more of them could keep a validator busy for hours."""
_MOST_STARTS = 40
"""Opening braces of a reply at which its object is looked for."""
_FAULT = 300
"""Characters of what is said of a fault."""
_MOST_LEVELS = 64
"""Objects and lists within each other: a validator descends by recursion."""
_MOST_STEPS = 150_000
"""What one check may take, in keywords with the entries that they look at: some seconds at most."""
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
    if _levels(schema) > _MOST_LEVELS:
        raise UsageError(f"The schema is deeper than {_MOST_LEVELS} levels.", hint="Ask for a flatter object.")
    _check_keywords(schema)
    _validator(schema)
    return schema


def _check_keywords(schema: Schema) -> None:
    references = 0
    for key, value in _keywords(schema):
        if key in _UNSAFE:
            raise UsageError(f"`{key}` is not checked in schemas.", hint="Use enum or maxLength in its place.")
        if key == "$dynamicRef":
            raise UsageError("`$dynamicRef` is not followed in schemas.", hint="Use $ref in its place.")
        if key == "$id" and value is not schema.get("$id"):
            raise UsageError("A schema with an $id of its own may not be within another.", hint="Leave out its $id.")
        if key == "$ref":
            references += 1
            if not str(value).startswith("#"):
                raise UsageError("Schemas elsewhere are not fetched.", hint="Put them under $defs.")
    if references > _MOST_REFERENCES:
        raise UsageError(f"The schema has more than {_MOST_REFERENCES} references.", hint="Ask for less at once.")


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
            # NaN and numbers beyond all bounds, which Python reads, are no JSON: nobody else could read the answer.
            text = json.dumps(found, ensure_ascii=False, allow_nan=False)
            whole = json.loads(text.encode("utf-8", "replace"))
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
    from referencing.exceptions import Unresolvable

    try:
        first = next(iter(validator.iter_errors(value)), None)
    except RecursionError:
        return "the schema leads back to itself"
    except _TooMuchError:
        return "to check it takes too long"
    except (Unresolvable, ArithmeticError, ValueError) as error:
        # References into what is no schema, and numbers that no division can hold.
        return f"the schema cannot be checked here ({str(error)[:80]})"
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
    except RecursionError as error:
        raise UsageError("The schema is too deep.", hint="Ask for a flatter object.") from error
    except SchemaError as error:
        raise UsageError(f"The schema is no JSON schema: {error.message[:_FAULT]}") from error
    except (Unresolvable, ValueError) as error:
        raise UsageError(f"The schema refers to what it does not have: {str(error)[:_FAULT]}") from error
    # An empty registry: without one the library would fetch references from the network.
    return _bounded(Draft202012Validator)(schema, registry=Registry())


class _TooMuchError(Exception):
    """A check has taken all the steps it may."""


def _bounded(kind: type[Validator]) -> type[Validator]:
    """Return a kind of validator that gives up after so many steps, whatever leads it round, and tries no pattern.

    Patterns are refused before, but a reference may lead to what was no schema as it was looked at.
    """
    from jsonschema.validators import extend

    left = _MOST_STEPS

    def counted(name: str, check: Check) -> Check:
        def checking(validator: Validator, value: Any, instance: Any, schema: Any) -> Iterable[Any]:
            nonlocal left
            many = len(instance) if isinstance(instance, list | dict) else 1
            wide = len(value) if isinstance(value, list | dict) else 1
            left -= many + (many * many // 8 if name == "uniqueItems" else wide)
            if left < 0 or name in _UNSAFE:
                raise _TooMuchError
            return check(validator, value, instance, schema) or ()

        return checking

    made: type[Validator] = extend(kind, {name: counted(name, check) for name, check in kind.VALIDATORS.items()})
    return made


def _levels(value: object) -> int:
    """Return how many objects and lists stand within each other."""
    levels = 0
    now: list[dict[str, object] | list[object]] = [value] if isinstance(value, dict | list) else []
    while now:
        inside = [inner for one in now for inner in (one.values() if isinstance(one, dict) else one)]
        now = [inner for inner in inside if isinstance(inner, dict | list)]
        levels += 1
    return levels


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
