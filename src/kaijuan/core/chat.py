"""A language model that writes: what it is asked, what it replies, and the port through which every room asks it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

_TOKEN = re.compile(r"[A-Za-z]{1,4}|\S|\n")
_FRAME = 8
"""Tokens around each message: role and marks."""


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    """Cut at the limit of tokens: the end is missing."""
    TOOLS = "tools"
    """The model wants tools to be called."""
    FILTER = "filter"
    """The service held something back."""


class Effort(StrEnum):
    """How hard a request is: which of two models it goes to, where two are configured (spec I6)."""

    SMALL = "small"
    LARGE = "large"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that the model wants called. `arguments` is the JSON text as the model wrote it, which may be wrong."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of what the model is shown."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    """Of an assistant's turn: what it wanted called."""
    answers: str = ""
    """Of a tool's turn: the id of the call that it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that the model may ask for. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One request. What is None is the model's or the configuration's own."""

    messages: tuple[Message, ...]
    purpose: str
    """What it is for, in a word: "write", "rewrite", "judge". Traces and counters are kept by it."""
    effort: Effort = Effort.LARGE
    max_tokens: int | None = None
    """Longest reply."""
    temperature: float | None = None
    schema: Mapping[str, object] | None = None
    """JSON schema of the object that the reply shall be. Services that cannot hold a model to a schema are asked for
    JSON, or for nothing; the prompt must therefore describe the object too, and the reply must be checked."""
    tools: tuple[Tool, ...] = ()
    seconds: float | None = None
    """Deadline of this request, where it is shorter than the configured one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What requests took. `cost` is in the currency of the configured prices."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    estimated: bool = False
    """The service did not count; the tokens are our estimate."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=self.cost + other.cost,
            estimated=self.estimated or other.estimated,
        )


NOTHING = Usage()
"""What was never asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """A whole reply. Times are in milliseconds from the request."""

    text: str
    model: str
    finish: Finish = Finish.STOP
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = NOTHING
    first_ms: float = 0.0
    """Until the first piece of text."""
    total_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class ChatPiece:
    """A piece of a streamed reply. The last one alone has `reply`; the texts of all joined are the reply's text."""

    text: str = ""
    reply: ChatReply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatInfo:
    """What a model is. `fingerprint` names service and model, never the key: caches are kept by it."""

    name: str
    fingerprint: str
    context_tokens: int
    """Prompt and reply together."""
    reply_tokens: int
    """Longest reply, unless a request says otherwise."""


class ChatModel(Protocol):
    """A model behind a service, or several behind one face.

    Promises: nothing hangs, every call ends within its deadline. Failures are ModelError and its children:
    OverlongInputError (the prompt does not fit), ModelRefusedError (no later call can mend it: key, model, request),
    ModelTimeoutError, ModelBusyError, and ModelError for everything else, an empty reply and half a stream too. Keys
    are in no error and no log. Cancelling a call ends its request.
    """

    @property
    def info(self) -> ChatInfo:
        """Say what this model is; asks nobody."""

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the whole reply."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply as it is written; the last piece holds the whole. Close it (`aclosing`) to stop early."""

    async def close(self) -> None:
        """Close connections. Twice is fine."""


def prompt(system: str, user: str) -> tuple[Message, ...]:
    """Return the messages of a single question with its instructions."""
    return (Message(Role.SYSTEM, system), Message(Role.USER, user)) if system else (Message(Role.USER, user),)


def tokens(text: str) -> int:
    """Return about how many tokens a text has, for models whose tokenizer is not at hand.

    Up to four Latin letters, a line break, or any other visible character are one: ordinary Chinese and English have
    fewer in the byte-level tokenizers in use, so that what is planned by it fits.
    """
    return sum(1 for _ in _TOKEN.finditer(text))


def tokens_of(messages: tuple[Message, ...]) -> int:
    """Return about how many tokens messages have; each costs a few for its frame."""
    return sum(
        tokens(message.text) + sum(tokens(call.arguments) for call in message.calls) + _FRAME for message in messages
    )
