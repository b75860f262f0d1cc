"""Asks a busy or broken model again, with growing pauses that chance spreads. Wraps any chat model."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from kaijuan import telemetry
from kaijuan.core.chat import ChatInfo, ChatModel, ChatPiece, ChatReply, ChatRequest
from kaijuan.errors import ModelBusyError, ModelError, ModelTimeoutError

LONGEST_PAUSE = 20.0


class RetryingChat:
    """Tries again what `retry` says may succeed. A stream is tried again only while nothing of it was shown.

    All tries together end within the deadline of the request (`seconds` where it has none). A timeout is final: it
    has used up the time.
    """

    def __init__(
        self,
        inner: ChatModel,
        *,
        attempts: int,
        seconds: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._attempts, self._seconds = inner, attempts, seconds
        self._sleep, self._chance, self._clock = sleep, chance, clock

    @property
    def info(self) -> ChatInfo:
        """Say what the inner model is."""
        return self._inner.info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the reply of the first try that gives one."""
        end = self._end(request)
        attempt = 0
        while True:
            try:
                return await self._inner.reply(self._within(request, end))
            except ModelError as error:
                await self._pause_or_raise(error, attempt, end)
            attempt += 1

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply of the first try that begins one."""
        end = self._end(request)
        attempt = 0
        while True:
            shown = False
            try:
                async with aclosing(self._inner.stream(self._within(request, end))) as pieces:
                    async for piece in pieces:
                        shown = True
                        yield piece
                return
            except ModelError as error:
                if shown:
                    raise
                await self._pause_or_raise(error, attempt, end)
            attempt += 1

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()

    def _end(self, request: ChatRequest) -> float:
        return self._clock() + min(self._seconds, request.seconds or self._seconds)

    def _within(self, request: ChatRequest, end: float) -> ChatRequest:
        return replace(request, seconds=max(end - self._clock(), 0.001))

    async def _pause_or_raise(self, error: ModelError, attempt: int, end: float) -> None:
        if not error.retry or isinstance(error, ModelTimeoutError) or attempt + 1 >= self._attempts:
            raise error
        asked = error.wait if isinstance(error, ModelBusyError) else None
        # Half of the pause is chance, so that clients do not march in step.
        pause = min(LONGEST_PAUSE, 0.5 * 2.0**attempt) * (0.5 + 0.5 * self._chance())
        pause = max(pause, asked or 0.0)
        if self._clock() + pause >= end:
            raise error
        telemetry.count("chat.retried")
        await self._sleep(pause)
