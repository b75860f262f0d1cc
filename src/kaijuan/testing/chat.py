"""Chat models for tests: one that says what a script says, and a service that speaks the protocol, well or badly."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from kaijuan.core.chat import (
    ChatInfo,
    ChatPiece,
    ChatReply,
    ChatRequest,
    Finish,
    Usage,
    tokens,
    tokens_of,
)
from kaijuan.errors import ClosedError, KaijuanError

Said = str | KaijuanError
Script = Sequence[Said] | Callable[[ChatRequest], Said]
"""Replies one after the other, the last one for ever, or a function of the request. An error is raised."""


class ScriptedChat:
    """Says what its script says, in pieces of a few characters; notes every request in `asked`."""

    def __init__(
        self, script: Script, *, name: str = "scripted", piece: int = 3, context_tokens: int = 8192, pause: float = 0.0
    ) -> None:
        self._script = script
        self._piece, self._pause = piece, pause
        self._closed = False
        self.asked: list[ChatRequest] = []
        self._info = ChatInfo(
            name=name, fingerprint=f"scripted/{name}", context_tokens=context_tokens, reply_tokens=1024
        )

    @property
    def info(self) -> ChatInfo:
        """Say what this model is."""
        return self._info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the next reply of the script."""
        text = self._next(request)
        await asyncio.sleep(self._pause)
        return self._made(request, text)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the next reply of the script in pieces."""
        text = self._next(request)
        for at in range(0, len(text), self._piece):
            await asyncio.sleep(self._pause)
            yield ChatPiece(text[at : at + self._piece])
        yield ChatPiece(reply=self._made(request, text))

    async def close(self) -> None:
        """Refuse further calls."""
        self._closed = True

    def _next(self, request: ChatRequest) -> str:
        if self._closed:
            raise ClosedError("The chat model is closed.")
        self.asked.append(request)
        if callable(self._script):
            said = self._script(request)
        else:
            said = self._script[min(len(self.asked), len(self._script)) - 1]
        if isinstance(said, KaijuanError):
            raise said
        return said

    def _made(self, request: ChatRequest, text: str) -> ChatReply:
        usage = Usage(calls=1, prompt_tokens=tokens_of(request.messages), completion_tokens=tokens(text))
        return ChatReply(text=text, model=self._info.name, finish=Finish.STOP, usage=usage)


Handler = BaseHTTPRequestHandler
Behaviour = Callable[[Handler, dict[str, Any]], None]


class ChatService:
    """A loopback service that speaks the chat protocol. `behaviours` are used in turn, the last one for ever.

    `asked` are the bodies, `keys` the Authorization headers of all requests.
    """

    def __init__(self, *behaviours: Behaviour) -> None:
        self.behaviours: list[Behaviour] = list(behaviours) or [says("Hello.")]
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        service = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.asked.append(body)
                service.keys.append(self.headers["authorization"])
                behave = service.behaviours.pop(0) if len(service.behaviours) > 1 else service.behaviours[0]
                try:
                    behave(self, body)
                except OSError:
                    return  # the client has gone

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Its base address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def says(text: str, *, piece: int = 4, usage: bool = True) -> Behaviour:
    """Reply with a text, whole or streamed as the request wants it."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:
        counted = {"prompt_tokens": 11, "completion_tokens": 7} if usage else None
        if not body.get("stream"):
            choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            send(handler, json.dumps({"choices": [choice], "usage": counted}).encode())
            return
        begin_stream(handler)
        for event in events(text, piece):
            write(handler, event)
        if counted:
            write(handler, data({"choices": [], "usage": counted}))
        write(handler, b"data: [DONE]\n\n")

    return behave


def fails(status: int, said: str = "no", headers: dict[str, str] | None = None) -> Behaviour:
    """Reply with a status and a message."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:  # noqa: ARG001 - it fails whatever was asked
        send(handler, json.dumps({"error": {"message": said}}).encode(), status, headers)

    return behave


def hangs(seconds: float) -> Behaviour:
    """Accept the request and say nothing for a while."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:  # noqa: ARG001 - it hangs whatever was asked
        time.sleep(seconds)
        send(handler, b"{}")

    return behave


def breaks_off(text: str, *, after: int) -> Behaviour:
    """Stream the first characters of a text and close the connection."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:  # noqa: ARG001 - it breaks off whatever was asked
        begin_stream(handler)
        for event in list(events(text[:after], 4))[:-1]:
            write(handler, event)

    return behave


def stalls(text: str, seconds: float) -> Behaviour:
    """Stream a text and then neither go on nor end, but for comments that keep the connection busy."""

    def behave(handler: Handler, body: dict[str, Any]) -> None:  # noqa: ARG001 - it stalls whatever was asked
        begin_stream(handler)
        for event in list(events(text, 4))[:-1]:
            write(handler, event)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            write(handler, b": still here\n\n")
            time.sleep(0.02)

    return behave


def sends(body: bytes, status: int = 200) -> Behaviour:
    """Reply with these bytes, whatever was asked."""

    def behave(handler: Handler, _: dict[str, Any]) -> None:
        send(handler, body, status)

    return behave


def send(handler: Handler, body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
    """Send a whole response."""
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def begin_stream(handler: Handler) -> None:
    """Send the head of an event stream."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.end_headers()


def events(text: str, piece: int) -> Iterator[bytes]:
    """Yield the events of a streamed text, the last of which says why it ended."""
    for at in range(0, len(text), piece):
        yield data({"choices": [{"delta": {"content": text[at : at + piece]}, "finish_reason": None}]})
    yield data({"choices": [{"delta": {}, "finish_reason": "stop"}]})


def data(chunk: object) -> bytes:
    """Return one event."""
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()


def write(handler: Handler, event: bytes) -> None:
    """Send one event at once."""
    handler.wfile.write(event)
    handler.wfile.flush()
