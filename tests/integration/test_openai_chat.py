"""The OpenAI-compatible chat model against real HTTP: services that behave, and every way in which one misbehaves."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from pydantic import SecretStr

from kaijuan.core.chat import ChatPiece, ChatRequest, Effort, Finish, Message, Role, Tool, ToolCall, prompt
from kaijuan.core.chat_settings import ChatSettings, ServedModel
from kaijuan.errors import (
    ModelBusyError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
    OverlongInputError,
    UnusableReplyError,
)
from kaijuan.models.chat.openai_compatible import OpenAIChat, chat_address
from kaijuan.testing.chat import (
    Behaviour,
    ChatService,
    begin_stream,
    breaks_off,
    data,
    fails,
    hangs,
    says,
    sends,
    stalls,
    write,
)
from kaijuan.verbs.chat_models import make_chat

KEY = "sk-very-secret"
REQUEST = ChatRequest(messages=prompt("Be brief.", "Who?"), purpose="test")


@pytest.fixture
def service() -> Iterator[ChatService]:
    with ChatService() as running:
        yield running


def settings(service: ChatService, **more: object) -> ChatSettings:
    return ChatSettings.model_validate(
        {"url": service.url, "model": "m", "key": KEY, "seconds": 5, "first_seconds": 5, **more}
    )


async def replied(service: ChatService, request: ChatRequest = REQUEST, **more: object) -> str:
    made = settings(service, **more)
    chat = OpenAIChat(made, made)
    try:
        return (await chat.reply(request)).text
    finally:
        await chat.close()


async def streamed(service: ChatService, request: ChatRequest = REQUEST, **more: object) -> list[ChatPiece]:
    made = settings(service, **more)
    chat = OpenAIChat(made, made)
    try:
        async with aclosing(chat.stream(request)) as pieces:
            return [piece async for piece in pieces]
    finally:
        await chat.close()


async def test_what_is_sent(service: ChatService) -> None:
    request = ChatRequest(
        messages=(
            *prompt("sys", "user"),
            Message(Role.ASSISTANT, "", calls=(ToolCall(id="c1", name="find", arguments="{}"),)),
            Message(Role.TOOL, "found", answers="c1"),
        ),
        purpose="test",
        max_tokens=77,
        schema={"type": "object"},
        tools=(Tool(name="find", description="finds", parameters={"type": "object"}),),
    )
    assert await replied(service, request) == "Hello."
    (body,) = service.asked
    assert service.keys == [f"Bearer {KEY}"]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.0, 77)
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "find", "arguments": "{}"}
    assert body["messages"][3]["tool_call_id"] == "c1"
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["tools"][0]["function"]["name"] == "find"


async def test_usage_is_counted_and_priced(service: ChatService) -> None:
    made = settings(service, input_price=2.0, output_price=10.0)
    chat = OpenAIChat(made, made)
    usage = (await chat.reply(REQUEST)).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (11, 7, False)
    assert usage.cost == pytest.approx((11 * 2 + 7 * 10) / 1e6)
    service.behaviours = [says("一二三四", usage=False)]
    estimated = (await chat.reply(REQUEST)).usage
    await chat.close()
    assert estimated.estimated
    assert estimated.completion_tokens == 4


async def test_tool_calls_come_together_from_pieces(service: ChatService) -> None:
    def behave(handler: object, body: dict[str, object]) -> None:
        begin_stream(handler)  # type: ignore[arg-type]
        pieces = [
            {"index": 0, "id": "c1", "function": {"name": "find", "arguments": '{"q'}},
            {"index": 0, "function": {"arguments": '": 1}'}},
            {"index": 1, "id": "c2", "function": {"name": "open", "arguments": "{}"}},
            {"index": 99_999, "id": "c3", "function": {"name": "far"}},
            {"index": "x"},
            None,
        ]
        for piece in pieces:
            write(handler, data({"choices": [{"delta": {"tool_calls": [piece]}}]}))  # type: ignore[arg-type]
        write(handler, data({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}))  # type: ignore[arg-type]

    service.behaviours = [behave]
    reply = (await streamed(service))[-1].reply
    assert reply is not None
    assert reply.finish is Finish.TOOLS
    assert [(call.name, call.arguments) for call in reply.calls] == [("find", '{"q": 1}'), ("open", "{}")]


@pytest.mark.parametrize("piece", [1, 3, 100])
async def test_thoughts_are_no_part_of_the_reply(service: ChatService, piece: int) -> None:
    service.behaviours = [says("\n<think>hm, <b> let me see</think>\n\nThe <think> answer.", piece=piece)]
    pieces = await streamed(service)
    assert "".join(one.text for one in pieces) == "The <think> answer."
    assert await replied(service) == "The <think> answer."


FAILURES: list[tuple[Behaviour, type[ModelError]]] = [
    (fails(401, f"bad key {KEY}"), ModelRefusedError),
    (fails(403), ModelRefusedError),
    (fails(404, "no such model"), ModelRefusedError),
    (fails(400, "This model's maximum context length is 10 tokens"), OverlongInputError),
    (fails(400, "the request exceeds the available context size"), OverlongInputError),
    (fails(413, "too long"), OverlongInputError),
    (fails(429, "slow down"), ModelBusyError),
    (fails(503), ModelBusyError),
    (fails(500), ModelError),
    (fails(302, "elsewhere", {"location": "http://127.0.0.1:9/"}), ModelRefusedError),
    (sends(b"<html>oops</html>"), ModelError),
    (sends(b"{}"), UnusableReplyError),
    (sends(b'{"choices": []}'), UnusableReplyError),
    (sends(b'{"choices": [{"message": {"content": null}}]}'), UnusableReplyError),
    (sends(b"[" * 100_000), ModelError),
    (sends(b"\xff\xfe"), ModelError),
    (sends(b""), ModelError),
    (sends(b'{"error": {"message": "overloaded"}}'), ModelError),
    (says(""), UnusableReplyError),
    (says("  \n "), UnusableReplyError),
    (says("<think>only thoughts"), UnusableReplyError),
    (sends(b'{"choices": [{"message": {"content": "' + b"x" * 5_000_000 + b'"}}]}'), ModelError),
]


@pytest.mark.parametrize(("behaviour", "expected"), FAILURES)
async def test_failures(
    service: ChatService, behaviour: Behaviour, expected: type[ModelError], caplog: pytest.LogCaptureFixture
) -> None:
    service.behaviours = [behaviour]
    caplog.set_level(logging.DEBUG)
    for call in (replied, streamed):
        with pytest.raises(expected) as caught:
            await call(service)
        assert KEY not in str(caught.value)
        assert len(str(caught.value)) < 500
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "behaviour", [breaks_off("one two three", after=8), stalls("one two", 20), says("one two", piece=3)]
)
async def test_half_a_stream(service: ChatService, behaviour: Behaviour) -> None:
    """Pieces come until it breaks; then an error, never a hang, and never half a reply taken for a whole."""
    service.behaviours = [behaviour]
    made = settings(service, seconds=0.5, first_seconds=0.3)
    chat = OpenAIChat(made, made)
    said: list[str] = []
    whole = False
    try:
        async with aclosing(chat.stream(REQUEST)) as pieces:
            async for piece in pieces:
                said.append(piece.text)
                whole = whole or piece.reply is not None
    except (ModelUnreachableError, ModelTimeoutError):
        assert not whole
    else:
        assert whole
    await chat.close()
    assert "".join(said).startswith("one")


@pytest.mark.parametrize("behaviour", [hangs(3.0), stalls("", 3.0)])
async def test_a_slow_service_is_given_up(service: ChatService, behaviour: Behaviour) -> None:
    service.behaviours = [behaviour]
    for call in (replied, streamed):
        with pytest.raises(ModelTimeoutError):
            await call(service, seconds=0.2, first_seconds=0.2)


async def test_nobody_there() -> None:
    made = ChatSettings(url="http://127.0.0.1:9", model="m", key=SecretStr(KEY))
    chat = OpenAIChat(made, made)
    with pytest.raises(ModelUnreachableError) as caught:
        await chat.reply(REQUEST)
    await chat.close()
    assert KEY not in str(caught.value)


async def test_an_error_within_a_stream(service: ChatService) -> None:
    def behave(handler: object, body: dict[str, object]) -> None:
        begin_stream(handler)  # type: ignore[arg-type]
        write(handler, data({"choices": [{"delta": {"content": "so far"}}]}))  # type: ignore[arg-type]
        write(handler, data({"error": {"message": f"context length exceeded {KEY}"}}))  # type: ignore[arg-type]

    service.behaviours = [behave]
    with pytest.raises(OverlongInputError) as caught:
        await streamed(service)
    assert KEY not in str(caught.value)


async def test_a_prompt_that_cannot_fit_is_not_sent(service: ChatService) -> None:
    long = ChatRequest(messages=prompt("", "字" * 30_000), purpose="test")
    with pytest.raises(OverlongInputError):
        await replied(service, long)
    assert service.asked == []


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("unknown field response_format", "response_format"),
        ("Unsupported parameter: temperature", "temperature"),
        ("'stream_options' is not allowed", "stream_options"),
    ],
)
async def test_what_a_service_does_not_know_is_left_out_for_good(service: ChatService, said: str, gone: str) -> None:
    def behave(handler: object, body: dict[str, object]) -> None:
        (fails(400, said) if gone in body else says('{"a": 1}'))(handler, body)  # type: ignore[arg-type]

    service.behaviours = [behave]
    made = settings(service)
    chat = OpenAIChat(made, made)
    request = ChatRequest(messages=REQUEST.messages, purpose="test", schema={"type": "object"})
    for _ in range(2):
        async with aclosing(chat.stream(request)) as pieces:
            assert "".join([piece.text async for piece in pieces]) == '{"a": 1}'
    await chat.close()
    assert gone not in service.asked[-1]
    assert len([body for body in service.asked if gone in body]) == (2 if gone == "response_format" else 1)


async def test_the_newer_name_of_the_limit(service: ChatService) -> None:
    def behave(handler: object, body: dict[str, object]) -> None:
        wrong = "max_tokens" in body
        said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        (fails(400, said) if wrong else says("ok"))(handler, body)  # type: ignore[arg-type]

    service.behaviours = [behave]
    assert await replied(service) == "ok"
    assert service.asked[-1]["max_completion_tokens"] == 1024


async def test_a_refusal_of_everything_ends(service: ChatService) -> None:
    service.behaviours = [fails(400, "no")]
    with pytest.raises(ModelRefusedError):
        await replied(service)
    assert len(service.asked) <= 6


async def test_half_code_points(service: ChatService) -> None:
    service.behaviours = [sends(b'{"choices": [{"message": {"content": "so \\ud83d"}, "finish_reason": "length"}]}')]
    request = ChatRequest(messages=prompt("", "a \ud83d b"), purpose="test")
    assert await replied(service, request) == "so ?"
    assert service.asked[0]["messages"][0]["content"] == "a ? b"


def test_addresses() -> None:
    full = "http://h:1/v1/chat/completions"
    for url in ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", full):
        assert chat_address(url) == full


async def test_the_whole_stack_tries_again_falls_back_and_routes(service: ChatService) -> None:
    by_model: dict[str, list[Behaviour]] = {
        "large": [fails(503, headers={"retry-after": "0"}), says("from large"), fails(401)],
        "second": [says("from second")],
        "small": [says("from small"), fails(404)],
    }

    def behave(handler: object, body: dict[str, object]) -> None:
        left = by_model[str(body["model"])]
        (left.pop(0) if len(left) > 1 else left[0])(handler, body)  # type: ignore[arg-type]

    service.behaviours = [behave]
    made = settings(service, model="large", small={"model": "small"}, fallback={"model": "second"})
    chat = make_chat(made)
    assert chat is not None
    small = ChatRequest(messages=REQUEST.messages, purpose="test", effort=Effort.SMALL)
    assert (await chat.reply(REQUEST)).text == "from large"
    assert (await chat.reply(small)).text == "from small"
    assert (await chat.reply(REQUEST)).text == "from second"
    assert (await chat.reply(small)).text == "from second"
    assert (await chat.reply(REQUEST)).model == "second"
    await chat.close()
    assert service.keys[0] == f"Bearer {KEY}"


def test_no_model_no_chat() -> None:
    assert make_chat(ChatSettings()) is None


def test_keys_go_to_their_own_service_only() -> None:
    made = ChatSettings(
        url="http://one",
        model="m",
        key=SecretStr(KEY),
        small=ServedModel(model="s"),
        fallback=ServedModel(url="http://other", model="f"),
    )
    assert made.small_model is not None
    assert made.fallback_model is not None
    assert made.small_model.key.get_secret_value() == KEY
    assert made.fallback_model.key.get_secret_value() == ""
    assert KEY not in repr(made) + json.dumps(made.model_dump(mode="json"))
