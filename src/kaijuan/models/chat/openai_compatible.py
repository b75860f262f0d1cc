"""A language model behind any service that speaks OpenAI's `POST /v1/chat/completions`. One request, no patience.

Tries, limits and second models are wrappers of their own (models/around).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from kaijuan import telemetry
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
from kaijuan.core.chat_settings import ChatSettings, ServedModel
from kaijuan.errors import (
    ClosedError,
    ModelError,
    ModelRefusedError,
    ModelTimeoutError,
    ModelUnreachableError,
    OverlongInputError,
    UnusableReplyError,
    UsageError,
)
from kaijuan.models.chat.thinking import Thoughts
from kaijuan.models.chat.wire import Body, Dialect, Gathering, body_of, chunk_of, data_of, failure, is_end, streamed

if TYPE_CHECKING:
    from httpx import AsyncClient, Response


MOST_BYTES = 4_000_000
"""Of one reply. What is longer is none of a model's."""
_ERROR_BYTES = 100_000
_LONGEST_WAIT = 60.0
_CONCESSIONS = 6
_CONNECT_SECONDS = 10.0
BROKE_OFF = "The model's service broke off in the middle of a reply."


class OpenAIChat:
    """Asks one model. What the service turns out not to understand is left out from then on."""

    def __init__(
        self,
        served: ServedModel,
        settings: ChatSettings,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not served.configured:
            raise UsageError("A language model needs chat.url and chat.model.", hint="Set them, then try again.")
        self._served, self._settings = served, settings
        self._now, self._clock = now, clock
        self._key = served.key.get_secret_value()
        self._url = chat_address(served.url)
        self._dialect = Dialect(structured={"auto": "schema"}.get(served.structured, served.structured))
        self._client: AsyncClient | None = None
        self._closed = False
        digest = hashlib.blake2b(f"{self._url}\0{served.model}".encode(), digest_size=8).hexdigest()
        self._info = ChatInfo(
            name=served.model,
            fingerprint=f"openai-chat-1/{digest}",
            context_tokens=served.context_tokens,
            reply_tokens=served.reply_tokens,
        )

    @property
    def info(self) -> ChatInfo:
        """Say what this model is; asks nobody."""
        return self._info

    async def reply(self, request: ChatRequest) -> ChatReply:
        """Return the whole reply in one piece."""
        self._check(request)
        seconds = self._seconds(request)
        start = self._clock()
        try:
            async with asyncio.timeout(seconds):
                text = await self._whole(request)
        except TimeoutError as error:
            raise _late(seconds) from error
        gathered = Gathering(key=self._key)
        said = gathered.take(_decoded(text))
        thoughts = Thoughts()
        found = thoughts.take(said) + thoughts.end()
        total = (self._clock() - start) * 1000
        return self._made(request, gathered, found, first_ms=total, total_ms=total)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[ChatPiece, None]:
        """Yield the reply as it is written; ModelError where it breaks off."""
        self._check(request)
        start = self._clock()
        gathered, thoughts = Gathering(key=self._key), Thoughts()
        texts: list[str] = []
        first = 0.0
        async with aclosing(self._lines(request)) as lines:
            async for line in self._in_time(lines, self._seconds(request)):
                if is_end(line):
                    gathered.ended = True
                    break
                said = thoughts.take(gathered.take(chunk_of(line)))
                if said:
                    first = first or (self._clock() - start) * 1000
                    texts.append(said)
                    yield ChatPiece(said)
        if last := thoughts.end():
            texts.append(last)
            yield ChatPiece(last)
        if gathered.finish is None and not gathered.ended:
            raise ModelUnreachableError(BROKE_OFF, hint="Try again.")
        total = (self._clock() - start) * 1000
        yield ChatPiece(reply=self._made(request, gathered, "".join(texts), first_ms=first or total, total_ms=total))

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _check(self, request: ChatRequest) -> None:
        if self._closed:
            raise ClosedError("The chat model is closed.")
        # The estimate is on the high side; only what is hopeless is refused without asking.
        needed = tokens_of(request.messages) // 2
        if needed > self._served.context_tokens:
            raise OverlongInputError(
                f"The prompt has at least {needed} tokens; the model reads {self._served.context_tokens}.",
                hint="Raise chat.context_tokens if the model reads more.",
            )

    def _seconds(self, request: ChatRequest) -> float:
        return min(self._settings.seconds, request.seconds or self._settings.seconds)

    async def _whole(self, request: ChatRequest) -> str:
        for _ in range(_CONCESSIONS):
            body = self._body(request)
            async with self._posted(body) as response:
                if response.status_code == 200:
                    return await _bounded(response, MOST_BYTES)
                said = await _bounded(response, _ERROR_BYTES, cut=True)
            self._concede_or_raise(response, body, said)
        raise ModelRefusedError("The model's service refused the request in every form.")

    async def _lines(self, request: ChatRequest) -> AsyncGenerator[str, None]:
        """Yield the lines of the event stream, the first one only once the request was accepted."""
        for _ in range(_CONCESSIONS):
            body = streamed(self._body(request), self._dialect)
            async with self._posted(body) as response:
                if response.status_code == 200:
                    async for line in _lines(response) if _is_stream(response) else _as_stream(response):
                        yield line
                    return
                said = await _bounded(response, _ERROR_BYTES, cut=True)
            self._concede_or_raise(response, body, said)
        raise ModelRefusedError("The model's service refused the request in every form.")

    async def _in_time(self, lines: AsyncIterator[str], seconds: float) -> AsyncIterator[str]:
        """Yield lines; ModelTimeoutError where one is late or the whole takes too long."""
        end = self._clock() + seconds
        while True:
            wait = min(self._settings.first_seconds, end - self._clock())
            try:
                # A service that drips must not hang, so that each line and the whole have a deadline.
                async with asyncio.timeout(max(wait, 0.0)):
                    line = await anext(lines, None)
            except TimeoutError as error:
                raise _late(seconds if wait < self._settings.first_seconds else wait) from error
            if line is None:
                return
            yield line

    def _body(self, request: ChatRequest) -> Body:
        return body_of(
            request,
            self._served.model,
            self._dialect,
            limit=self._served.reply_tokens,
            temperature=self._settings.temperature,
        )

    def _posted(self, body: Body) -> _Posted:
        return _Posted(self._connection(), self._url, body)

    def _concede_or_raise(self, response: Response, body: Body, said: str) -> None:
        error = failure(response.status_code, said, self._key, wait=self._asked_wait(response))
        unclear = response.status_code in {400, 422} and not isinstance(error, OverlongInputError)
        if not (unclear and self._dialect.concede(body, said)):
            raise error
        telemetry.count("chat.conceded")

    def _asked_wait(self, response: Response) -> float | None:
        """Return the seconds that the header Retry-After asks for (RFC 9110, 10.2.3), a minute at most."""
        value = response.headers.get("retry-after", "")
        try:
            seconds = float(value)
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - self._now()
            except (TypeError, ValueError):
                return None
        return min(max(seconds, 0.0), _LONGEST_WAIT) if seconds == seconds else None

    def _connection(self) -> AsyncClient:
        import httpx

        if self._client is None:
            headers = {"Content-Type": "application/json"}
            if self._key:
                headers["Authorization"] = f"Bearer {self._key}"
            timeout = httpx.Timeout(self._settings.seconds, connect=_CONNECT_SECONDS)
            self._client = httpx.AsyncClient(headers=headers, timeout=timeout)
        return self._client

    def _made(
        self, request: ChatRequest, gathered: Gathering, text: str, *, first_ms: float, total_ms: float
    ) -> ChatReply:
        """Return the reply with what it took; ModelError for one that says nothing."""
        if not text.strip() and not gathered.tools:
            raise UnusableReplyError("The model's reply is empty.")
        prompt, written = gathered.counted("prompt_tokens"), gathered.counted("completion_tokens")
        estimated = prompt is None or written is None
        usage = self._priced(
            tokens_of(request.messages) if prompt is None else prompt,
            tokens(text) if written is None else written,
            estimated=estimated,
        )
        telemetry.count("chat.calls")
        telemetry.count("chat.prompt_tokens", usage.prompt_tokens)
        telemetry.count("chat.completion_tokens", usage.completion_tokens)
        return ChatReply(
            text=text,
            model=self._served.model,
            finish=gathered.finish or Finish.STOP,
            calls=gathered.tools,
            usage=usage,
            first_ms=round(first_ms, 3),
            total_ms=round(total_ms, 3),
        )

    def _priced(self, prompt: int, written: int, *, estimated: bool) -> Usage:
        cost = (prompt * self._served.input_price + written * self._served.output_price) / 1_000_000
        return Usage(calls=1, prompt_tokens=prompt, completion_tokens=written, cost=cost, estimated=estimated)


class _Posted:
    """A request under way, whose transport failures become ours. They may quote headers, and are not shown."""

    def __init__(self, client: AsyncClient, url: str, body: Body) -> None:
        self._stream = client.stream("POST", url, content=data_of(body))

    async def __aenter__(self) -> Response:
        import httpx

        try:
            return await self._stream.__aenter__()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _unreachable(error) from None

    async def __aexit__(self, *what: Any) -> None:
        await self._stream.__aexit__(*what)


def chat_address(url: str) -> str:
    """Return the full address of the call for a base address that ends before or after `/v1`."""
    base = url.rstrip("/")
    if base.endswith("/chat/completions"):
        return base
    return f"{base}/chat/completions" if base.endswith("/v1") else f"{base}/v1/chat/completions"


async def _bounded(response: Response, most: int, *, cut: bool = False) -> str:
    import httpx

    data = bytearray()
    try:
        async for part in response.aiter_bytes():
            data += part
            if len(data) > most:
                if cut:
                    break
                raise UnusableReplyError("The model's reply is too long to be one.")
    except httpx.HTTPError as error:
        raise _unreachable(error) from None
    return bytes(data[:most]).decode("utf-8", "replace")


async def _lines(response: Response) -> AsyncIterator[str]:
    """Yield the lines of a stream; no line and no whole may be longer than a reply can be."""
    import httpx

    rest, total = b"", 0
    try:
        async for part in response.aiter_bytes():
            total += len(part)
            if total > 4 * MOST_BYTES or len(rest) > MOST_BYTES:
                raise UnusableReplyError("The model's reply is too long to be one.")
            *whole, rest = (rest + part).split(b"\n")
            for line in whole:
                yield line.decode("utf-8", "replace").rstrip("\r")
    except httpx.HTTPError as error:
        raise _unreachable(error) from None
    if rest:
        yield rest.decode("utf-8", "replace")


def _is_stream(response: Response) -> bool:
    return "json" not in response.headers.get("content-type", "text/event-stream")


async def _as_stream(response: Response) -> AsyncIterator[str]:
    """Yield a reply of a service that does not stream as if it did."""
    yield f"data: {json.dumps(_decoded(await _bounded(response, MOST_BYTES)))}"
    yield "data: [DONE]"


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnusableReplyError("The model's service answered with something else than a reply.") from error


def _unreachable(error: Exception) -> ModelError:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return ModelTimeoutError("The model's service did not answer in time.")
    if isinstance(error, httpx.ConnectError):
        return ModelUnreachableError("The model's service cannot be reached.")
    if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError):
        return ModelUnreachableError(BROKE_OFF, hint="Try again.")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return ModelRefusedError("The request to the model's service cannot be sent.", hint="Check chat.url.")
    return ModelError(f"The request to the model's service failed ({type(error).__name__}).")


def _late(seconds: float) -> ModelTimeoutError:
    return ModelTimeoutError(f"The model did not reply within {seconds:g} s.")
