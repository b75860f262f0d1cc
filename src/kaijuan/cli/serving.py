"""The commands `serve` (the service and the console) and `mcp` (tools for one assistant)."""

from __future__ import annotations

from typing import Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import session_of
from kaijuan.cli.session import DEFAULT_KB


def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Where to listen; by default serve.host (127.0.0.1).")
    ] = "",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, metavar="N", help="By default serve.port (8470).")
    ] = None,
) -> None:
    """Serve the HTTP interface and the web console until Ctrl-C."""
    session = session_of(context)
    import asyncio

    from kaijuan.engine import Kaijuan
    from kaijuan.server import access_log
    from kaijuan.server.app import make_app
    from kaijuan.server.running import check_place, listen, run

    async def checked() -> tuple[str, int]:
        async with Kaijuan(session.home, session.kb or DEFAULT_KB, config=session.config) as engine:
            settings = engine.config.serve
            await check_place(engine, host or settings.host)
            return host or settings.host, settings.port if port is None else port

    with listen(*asyncio.run(checked())) as (socket, address):
        engine = Kaijuan(session.home, session.kb or DEFAULT_KB, config=session.config, tenant=session.tenant)
        if engine.config.telemetry.log == "json":
            access_log.start_json()
        app = make_app(engine, host=host)
        screen.err().print(f"Kaijuan is open at {address}/ (Ctrl-C ends it).", soft_wrap=True)
        run(app, socket)


def mcp(context: typer.Context) -> None:
    """Serve tools to an assistant over standard input and output (Model Context Protocol)."""
    session = session_of(context)
    import asyncio

    from kaijuan.server.running import serve_tools

    who = None
    if session.user:
        with session.open() as base:
            who = base.who_is(session.user)
    asyncio.run(serve_tools(session.home, session.kb or DEFAULT_KB, session.config, session.tenant, who))
