"""Verbs about traces: an answer made again from what was kept of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from kaijuan.answer.events import DoneEvent
from kaijuan.answer.results import Answer
from kaijuan.answer.telling import Told
from kaijuan.core.chat import ChatInfo, ChatPiece, ChatReply, ChatRequest
from kaijuan.core.filter_language import parse_filter
from kaijuan.errors import ModelError, UsageError
from kaijuan.index.catalog import StoredTrace
from kaijuan.verbs.asking import Asking
from kaijuan.verbs.holding import Holding
from kaijuan.verbs.recalling import Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """An answer made again. `same` says whether its words and citations are those of the trace."""

    id: str
    answer: Answer
    same: bool
    reason: str = ""
    """Why it could not be made as it was, where that is known."""


class Tracing(Asking, Holding):
    """What was done for a question, done again."""

    async def replay_trace(self, id: str) -> Replayed:
        """Make the answer of a trace again: the same snapshot, the replies that models gave then; nobody is asked.

        The settings and the code are today's: a difference tells what a change of them does.
        """
        trace = await self.trace(id)
        asked = _asked_of(trace)
        calls = trace.body.get("calls", ())
        replies = Replies(calls if isinstance(calls, Sequence) else ())
        asked = replace(asked, extractive=asked.extractive or not replies.known)
        events = self._fresh(asked, Told(), replay=replies)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, DoneEvent):
                    answer = event.answer
                    same = answer.answer == trace.body.get("answer") and str(answer.status) == trace.body.get("status")
                    return Replayed(id=trace.id, answer=answer, same=same, reason=replies.reason)
        raise AssertionError("the last event has the answer")


_KEPT = ("question", "k", "preset", "read_filters", "extractive", "history", "at")


class Replies:
    """A chat model that says what was said before to the same prompts, and fails as it failed."""

    def __init__(self, calls: Sequence[Mapping[str, Any]]) -> None:
        self._left = list(calls)
        self.known = len(self._left)
        self.reason = ""
        name = str(calls[0].get("model", "")) if calls else ""
        self._info = ChatInfo(name=name, fingerprint="replay", context_tokens=1_000_000, reply_tokens=1024)

    @property
    def info(self) -> ChatInfo:
        """Say which model it was."""
        return self._info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return what was replied."""
        call = self._call(request)
        return ChatReply(text=str(call.get("text", "")), model=self._info.name)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield what was replied, and then fail where that failed."""
        call = self._call(request, failing=False)
        text = str(call.get("text", ""))
        if text:
            yield ChatPiece(text)
        if call.get("failure"):
            self._fail(call)
        yield ChatPiece(reply=ChatReply(text=text, model=self._info.name))

    async def close(self) -> None:
        """Do nothing."""

    def _call(self, request: ChatRequest, *, failing: bool = True) -> Mapping[str, Any]:
        wanted = [(str(message.role), message.text) for message in request.messages]
        for at, call in enumerate(self._left):
            kept = [(str(message["role"]), str(message["text"])) for message in call.get("messages", ())]
            if call.get("purpose") == request.purpose and kept == wanted:
                found = self._left.pop(at)
                if failing and found.get("failure"):
                    self._fail(found)
                return found
        self.reason = f"The prompt for {request.purpose!r} is no longer the one that was sent."
        raise ModelError(self.reason)

    def _fail(self, call: Mapping[str, Any]) -> None:
        raise ModelError(f"The model failed then: {call['failure']}.")


def _asked_of(trace: StoredTrace) -> Asked:
    kept = trace.body.get("asked")
    snapshot = trace.body.get("snapshot")
    if not isinstance(kept, Mapping) or not isinstance(snapshot, int):
        raise UsageError("This trace is too old to be made again.", hint="Ask the question anew.")
    fields = {name: kept[name] for name in _KEPT if name in kept}
    return Asked(**fields, snapshot=snapshot, filters=tuple(parse_filter(str(one)) for one in kept.get("filters", ())))
