"""OpenAI's chat protocol on the wire: requests to bodies, bodies and streamed lines to replies, failures to errors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kaijuan.core.chat import ChatRequest, Finish, Message, Role, ToolCall
from kaijuan.core.redaction import redact
from kaijuan.errors import ModelBusyError, ModelError, ModelRefusedError, OverlongInputError

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""
_BUSY = frozenset({429, 503, 529})
_OVERLONG = re.compile(
    r"context[ _](?:length|size|window)|too long|too many tokens|maximum.{0,40}tokens|exceed.{0,40}(?:context|tokens)",
    re.IGNORECASE,
)
_FINISHES = {
    "stop": Finish.STOP,
    "length": Finish.LENGTH,
    "tool_calls": Finish.TOOLS,
    "function_call": Finish.TOOLS,
    "content_filter": Finish.FILTER,
}
MOST_CALLS = 32
"""Tool calls of one reply that are read."""

Body = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Dialect:
    """What a service was found to understand. It starts with everything and gives up what is refused, for good."""

    structured: str = "schema"
    """schema, json or none."""
    dropped: set[str] = field(default_factory=set)
    limit: str = "max_tokens"
    """How the limit of a reply is called."""

    def concede(self, body: Body, said: str) -> bool:
        """Give up one thing of a request that was refused; False where there is nothing left to give up."""
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            self.limit = "max_completion_tokens"
            return True
        for name in ("temperature", "stream_options", self.limit):
            if name in body and name in said:
                self.dropped.add(name)
                return True
        if "response_format" in body:
            self.structured = "json" if self.structured == "schema" else "none"
            return True
        optional = {"temperature", "stream_options", self.limit} & body.keys()
        self.dropped |= optional
        return bool(optional)


def body_of(request: ChatRequest, model: str, dialect: Dialect, *, limit: int, temperature: float) -> Body:
    """Return the body of a request that is not streamed."""
    body: Body = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "temperature": temperature if request.temperature is None else request.temperature,
        dialect.limit: request.max_tokens or limit,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    if request.schema is not None and dialect.structured == "schema":
        shape = {"name": request.purpose or "reply", "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif request.schema is not None and dialect.structured == "json":
        body["response_format"] = {"type": "json_object"}
    return {name: value for name, value in body.items() if name not in dialect.dropped}


def streamed(body: Body, dialect: Dialect) -> Body:
    """Return a body whose reply comes in pieces, with the tokens counted at the end."""
    options = {} if "stream_options" in dialect.dropped else {"stream_options": {"include_usage": True}}
    return {**body, "stream": True, **options}


def data_of(body: Body) -> bytes:
    """Return the bytes of a body. Half code points, which a text may hold, are no UTF-8."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _message(message: Message) -> Body:
    shown: Body = {"role": str(message.role), "content": message.text}
    if message.calls:
        shown["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.role is Role.TOOL:
        shown["tool_call_id"] = message.answers
    return shown


@dataclass(slots=True, kw_only=True)
class Gathering:
    """A reply as it comes together, whole or in pieces."""

    key: str = field(default="", repr=False)
    """Not to be shown, whatever the service says."""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish: Finish | None = None
    usage: Mapping[str, Any] | None = None
    ended: bool = False
    """The service said that the stream is over."""

    def take(self, chunk: object) -> str:
        """Take in one decoded object of the service and return the text that it adds; ModelError for an error in it."""
        if not isinstance(chunk, Mapping):
            return ""
        if error := chunk.get("error"):
            raise stream_error(error, self.key)
        if isinstance(chunk.get("usage"), Mapping):
            self.usage = chunk["usage"]
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, Mapping):
            return ""
        if choice.get("finish_reason"):
            self.finish = _FINISHES.get(str(choice["finish_reason"]), Finish.STOP)
        said = choice.get("delta") or choice.get("message")
        if not isinstance(said, Mapping):
            return ""
        self._take_calls(said.get("tool_calls"))
        return _word(said.get("content"))

    def _take_calls(self, calls: object) -> None:
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if not isinstance(call, Mapping):
                continue
            at = call.get("index", place)
            if not isinstance(at, int) or not 0 <= at < MOST_CALLS:
                continue
            made = self.calls.setdefault(at, {"id": "", "name": "", "arguments": ""})
            function = call.get("function")
            made["id"] = made["id"] or _word(call.get("id"))
            if isinstance(function, Mapping):
                made["name"] = made["name"] or _word(function.get("name"))
                made["arguments"] += _word(function.get("arguments"))

    @property
    def tools(self) -> tuple[ToolCall, ...]:
        """The tool calls that have a name."""
        return tuple(ToolCall(**self.calls[at]) for at in sorted(self.calls) if self.calls[at]["name"])

    def counted(self, name: str) -> int | None:
        """Return a number of tokens as the service counted it; None where it did not."""
        count = self.usage.get(name) if self.usage else None
        return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def _word(value: object) -> str:
    # Escapes can spell half a code point, which no file or socket could hold.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def chunk_of(line: str) -> object:
    """Return the object of one line of an event stream; None for comments, other fields and what is no JSON."""
    if not line.startswith("data:"):
        return None
    try:
        return json.loads(line[5:])
    except (ValueError, RecursionError):
        return None


def is_end(line: str) -> bool:
    """Say whether a line is the stream's last."""
    return line.startswith("data:") and line[5:].strip() == "[DONE]"


def failure(status: int, body: str, key: str, *, wait: float | None = None) -> ModelError:
    """Return the error of a refused request. What the service said is shown in short and without the key."""
    message = f"The model's service answered {status}: {redact(said_in(body), key)}"
    if status in {400, 413, 422} and _OVERLONG.search(body):
        return OverlongInputError(message, hint="Lower chat.context_tokens to what the model reads.")
    if status in {401, 403}:
        return ModelRefusedError(message, hint="Check chat.key.")
    if status == 404:
        return ModelRefusedError(message, hint="Check chat.url and chat.model.")
    if status in _BUSY:
        busy = ModelBusyError(message)
        busy.wait = wait
        return busy
    if status in AGAIN:
        return ModelError(message, hint="Try again later.")
    return ModelRefusedError(message, hint="Check chat.url, chat.model and chat.key.")


def stream_error(error: object, key: str) -> ModelError:
    """Return the error that a service reported within a stream it had begun."""
    said = error.get("message") if isinstance(error, Mapping) else error
    message = f"The model's service broke off: {redact(str(said), key)}"
    return OverlongInputError(message) if _OVERLONG.search(str(said)) else ModelError(message)


def said_in(body: str) -> str:
    """Return the message in the body of an error, or the body."""
    try:
        error = json.loads(body)["error"]
        said = error["message"] if isinstance(error, Mapping) else error
    except (ValueError, LookupError, TypeError, RecursionError):
        return body
    return said if isinstance(said, str) else body
