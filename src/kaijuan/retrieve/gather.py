"""Run all routes at once; one that fails or is late is dropped and named, never fatal unless all are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kaijuan import telemetry
from kaijuan.core.filters import Filter
from kaijuan.errors import FilterError, KaijuanError
from kaijuan.index.ports import Hit
from kaijuan.retrieve.ports import Query, Route
from kaijuan.retrieve.results import RouteReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What one route brought, and how it fared."""

    report: RouteReport
    hits: tuple[Hit, ...]


async def gather(routes: Sequence[Route], query: Query, k: int, where: Filter, *, seconds: float) -> list[Gathered]:
    """Ask every route at the same time and return their answers in the order of `routes`.

    A FilterError is the caller's and is raised. When every route failed, the first route's error is raised, since an
    empty result would look like "nothing found".
    """
    answers = await asyncio.gather(*(_ask(route, query, k, where, seconds) for route in routes))
    errors = [error for _, error in answers if error is not None]
    for error in errors:
        if isinstance(error, FilterError):
            raise error
    if errors and len(errors) == len(routes):
        raise errors[0]
    return [gathered for gathered, _ in answers]


async def _ask(
    route: Route, query: Query, k: int, where: Filter, seconds: float
) -> tuple[Gathered, KaijuanError | None]:
    start = time.perf_counter()
    hits: list[Hit] = []
    state, error = "ok", None
    try:
        async with asyncio.timeout(seconds):
            hits = await route.find(query, k, where)
    except TimeoutError:
        state, error = "timeout", KaijuanError(f"The {route.name} route did not answer within {seconds:g} s.")
    except KaijuanError as failure:
        state, error = f"failed: {failure.code}", failure
    if error is not None:
        telemetry.count(f"route.dropped.{route.name}")
        telemetry.event("route dropped", route=route.name, state=state)
    milliseconds = round((time.perf_counter() - start) * 1000, 3)
    report = RouteReport(name=route.name, state=state, found=len(hits), milliseconds=milliseconds)
    return Gathered(report=report, hits=tuple(hits)), error
