"""Sends simple requests to a small model and the others to a large one (spec I6)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kaijuan.core.chat import ChatInfo, ChatModel, ChatPiece, ChatReply, ChatRequest, Effort


class RoutedChat:
    """Two models behind one face. It is known by the large one, which writes what people read."""

    def __init__(self, *, small: ChatModel, large: ChatModel) -> None:
        self._small, self._large = small, large

    @property
    def info(self) -> ChatInfo:
        """Say what the large model is."""
        return self._large.info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the reply of the model that fits the request's effort."""
        return await self._for(request).reply(request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply of the model that fits the request's effort."""
        async with aclosing(self._for(request).stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        """Close both."""
        await self._small.close()
        await self._large.close()

    def _for(self, request: ChatRequest) -> ChatModel:
        return self._small if request.effort is Effort.SMALL else self._large
