"""The application: routes under /api/v1, the console's files, and the layers around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.responses import RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.types import ASGIApp

from kaijuan import __version__, telemetry
from kaijuan.engine import Kaijuan
from kaijuan.server import openai_compat, problems
from kaijuan.server.edge import LOOPBACK, Edge, EdgeLimits
from kaijuan.server.idempotency import Idempotent
from kaijuan.server.mcp import Mounted
from kaijuan.server.routes import (
    asking,
    bases,
    chunks,
    conversing,
    curating,
    documents,
    evaluations,
    history,
    models,
    people,
    runs,
    samples,
    settings,
    uploads,
    wording,
)
from kaijuan.server.service import Service
from kaijuan.server.spans import Spans, spans_of
from kaijuan.server.uploading import go_on

API = "/api/v1"
CONSOLE = Path(__file__).parent / "console"
ROUTERS: tuple[APIRouter, ...] = (
    bases.router,
    documents.router,
    uploads.router,
    asking.router,
    runs.router,
    curating.router,
    people.router,
    wording.router,
    chunks.router,
    conversing.router,
    history.router,
    models.router,
    samples.router,
    settings.router,
    evaluations.router,
)


def make_app(engine: Kaijuan, *, host: str = "") -> FastAPI:
    """Return the application over an engine, which it closes at its end. `host` is the address it will listen on."""
    service = Service(engine=engine)
    mcp = Mounted(service)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        # What a killed service had promised to take in is taken in now; what came in pieces may go on.
        await go_on(service)
        if app.spans is not None:
            telemetry.tell_spans(app.spans)
        try:
            async with mcp.server.session_manager.run():
                yield
        finally:
            await service.close()
            if app.spans is not None:
                telemetry.tell_spans(None)
                await asyncio.to_thread(app.spans.close)

    app = _Application(
        title="Kaijuan",
        version=__version__,
        summary="Answers from your own documents, every sentence cited to the exact words.",
        docs_url=None,
        redoc_url=None,
        lifespan=living,
    )
    app.state.service = service
    problems.install(app)
    for router in ROUTERS:
        app.include_router(router, prefix=API)
    app.include_router(openai_compat.router, prefix="/v1")
    app.router.routes.append(mcp.route)
    if CONSOLE.is_dir():
        _serve_console(app)
    app.limits = _limits(engine, host)
    app.spans = spans_of(engine.config.telemetry)
    return app


class _Application(FastAPI):
    """The application with the edge around all of it, what it answers to its own failures included."""

    limits: EdgeLimits
    spans: Spans | None = None

    def build_middleware_stack(self) -> ASGIApp:
        """Return all layers, the outermost first asked."""
        return Edge(Idempotent(super().build_middleware_stack(), self.state.service), self.limits, self.spans)


def _limits(engine: Kaijuan, host: str) -> EdgeLimits:
    settings = engine.config.serve
    host = host or settings.host
    # Off this machine a key is asked for, which no other page's script has; names are checked where they are told.
    known = {*settings.hosts, host, *LOOPBACK} if settings.hosts or host in LOOPBACK else set()
    return EdgeLimits(
        hosts=frozenset() if "*" in settings.hosts else frozenset(name.lower() for name in known),
        body_bytes=settings.body_kb * 1024,
        upload_bytes=settings.upload_mb * 2**20,
        body_seconds=settings.body_seconds,
    )


def _serve_console(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def home() -> RedirectResponse:
        return RedirectResponse("/console/")

    app.mount("/console", StaticFiles(directory=CONSOLE, html=True), name="console")
