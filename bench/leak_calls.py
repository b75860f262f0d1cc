"""Calls generated from the OpenAPI document and the schemas of the MCP tools, with ids of somebody else's."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

Json = dict[str, Any]
QUESTIONS = (
    "What is the vault code?",
    "Who is the guard of the vault?",
    "vault",
    "cellar code",
    "When is lunch served?",
    "the",
    "保险库的密码是什么？",
)
_ADDRESSES = ("upload:/closed/secret.md", "secret.md", "closed/", "upload:/closed/", "lunch.md")
_ALWAYS: dict[str, Sequence[object]] = {
    **dict.fromkeys(("query", "question", "text", "q", "contains", "quote", "content", "term"), QUESTIONS),
    **dict.fromkeys(("prefix", "after", "filters"), ("", *_ADDRESSES)),
    **dict.fromkeys(("as_of", "before", "snapshot"), (0, 1, 2, "first")),
    "principal": ("sam", "group:guests", "tenant", "mallory"),
    "k": (1, 8, 50),
}
"""Values for parameters and fields by name."""
_IDS: dict[str, Sequence[str]] = {
    "chunk": ("chunk",),
    "chunks": ("chunk", "work"),
    "ref": ("ref",),
    "document": ("document", "version"),
    "on": ("document",),
    "trace_id": ("trace",),
    "uploads": ("upload",),
}
"""Whose ids they take."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request."""

    user: str
    method: str
    path: str
    query: Mapping[str, object]
    body: object
    content_type: str
    what: str
    """The operation it is of."""


class Caller:
    """Makes calls of operations, with values that fit their schemas."""

    def __init__(
        self, users: Sequence[str], ids: Mapping[str, Sequence[str]], document: Json, tools: Sequence[Json], seed: int
    ) -> None:
        self._users = users
        self._ids = ids
        self._all: list[object] = list(dict.fromkeys(id for each in ids.values() for id in each))
        self._document = document
        self._tools = tools
        self._chance = random.Random(seed)

    def calls(self, count: int) -> Iterator[Call]:
        """Yield calls: every operation and tool by everybody in turn, until there are enough."""
        operations: list[tuple[str, str, Json]] = [
            (method, path, operation)
            for path, methods in self._document["paths"].items()
            for method, operation in methods.items()
        ]
        turns: Iterator[tuple[str, str, Json] | Json] = itertools.cycle([*operations, *self._tools])
        made = 0
        while made < count:
            turn = next(turns)
            for user in self._users:
                if made == count:
                    return
                if not user and self._chance.random() < 0.9:
                    continue  # nobody is turned away alike everywhere, and soon for being too many
                yield self._operation(user, *turn) if isinstance(turn, tuple) else self._tool(user, turn)
                made += 1

    def _operation(self, user: str, method: str, path: str, operation: Json) -> Call:
        query: dict[str, object] = {}
        filled = path
        for one in operation.get("parameters", ()):
            name, schema = one["name"], one.get("schema", {})
            if one["in"] == "path":
                filled = filled.replace(f"{{{name}}}", quote(str(self._named(name, schema, path)), safe=""))
            elif one["in"] == "query" and (one.get("required") or self._chance.random() < 0.5):
                query[name] = self._named(name, schema, path)
        bodies: Json = operation.get("requestBody", {}).get("content", {})
        kind = next(iter(bodies), "")
        told: Json = bodies.get(kind, {})
        body = self._value("", told.get("schema", {}), path) if kind else None
        return Call(user, method.upper(), filled, query, body, kind, f"{method} {path}")

    def _tool(self, user: str, tool: Json) -> Call:
        arguments = self._value("", tool["inputSchema"], f"/tool/{tool['name']}")
        params = {"name": tool["name"], "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return Call(user, "POST", "/mcp", {}, body, "application/json", f"tool {tool['name']}")

    def _named(self, name: str, schema: Json, path: str) -> object:
        """Return a value for a parameter or field: an id of what is closed, where it can be one."""
        if name in ("kb", "model"):
            return self._chance.choice(["vault", "shared"])
        if "enum" in schema or "const" in schema:
            return self._value(name, schema, path)
        fitting = self._fitting(name, path)
        if fitting and self._chance.random() < 0.8:
            return self._chance.choice(fitting)
        return self._value(name, schema, path)

    def _fitting(self, name: str, path: str) -> list[object]:
        """Return values that a parameter of this name is meant for, wherever there are some."""
        if name in _ALWAYS:
            return list(_ALWAYS[name])
        ids: list[object] = [id for kind in _IDS.get(name, ()) for id in self._ids.get(kind, ())]
        near = [kind for kind in self._ids if f"/{kind}" in path] if name in ("id", "name") else []
        return ids or [id for kind in near[-1:] for id in self._ids[kind]] or (self._all if name == "id" else [])

    def _value(self, name: str, schema: Json, path: str) -> Any:  # noqa: C901, PLR0911 a line for each kind
        """Return something that a schema allows."""
        chance = self._chance
        if "$ref" in schema:
            return self._value(name, self._document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], path)
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._value(name, chance.choice(schema[several]), path)
        if "enum" in schema:
            return chance.choice([one for one in schema["enum"] if one != "samples"])
        if "const" in schema:
            return schema["const"]
        match schema.get("type"):
            case "object":
                wanted = schema.get("required", ())
                return {
                    key: self._field(key, each, path)
                    for key, each in schema.get("properties", {}).items()
                    if key in wanted or chance.random() < 0.4
                }
            case "array":
                return [self._field(name, schema.get("items", {}), path) for _ in range(chance.randint(1, 2))]
            case "boolean":
                return chance.random() < 0.7
            case "integer":
                low = schema.get("minimum", 0)
                return chance.choice([low, low + 1, min(schema.get("maximum", 50), 50)])
            case "number":
                return 1.0
            case "null":
                return None
        return chance.choice([*QUESTIONS, *_ADDRESSES, chance.choice(self._all)])

    def _field(self, name: str, schema: Json, path: str) -> object:
        if schema.get("type") == "array":
            return [self._named(name, schema.get("items", {}), path) for _ in range(self._chance.randint(1, 2))]
        if "$ref" in schema or schema.get("type") == "object":
            return self._value(name, schema, path)
        return self._named(name, schema, path)
