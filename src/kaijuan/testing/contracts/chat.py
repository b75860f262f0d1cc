"""What every chat model must hold. Derive and give `chat`, which replies `TEXT`, and `broken`, which fails."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from kaijuan.core.chat import ChatModel, ChatPiece, ChatRequest, Finish, prompt
from kaijuan.errors import ClosedError, ModelError

TEXT = "试用期为三个月 [1]。The trial period is three months [1]. 🙂"
REQUEST = ChatRequest(messages=prompt("Be brief.", "试用期多长？"), purpose="test")


async def streamed(chat: ChatModel, request: ChatRequest = REQUEST) -> list[ChatPiece]:
    """Return all pieces of a stream."""
    async with aclosing(chat.stream(request)) as pieces:
        return [piece async for piece in pieces]


class ChatContract:
    """Behaviour shared by all chat models."""

    @pytest.fixture
    def chat(self) -> ChatModel:
        """Return a model that replies `TEXT`; it is closed by the fixture that made it."""
        raise NotImplementedError

    @pytest.fixture
    def broken(self) -> ChatModel:
        """Return a model whose every call fails."""
        raise NotImplementedError

    async def test_a_whole_reply(self, chat: ChatModel) -> None:
        reply = await chat.reply(REQUEST)
        assert (reply.text, reply.finish) == (TEXT, Finish.STOP)
        assert reply.model
        assert reply.usage.calls == 1
        assert reply.usage.prompt_tokens > 0
        assert reply.usage.completion_tokens > 0

    async def test_pieces_join_to_the_reply(self, chat: ChatModel) -> None:
        pieces = await streamed(chat)
        last = pieces[-1].reply
        assert last is not None
        assert "".join(piece.text for piece in pieces) == last.text == TEXT
        assert all(piece.reply is None for piece in pieces[:-1])
        assert len(pieces) > 2
        assert last.usage.calls == 1

    async def test_a_stream_may_be_left(self, chat: ChatModel) -> None:
        async with aclosing(chat.stream(REQUEST)) as pieces:
            async for piece in pieces:
                assert TEXT.startswith(piece.text)
                break
        assert (await chat.reply(REQUEST)).text == TEXT

    async def test_several_at_once(self, chat: ChatModel) -> None:
        replies = await asyncio.gather(*(chat.reply(REQUEST) for _ in range(5)), streamed(chat))
        assert all((reply[-1].reply if isinstance(reply, list) else reply).text == TEXT for reply in replies)  # type: ignore[union-attr]

    async def test_failures_are_ours(self, broken: ChatModel) -> None:
        with pytest.raises(ModelError):
            await broken.reply(REQUEST)
        with pytest.raises(ModelError):
            await streamed(broken)

    async def test_it_says_what_it_is_without_asking(self, broken: ChatModel) -> None:
        info = broken.info
        assert info.name
        assert info.fingerprint
        assert info.context_tokens > info.reply_tokens > 0

    async def test_closing(self, chat: ChatModel) -> None:
        await chat.close()
        await chat.close()
        with pytest.raises((ClosedError, ModelError)):
            await chat.reply(REQUEST)
