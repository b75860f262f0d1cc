"""Requests that may be sent again: a POST with an Idempotency-Key is done once, and its response kept for a day.

Only what changes something is kept: answers and searches may be asked for again, and must see the rights of the moment.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from urllib.parse import unquote

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kaijuan.core.identity import Action
from kaijuan.errors import KaijuanError
from kaijuan.server.problems import RequestError, answer_problem, error_problem, problem_shape, request_id
from kaijuan.server.service import Service

_KEY = re.compile(r"[\x21-\x7e]{1,200}")
_PATH = re.compile(r"/api/v1/kbs/([^/]+)/(.+)")
_ASKED_AGAIN = re.compile(r"(?:ask|search|explain|conversations/.*)")
"""Below a base: what is never kept."""
_SECONDS = 86_400.0
_MOST = 10_000
_MOST_BYTES = 256 * 1024


@dataclass(slots=True)
class _Kept:
    """One request with what became of it."""

    asked: str
    at: float
    actions: frozenset[Action] = frozenset()
    messages: list[Message] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    whole: bool = False


class Idempotent:
    """The layer. Responses are given again only to the same caller, with no fewer rights than before."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = Request(scope, receive) if scope["type"] == "http" else None
        key = request.headers.get("idempotency-key") if request is not None else None
        if request is None or key is None or not _is_kept(request):
            await self._app(scope, receive, send)
            return
        try:
            if not _KEY.fullmatch(key):
                raise RequestError(400, "The idempotency key is none.", hint="Send up to 200 printable characters.")
            await self._serve(request, key, receive, send)
        except (RequestError, KaijuanError) as error:
            response = answer_problem(_problem(error, request_id(request)), path=request.url.path)
            await response(scope, receive, send)

    async def _serve(self, request: Request, key: str, receive: Receive, send: Send) -> None:
        actions = await self._actions(request)
        body = await _body(request)
        asked = hashlib.sha256(b"\0".join([request.url.path.encode(), body.data or b""])).hexdigest()
        name = hashlib.sha256("\0".join([_credential(request), request.url.path, key]).encode()).hexdigest()
        self._forget()
        kept = self._kept.get(name)
        if kept is None:
            kept = self._kept[name] = _Kept(asked=asked, at=self._service.clock(), actions=actions)
            await self._do(request.scope, name, kept, body.receive or receive, send)
            return
        if kept.asked != asked:
            raise RequestError(422, "This key came with another request.", hint="Use a key for one request only.")
        await kept.ended.wait()
        if not kept.whole or not kept.actions <= actions:
            raise RequestError(409, "The first request with this key did not end well.", hint="Use a new key.")
        for message in kept.messages:
            await send(message)

    async def _actions(self, request: Request) -> frozenset[Action]:
        found = _PATH.fullmatch(request.url.path)
        # Known from now on: the route need not ask, nor count, a second time.
        who = await self._service.gate.caller(request)
        return await self._service.gate.actions(who, unquote(found[1])) if found else frozenset()

    async def _do(self, scope: Scope, name: str, kept: _Kept, receive: Receive, send: Send) -> None:
        size = 0

        async def keeping(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            if size <= _MOST_BYTES:
                kept.messages.append(message)
            await send(message)

        try:
            await self._app(scope, receive, keeping)
            good = bool(kept.messages) and kept.messages[0].get("status", 500) < 500
            kept.whole = good and size <= _MOST_BYTES
        finally:
            if not kept.whole:
                # Nothing was done, or nobody knows: the same key may try again.
                self._kept.pop(name, None)
            kept.ended.set()

    def _forget(self) -> None:
        now = self._service.clock()
        while self._kept and (len(self._kept) >= _MOST or now - next(iter(self._kept.values())).at > _SECONDS):
            self._kept.popitem(last=False)


@dataclass(slots=True)
class _Body:
    data: bytes | None = None
    receive: Receive | None = None


async def _body(request: Request) -> _Body:
    """Read a small body, to be compared and given on. An upload is known by its length alone."""
    if request.headers.get("content-type", "").lower().startswith("multipart/"):
        return _Body(data=request.headers.get("content-length", "").encode())
    data = await request.body()
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await request.receive()
        given = True
        return {"type": "http.request", "body": data, "more_body": False}

    return _Body(data=data, receive=again)


def _is_kept(request: Request) -> bool:
    if request.method != "POST" or not request.url.path.startswith("/api/v1/"):
        return False
    found = _PATH.fullmatch(request.url.path)
    return found is None or not _ASKED_AGAIN.fullmatch(found[2])


def _credential(request: Request) -> str:
    return request.headers.get("authorization", "") or request.headers.get("x-api-key", "")


def _problem(error: RequestError | KaijuanError, id: str) -> dict[str, object]:
    if isinstance(error, KaijuanError):
        return error_problem(error, id)
    return problem_shape(error.status_code, code=error.code, message=str(error.detail), hint=error.hint, request=id)
