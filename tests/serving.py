"""A service for tests: a real engine with a small deterministic embedder, asked in the same process or over a port."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.chat import ChatModel
from kaijuan.core.identity import Action, Role
from kaijuan.server.app import make_app
from kaijuan.server.running import listen, make_http
from kaijuan.server.service import Service
from kaijuan.testing.embedders import HashEmbedder

Json = dict[str, Any]
SECONDS = 60


def config_of(**sections: Mapping[str, object]) -> Config:
    """Return a configuration with an index in memory."""
    return Config.model_validate({"stores": {"index": "memory"}, **sections})


@dataclass(slots=True)
class Served:
    """A service under test, and the engine behind it."""

    app: FastAPI
    engine: Kaijuan
    http: httpx.AsyncClient
    keys: dict[str, str] = field(default_factory=dict)
    """Texts of API keys by user."""

    @property
    def service(self) -> Service:
        service: Service = self.app.state.service
        return service

    def of(self, tenant: str, kb: str = "default") -> Kaijuan:
        """Return the engine as whoever runs a tenant has it."""
        from kaijuan.core.identity import local_user

        return self.service.gate.view(local_user(tenant), kb)

    async def user(
        self,
        name: str,
        *,
        role: Role = Role.READER,
        tenant: str = "default",
        groups: Sequence[str] = (),
        scopes: Sequence[Action] = tuple(Action),
        bases: Sequence[str] | None = None,
    ) -> str:
        """Make a user with a key, and return the key's text."""
        engine = self.of(tenant)
        await engine.put_user(name, role=role)
        for group in groups:
            await engine.join_group(group, name)
        self.keys[name] = (await engine.create_key(name, scopes=scopes, bases=bases))[1]
        return self.keys[name]

    async def call(self, method: str, path: str, *, user: str = "", **options: Any) -> httpx.Response:
        """Send a request below /api/v1, as a user or as nobody."""
        headers = dict(options.pop("headers", None) or {})
        if user:
            headers["Authorization"] = f"Bearer {self.keys[user]}"
        whole = path if path.startswith(("/v1", "/mcp", "/api", "/openapi")) else f"/api/v1{path}"
        return await self.http.request(method, whole, headers=headers, **options)

    async def get(self, path: str, **options: Any) -> httpx.Response:
        return await self.call("GET", path, **options)

    async def post(self, path: str, body: object = None, **options: Any) -> httpx.Response:
        return await self.call("POST", path, json=body, **options)

    async def upload(self, kb: str, files: Mapping[str, bytes | str], *, user: str = "", **options: Any) -> Json:
        """Upload files to a base, made where it is missing, and wait for the run; return its ticket."""
        if not user:
            await self.of("default", kb).make_base()
        sent = [("files", (name, data if isinstance(data, bytes) else data.encode())) for name, data in files.items()]
        answer = await self.call("POST", f"/kbs/{kb}/documents", user=user, files=sent, **options)
        assert answer.status_code == 202, answer.text
        return await self.ended(kb, answer.json()["id"])

    async def ended(self, kb: str, id: str) -> Json:
        """Wait until a ticket has ended."""
        ticket = self.service.tickets._tickets[id]
        assert ticket.task is not None
        await asyncio.wait_for(asyncio.shield(ticket.task), SECONDS)
        from kaijuan.server.tickets import ticket_shape

        return ticket_shape(ticket)


@asynccontextmanager
async def in_process(home: Path, config: Config | None = None, chat: ChatModel | None = None) -> AsyncIterator[Served]:
    """Serve a home within the process: no port, no thread, the whole application."""
    engine = Kaijuan(home, config=config or config_of(), embedder=HashEmbedder(), chat=chat)
    app = make_app(engine, host="127.0.0.1")
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with _living(app), httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        yield Served(app=app, engine=engine, http=http)


@asynccontextmanager
async def _living(app: FastAPI) -> AsyncIterator[None]:
    """Let the application live in a task of its own: fixtures begin and end in different ones."""
    started, stop = asyncio.Event(), asyncio.Event()

    async def life() -> None:
        async with app.router.lifespan_context(app):
            started.set()
            await stop.wait()

    task = asyncio.create_task(life())
    await asyncio.wait({task, asyncio.create_task(started.wait())}, return_when=asyncio.FIRST_COMPLETED)
    try:
        yield
    finally:
        stop.set()
        await task


@contextmanager
def on_a_port(home: Path, config: Config | None = None) -> Iterator[tuple[str, FastAPI]]:
    """Serve a home on a port of this machine; yield the address."""
    engine = Kaijuan(home, config=config or config_of(), embedder=HashEmbedder())
    app = make_app(engine, host="127.0.0.1")
    with listen("127.0.0.1", 0) as (opened, address):
        server = make_http(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, name="service-under-test")
        thread.start()
        try:
            yield address, app
        finally:
            app.state.service.stopping.set()
            server.should_exit = True
            thread.join(SECONDS)
            assert not thread.is_alive(), "the service does not end"
