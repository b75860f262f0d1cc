"""Asks the next model when one fails, and leaves a model alone for a while that fails again and again."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing

from kaijuan import telemetry
from kaijuan.core.chat import ChatInfo, ChatModel, ChatPiece, ChatReply, ChatRequest
from kaijuan.errors import ModelError, OverlongInputError

IN_A_ROW = 3
"""Failures one after the other from which a model is left alone."""


class FallbackChat:
    """Several models behind one face, the best first. A stream changes models only while nothing of it was shown.

    When all fail, the first one's error is raised: it is the one that was meant. A model that fails several times in a
    row is not asked again for `rest_seconds`, its last error raised at once: nobody waits for what is known to be down.
    """

    def __init__(
        self, models: Sequence[ChatModel], *, rest_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._models = list(models)
        self._rest, self._clock = rest_seconds, clock
        self._failures = [0] * len(self._models)
        self._until = [0.0] * len(self._models)
        self._errors: list[ModelError | None] = [None] * len(self._models)

    @property
    def info(self) -> ChatInfo:
        """Say what the first model is."""
        return self._models[0].info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the reply of the first model that gives one."""
        first: ModelError | None = None
        for at in self._order():
            try:
                found = await self._models[at].reply(request)
            except ModelError as error:
                first = first or error
                self._failed(at, error)
            else:
                self._failures[at] = 0
                return found
        raise first or self._known()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply of the first model that begins one."""
        first: ModelError | None = None
        for at in self._order():
            shown = False
            try:
                async with aclosing(self._models[at].stream(request)) as pieces:
                    async for piece in pieces:
                        shown = True
                        yield piece
            except ModelError as error:
                self._failed(at, error)
                if shown:
                    raise
                first = first or error
            else:
                self._failures[at] = 0
                return
        raise first or self._known()

    async def close(self) -> None:
        """Close all models."""
        for model in self._models:
            await model.close()

    def _order(self) -> Iterator[int]:
        """Yield the models to ask; not those that rest."""
        now = self._clock()
        yield from (at for at in range(len(self._models)) if self._until[at] <= now)

    def _known(self) -> ModelError:
        """Return the error of the first model, all of which rest: a fresh one, since a raised error keeps its past."""
        known = self._errors[0]
        return type(known)(known.message, hint=known.hint) if known else ModelError("No model is configured.")

    def _failed(self, at: int, error: ModelError) -> None:
        telemetry.count("chat.failed")
        telemetry.event("chat.failed", model=self._models[at].info.name, code=error.code)
        if isinstance(error, OverlongInputError):
            return  # the request's fault
        self._failures[at] += 1
        self._errors[at] = error
        if self._failures[at] >= IN_A_ROW:
            self._until[at] = self._clock() + self._rest
