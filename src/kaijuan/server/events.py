"""Server-sent events: named events with JSON, and a sign of life while nothing happens."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator

from fastapi import Request
from fastapi.responses import StreamingResponse

from kaijuan.errors import KaijuanError
from kaijuan.server.problems import error_problem, problem_shape, request_id
from kaijuan.verbs.shapes import Json

MEDIA_TYPE = "text/event-stream"
BEAT_SECONDS = 10.0
_AHEAD = 32
"""Events that may wait for a slow reader."""
_log = logging.getLogger("kaijuan.server")
Event = tuple[str, Json]


def wants_events(request: Request) -> bool:
    """Say whether the caller asks for a stream."""
    return MEDIA_TYPE in request.headers.get("accept", "").lower()


def streamed(request: Request, events: AsyncIterator[Event]) -> StreamingResponse:
    """Return the response that sends events as they come. A failure on the way is the last event, `error`."""
    return StreamingResponse(
        _framed(_told(events, request_id(request))),
        media_type=MEDIA_TYPE,
        headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"},
    )


def frame(name: str, data: object) -> bytes:
    """Return one event as it is sent. JSON holds no line break, so that one `data` line is enough."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False, allow_nan=False)}\n\n".encode(
        errors="backslashreplace"
    )


async def _told(events: AsyncIterator[Event], id: str) -> AsyncGenerator[bytes, None]:
    try:
        async for name, data in events:
            yield frame(name, data)
    except KaijuanError as error:
        yield frame("error", error_problem(error, id))
    except TimeoutError:
        yield frame("error", problem_shape(503, code="timeout", message="It took too long.", retry=True, request=id))
    except Exception as error:  # noqa: BLE001 the response has begun: a defect too must be told within it
        _log.error("request %s failed", id, exc_info=error)
        yield frame("error", problem_shape(500, code="internal", message="Something went wrong inside.", request=id))


async def _framed(frames: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Pass frames on, with a comment whenever none came for a while: proxies close what is silent.

    One task makes them all, since time limits within belong to the task that set them.
    """
    queue: asyncio.Queue[bytes | None] = asyncio.Queue(_AHEAD)

    async def made() -> None:
        try:
            async for one in frames:
                await queue.put(one)
        finally:
            await frames.aclose()
        await queue.put(None)

    task = asyncio.create_task(made(), name="kaijuan-events")
    try:
        while True:
            try:
                following = await asyncio.wait_for(queue.get(), BEAT_SECONDS)
            except TimeoutError:
                yield b": working\n\n"
                continue
            if following is None:
                return
            yield following
    finally:
        # The reader may have gone in the middle: whatever works for it ends with it.
        task.cancel()
        await asyncio.wait({task})
