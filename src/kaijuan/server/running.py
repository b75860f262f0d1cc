"""Listening: uvicorn with limits for slow callers, and an orderly end."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from kaijuan.core.identity import Who, local_user
from kaijuan.engine import Kaijuan
from kaijuan.errors import UsageError
from kaijuan.server.edge import LOOPBACK
from kaijuan.server.gate import Gate
from kaijuan.server.mcp import Bench, make_server
from kaijuan.server.problems import MEDIA_TYPE, problem_shape
from kaijuan.server.service import Service

_BACKLOG = 2048
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_NO_HTTP = "Send HTTP/1.1, with what is not ASCII in an address percent-encoded."
HEAD_SECONDS = 15.0
"""How long a caller may take to send the head of a request."""


class _Protocol(H11Protocol):
    """HTTP/1.1 that hangs up on whoever does not finish the head of a request."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            data = with_ascii_target(data)
        super().data_received(data)
        if not self._is_idle():
            self._enough()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._enough()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP as everything is answered that cannot be done: with a problem document."""
        told = problem_shape(400, code="usage", message=msg, hint=_NO_HTTP, request=uuid.uuid4().hex)
        body = json.dumps(told).encode()
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            (b"x-content-type-options", b"nosniff"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_idle(self) -> bool:
        cycle = self.cycle
        return cycle is None or cycle.response_complete

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _enough(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        self._waiting = None
        if self._is_idle() and not self.transport.is_closing():
            self.transport.close()


def with_ascii_target(data: bytes) -> bytes:
    """Return the beginning of a request with its first line in ASCII: typed as it is (`?q=年假`), an address comes in
    UTF-8, and programs such as curl send it so. Everything behind the first line stays as it is."""
    line, rest = data[: data.find(b"\n") + 1 or len(data)], data[data.find(b"\n") + 1 or len(data) :]
    return data if line.isascii() else _NOT_ASCII.sub(lambda found: b"%%%02X" % found[0][0], line) + rest


class _Server(uvicorn.Server):
    """A server that tells the application when it begins to stop, so that streams end."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._application = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        self._application.state.service.stopping.set()
        super().handle_exit(sig, frame)


async def check_place(engine: Kaijuan, host: str) -> None:
    """Refuse to listen where others can come from while callers need not say who they are; UsageError then."""
    if host not in LOOPBACK and not await Gate(engine, time.time).is_on():
        raise UsageError(
            f"On {host} others could read everything: nobody has to say who they are.",
            hint="Make a key first (kaijuan keys create NAME --role owner), or listen on 127.0.0.1.",
        )


@contextmanager
def listen(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Open the port, and return the socket with the address that people open; UsageError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"{host} port {port} cannot be listened on: {error.strerror or error}.",
                hint="Another program may listen there: choose another with --port.",
            ) from error
        # From here on callers wait for the application instead of being turned away.
        opened.listen(_BACKLOG)
        name = f"[{host}]" if ":" in host else host
        yield opened, f"http://{name}:{opened.getsockname()[1]}"
    finally:
        opened.close()


def run(app: FastAPI, opened: socket.socket) -> None:
    """Serve until a signal ends it: requests under way may end, runs are undone."""
    make_http(app).run(sockets=[opened])


def make_http(app: FastAPI) -> uvicorn.Server:
    """Return the HTTP server of an application, not yet running."""
    settings = app.state.service.engine.config.serve
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=settings.most_connections,
        timeout_graceful_shutdown=int(settings.stop_seconds),
        h11_max_incomplete_event_size=64 * 1024,
    )
    return _Server(config, app)


async def serve_tools(home: Path, kb: str, config: Path | None, tenant: str, who: Who | None) -> None:
    """Serve the tools over standard input and output until it ends. `who` is the one user; None is the local one."""
    engine = Kaijuan(home, kb, config=config, tenant=tenant)
    service = Service(engine=engine)
    try:
        await make_server(Bench(service=service, who=who or local_user(tenant))).run_stdio_async()
    finally:
        await service.close()
