"""Keeps requests to a model within what its service allows: so many at once, so many a minute. Wraps any chat model."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

from kaijuan.core.chat import ChatInfo, ChatModel, ChatPiece, ChatReply, ChatRequest
from kaijuan.errors import ModelBusyError

MINUTE = 60.0


class LimitedChat:
    """Lets requests wait for their turn, in the order in which they came; ModelBusyError when it comes too late."""

    def __init__(
        self,
        inner: ChatModel,
        *,
        requests: int,
        per_minute: int,
        seconds: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._per_minute, self._seconds = inner, per_minute, seconds
        self._sleep, self._clock = sleep, clock
        self._slots = asyncio.Semaphore(requests)
        self._begun: deque[float] = deque()

    @property
    def info(self) -> ChatInfo:
        """Say what the inner model is."""
        return self._inner.info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the reply, when its turn has come."""
        async with self._turn(request) as left:
            return await self._inner.reply(replace(request, seconds=left))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply, when its turn has come; the slot is held until the stream is closed."""
        async with (
            self._turn(request) as left,
            aclosing(self._inner.stream(replace(request, seconds=left))) as pieces,
        ):
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()

    @asynccontextmanager
    async def _turn(self, request: ChatRequest) -> AsyncIterator[float]:
        """Wait for a slot and for the minute's allowance; yield the seconds that are left for the request."""
        end = self._clock() + min(self._seconds, request.seconds or self._seconds)
        try:
            async with asyncio.timeout(max(end - self._clock(), 0.0)):
                await self._slots.acquire()
        except TimeoutError as error:
            raise ModelBusyError("Too many requests to the model are under way.") from error
        try:
            await self._allowance(end)
            yield max(end - self._clock(), 0.001)
        finally:
            self._slots.release()

    async def _allowance(self, end: float) -> None:
        while self._per_minute:
            now = self._clock()
            while self._begun and self._begun[0] <= now - MINUTE:
                self._begun.popleft()
            if len(self._begun) < self._per_minute:
                self._begun.append(now)
                return
            free = self._begun[0] + MINUTE
            if free >= end:
                raise ModelBusyError(
                    f"The model may be asked {self._per_minute} times a minute.", hint="Raise chat.per_minute."
                )
            await self._sleep(free - now)
