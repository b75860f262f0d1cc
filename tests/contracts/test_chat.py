"""Every chat model, and every wrapper of one, keeps the promises of the port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from kaijuan.core.chat import ChatModel
from kaijuan.core.chat_record import RecordedChat
from kaijuan.core.chat_settings import ChatSettings
from kaijuan.errors import ModelError
from kaijuan.models.around.chat_fallback import FallbackChat
from kaijuan.models.around.chat_limit import LimitedChat
from kaijuan.models.around.chat_retry import RetryingChat
from kaijuan.models.around.chat_route import RoutedChat
from kaijuan.models.chat.openai_compatible import OpenAIChat
from kaijuan.testing.chat import ChatService, ScriptedChat, fails, says
from kaijuan.testing.contracts.chat import REQUEST, TEXT, ChatContract

BROKEN = ModelError("down")


class TestScriptedChat(ChatContract):
    @pytest.fixture
    def chat(self) -> ChatModel:
        return ScriptedChat([TEXT])

    @pytest.fixture
    def broken(self) -> ChatModel:
        return ScriptedChat([BROKEN])


class TestOpenAIChat(ChatContract):
    @pytest.fixture
    def service(self) -> Iterator[ChatService]:
        with ChatService(says(TEXT)) as running:
            yield running

    @pytest.fixture
    async def chat(self, service: ChatService) -> AsyncIterator[ChatModel]:
        settings = ChatSettings(url=service.url, model="m")
        made = OpenAIChat(settings, settings)
        yield made
        await made.close()

    @pytest.fixture
    async def broken(self, service: ChatService) -> AsyncIterator[ChatModel]:
        service.behaviours = [fails(500)]
        settings = ChatSettings(url=service.url, model="m")
        made = OpenAIChat(settings, settings)
        yield made
        await made.close()


class TestRetryingChat(ChatContract):
    @pytest.fixture
    def chat(self) -> ChatModel:
        return RetryingChat(ScriptedChat([TEXT]), attempts=2, seconds=5)

    @pytest.fixture
    def broken(self) -> ChatModel:
        return RetryingChat(ScriptedChat([BROKEN]), attempts=2, seconds=0.1)


class TestLimitedChat(ChatContract):
    @pytest.fixture
    def chat(self) -> ChatModel:
        return LimitedChat(ScriptedChat([TEXT]), requests=2, per_minute=0, seconds=5)

    @pytest.fixture
    def broken(self) -> ChatModel:
        return LimitedChat(ScriptedChat([BROKEN]), requests=2, per_minute=0, seconds=5)


class TestFallbackChat(ChatContract):
    @pytest.fixture
    def chat(self) -> ChatModel:
        return FallbackChat([ScriptedChat([BROKEN]), ScriptedChat([TEXT])], rest_seconds=30)

    @pytest.fixture
    def broken(self) -> ChatModel:
        return FallbackChat([ScriptedChat([BROKEN]), ScriptedChat([BROKEN])], rest_seconds=30)


class TestRoutedChat(ChatContract):
    @pytest.fixture
    def chat(self) -> ChatModel:
        return RoutedChat(small=ScriptedChat([BROKEN]), large=ScriptedChat([TEXT]))

    @pytest.fixture
    def broken(self) -> ChatModel:
        return RoutedChat(small=ScriptedChat([TEXT]), large=ScriptedChat([BROKEN]))


class TestRecordedChat(ChatContract):
    @pytest.fixture
    def chat(self) -> ChatModel:
        return RecordedChat(ScriptedChat([TEXT]))

    @pytest.fixture
    def broken(self) -> ChatModel:
        return RecordedChat(ScriptedChat([BROKEN]))

    async def test_closing(self, chat: ChatModel) -> None:
        """It is a view for one answer: closing it closes nothing."""
        await chat.close()
        assert (await chat.reply(REQUEST)).text == TEXT
