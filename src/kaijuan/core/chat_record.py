"""What one answer asked of models: every prompt as it was sent, what came back, what it took; and its budget."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from kaijuan import telemetry
from kaijuan.core.chat import (
    NOTHING,
    ChatInfo,
    ChatModel,
    ChatPiece,
    ChatReply,
    ChatRequest,
    Message,
    ToolCall,
    Usage,
    tokens,
    tokens_of,
)
from kaijuan.errors import KaijuanError, ModelRefusedError


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCall:
    """One call of a model, for the trace. `failure` is the code of the error that it ended with."""

    purpose: str
    model: str
    messages: tuple[Message, ...]
    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = NOTHING
    first_ms: float = 0.0
    total_ms: float = 0.0
    failure: str = ""


class RecordedChat:
    """A chat model for the length of one request of a user. Wraps any chat model; closing it closes nothing.

    `calls` grows with every call. Above `budget` tokens, prompts and replies together, further calls are refused:
    an answer that goes in circles must end.
    """

    def __init__(
        self, inner: ChatModel, *, budget: int | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._inner, self._budget, self._clock = inner, budget, clock
        self.calls: list[ChatCall] = []

    @property
    def info(self) -> ChatInfo:
        """Say what the inner model is."""
        return self._inner.info

    @property
    def usage(self) -> Usage:
        """What all calls took together."""
        return sum((call.usage for call in self.calls), Usage())

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the reply and remember it."""
        self._check(request)
        start = self._clock()
        try:
            found = await self._inner.reply(request)
        except KaijuanError as error:
            self._remember(request, start, "", error)
            raise
        self._keep(request, found)
        return found

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply and remember it, also what there was of one that broke off or was no longer wanted."""
        self._check(request)
        start = self._clock()
        said: list[str] = []
        kept = False
        try:
            async with aclosing(self._inner.stream(request)) as pieces:
                async for piece in pieces:
                    said.append(piece.text)
                    if piece.reply is not None:
                        self._keep(request, piece.reply)
                        kept = True
                    yield piece
        except KaijuanError as error:
            self._remember(request, start, "".join(said), error)
            kept = True
            raise
        finally:
            if not kept:
                self._remember(request, start, "".join(said), None)

    async def close(self) -> None:
        """Do nothing: the inner model serves others too."""

    def _check(self, request: ChatRequest) -> None:
        if self._budget is None:
            return
        usage = self.usage
        spent = usage.prompt_tokens + usage.completion_tokens
        if spent and spent + tokens_of(request.messages) > self._budget:
            raise ModelRefusedError(
                f"This answer has used up its budget of {self._budget} tokens.", hint="Raise answer.token_budget."
            )

    def _keep(self, request: ChatRequest, reply: ChatReply) -> None:
        call = ChatCall(
            purpose=request.purpose,
            model=reply.model,
            messages=request.messages,
            text=reply.text,
            calls=reply.calls,
            usage=reply.usage,
            first_ms=reply.first_ms,
            total_ms=reply.total_ms,
        )
        self._add(call)

    def _remember(self, request: ChatRequest, start: float, text: str, error: KaijuanError | None) -> None:
        """Keep a call that has no whole reply; what it took is estimated."""
        estimate = Usage(calls=1, prompt_tokens=tokens_of(request.messages), completion_tokens=tokens(text))
        call = ChatCall(
            purpose=request.purpose,
            model=self._inner.info.name,
            messages=request.messages,
            text=text,
            usage=replace(estimate, estimated=True) if text else Usage(calls=1),
            total_ms=round((self._clock() - start) * 1000, 3),
            failure=error.code if error else "stopped",
        )
        self._add(call)

    def _add(self, call: ChatCall) -> None:
        self.calls.append(call)
        # Named as OpenTelemetry's conventions for generative models want it. Never what was said: that is in the trace.
        attributes: dict[str, str | int] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": self._inner.info.name,
            "gen_ai.response.model": call.model,
            "gen_ai.usage.input_tokens": call.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": call.usage.completion_tokens,
            "kaijuan.purpose": call.purpose,
        }
        telemetry.ended(f"chat {self._inner.info.name}", call.total_ms / 1000, attributes, call.failure)
