"""What every request passes first: its id, its host and origin, limits of its body, and the headers of its response.

A plain ASGI layer, so that streams are not buffered.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kaijuan.server import access_log
from kaijuan.server.metrics import REQUESTS
from kaijuan.server.problems import MEDIA_TYPE, RequestError, problem_shape
from kaijuan.server.spans import Spans

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
PIECE = "application/offset+octet-stream"
"""Type of a piece of an upload."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

API_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
CONSOLE_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'"
)
_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeLimits:
    """What a request may be."""

    hosts: frozenset[str] = frozenset()
    """Names the service answers to; empty for any."""
    body_bytes: int = 1 << 20
    upload_bytes: int = 1 << 30
    body_seconds: float = 30.0


@dataclass(slots=True)
class _Body:
    """What has come of a request's body."""

    limit: int
    seconds: float
    taken: int = 0
    whole: bool = False
    error: RequestError | None = field(default=None)


class Edge:
    """The layer. Refusals are problem documents; nothing behind it sees a refused request."""

    def __init__(self, app: ASGIApp, limits: EdgeLimits, spans: Spans | None = None) -> None:
        self._app = app
        self._limits = limits
        self._spans = spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        given = headers.get(b"x-request-id", "")
        id = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = id
        told = _Told(scope, id)
        try:
            refusal = self._refusal(scope, headers)
            if refusal is None:
                body = _Body(limit=self._limit(headers), seconds=self._limits.body_seconds)
                with told.within(self._spans):
                    await told.served(self._app, _limited(receive, body), send)
            else:
                await _refuse(refusal, id, scope, receive, told.wrapped(send))
        finally:
            told.log()

    def _refusal(self, scope: Scope, headers: Mapping[bytes, str]) -> RequestError | None:
        host = headers.get(b"host", "")
        if self._limits.hosts and _name(host) not in self._limits.hosts:
            return RequestError(403, "The service is not known under this name.", hint="Add the name to serve.hosts.")
        origin = headers.get(b"origin")
        if origin is not None and scope["method"] not in _SAFE and urlsplit(origin).netloc.lower() != host.lower():
            return RequestError(403, "Pages of other sites may not use the service.")
        if _too_long(headers.get(b"content-length", ""), self._limit(headers)):
            return _oversize(self._limit(headers))
        return None

    def _limit(self, headers: Mapping[bytes, str]) -> int:
        files = headers.get(b"content-type", "").lower().startswith(("multipart/form-data", PIECE))
        return self._limits.upload_bytes if files else self._limits.body_bytes


def _name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def _too_long(length: str, limit: int) -> bool:
    return length.isascii() and length.isdigit() and (len(length) > 15 or int(length) > limit)


def _oversize(limit: int) -> RequestError:
    return RequestError(
        413,
        f"The request is larger than {limit:,} bytes.",
        hint="Send less at once, or raise serve.body_kb or serve.upload_mb.",
    )


def _limited(receive: Receive, body: _Body) -> Receive:
    """Return a `receive` that raises RequestError for a body that is too large or comes too slowly."""

    async def limited() -> Message:
        if body.whole:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), body.seconds)
        except TimeoutError:
            raise RequestError(408, "The request did not come in time.", hint="Send it more quickly.") from None
        if message["type"] == "http.request":
            body.taken += len(message.get("body", b""))
            body.whole = not message.get("more_body", False)
            if body.taken > body.limit:
                raise _oversize(body.limit)
        else:
            body.whole = True
        return message

    return limited


async def _refuse(error: RequestError, id: str, scope: Scope, receive: Receive, send: Send) -> None:
    body = problem_shape(error.status_code, code=error.code, message=str(error.detail), hint=error.hint, request=id)
    # The body is not read: the connection must not be used for another request.
    headers = {"Connection": "close"}
    await JSONResponse(body, error.status_code, headers=headers, media_type=MEDIA_TYPE)(scope, receive, send)


class _Told:
    """Adds headers to a response on its way out, and says in the log how the request ended."""

    def __init__(self, scope: Scope, id: str) -> None:
        self._scope = scope
        self._id = id
        self._status = 0
        self._since = time.perf_counter()

    @contextmanager
    def within(self, spans: Spans | None) -> Iterator[None]:
        """Enclose the steps of the request in its span, where somebody wants spans."""
        if spans is None:
            yield
            return
        with spans.around_request(self._scope) as end:
            try:
                yield
            finally:
                end(self._served())

    def _served(self) -> access_log.Served:
        return access_log.served(self._scope, self._status, time.perf_counter() - self._since)

    def wrapped(self, send: Send) -> Send:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._status = message["status"]
                message["headers"] = [*message.get("headers", ()), *self._more(message.get("headers", ()))]
            await send(message)

        return sending

    def _more(self, there: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        named = {name.lower() for name, _ in there}
        api = self._scope["path"].startswith(("/api/", "/v1/", "/mcp", "/openapi.json"))
        wanted = {
            **_HEADERS,
            b"content-security-policy": (API_POLICY if api else CONSOLE_POLICY).encode(),
            b"cache-control": b"no-store" if api else b"no-cache",
            b"x-request-id": self._id.encode(),
        }
        return [(name, value) for name, value in wanted.items() if name not in named]

    async def served(self, app: ASGIApp, receive: Receive, send: Send) -> None:
        """Let the application answer. A defect it has answered for is in the log by now, and needs no second line."""
        try:
            await app(self._scope, receive, self.wrapped(send))
        except Exception:
            if not self._status:
                raise

    def log(self) -> None:
        """Count and log the request."""
        served = self._served()
        REQUESTS.take(served)
        access_log.tell(served)
