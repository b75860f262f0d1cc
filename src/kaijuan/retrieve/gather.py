"""Run all routes at once; one that fails or is late is dropped and named, never fatal unless all are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kaijuan import telemetry
from kaijuan.core.filters import Filter
from kaijuan.errors import FilterError, KaijuanError
from kaijuan.index.ports import Hit
from kaijuan.retrieve.ports import Query, Route
from kaijuan.retrieve.results import RouteReport
from kaijuan.retrieve.routes.breakers import Breakers
from kaijuan.retrieve.routes.joining import is_side

LATE = "timeout"
"""State of a route that missed its deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What one route brought, and how it fared."""

    report: RouteReport
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How one route is asked, where it differs from the others."""

    k: int = 0
    """Chunks at most; 0 for as many as the others."""
    seconds: float = 0.0
    """Deadline; 0 for that of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What holds for single routes, and when one that fails is left out."""

    plans: Mapping[str, Plan] = field(default_factory=dict)
    breakers: Breakers = field(default_factory=Breakers)
    failures: int = 3
    pause: float = 30.0


async def gather(
    routes: Sequence[Route], query: Query, k: int, where: Filter, *, seconds: float, rules: Rules | None = None
) -> list[Gathered]:
    """Ask every route at the same time and return their answers in the order of `routes`.

    One that failed several times in a row is left out for a while and named, but never all main routes. A FilterError
    is the caller's and is raised. When no main route answered, what failed first is raised, whatever side routes found:
    an empty result would look like "nothing found", and a few chunks with one identifier like all there is. Only where
    all that happened is that main routes were late does what side routes found stand.
    """
    rules = rules or Rules()
    out = _left_out_now(routes, rules.breakers)
    answers = await asyncio.gather(
        *(
            _left_out(route, rules)
            if route.name in out
            else _ask(route, query, *_terms(rules.plans.get(route.name), k, seconds), where)
            for route in routes
        )
    )
    for answer, error in answers:
        if answer.report.name not in out and not isinstance(error, FilterError):
            rules.breakers.record(answer.report.name, ok=error is None, after=rules.failures, seconds=rules.pause)
    errors = [(answer, error) for answer, error in answers if error is not None]
    for _, error in errors:
        if isinstance(error, FilterError):
            raise error
    if errors and not any(_answered(answer) for answer, _ in answers):
        failed = [error for answer, error in errors if answer.report.state != LATE and not is_side(answer.report.name)]
        if failed or not any(answer.hits for answer, _ in answers):
            raise failed[0] if failed else errors[0][1]
    return [gathered for gathered, _ in answers]


def _left_out_now(routes: Sequence[Route], breakers: Breakers) -> set[str]:
    names = [route.name for route in routes]
    main = {name for name in names if not is_side(name)}
    out = breakers.shut_out(names)
    return out - main if main <= out else out


def _answered(answer: Gathered) -> bool:
    """Say whether a main route was asked and answered: that nothing is there is then known."""
    return answer.report.state == "ok" and not is_side(answer.report.name)


def _terms(plan: Plan | None, k: int, seconds: float) -> tuple[int, float]:
    return (plan.k or k, plan.seconds or seconds) if plan else (k, seconds)


async def _left_out(route: Route, rules: Rules) -> tuple[Gathered, KaijuanError | None]:
    state = f"left out: failed {rules.breakers.failures(route.name)} times in a row"
    return Gathered(report=RouteReport(name=route.name, state=state, found=0, milliseconds=0.0), hits=()), None


async def _ask(
    route: Route, query: Query, k: int, seconds: float, where: Filter
) -> tuple[Gathered, KaijuanError | None]:
    start = time.perf_counter()
    hits: list[Hit] = []
    state, error = "ok", None
    try:
        async with asyncio.timeout(seconds):
            hits = await route.find(query, k, where)
    except TimeoutError:
        state, error = LATE, KaijuanError(f"The {route.name} route did not answer within {seconds:g} s.")
    except KaijuanError as failure:
        state, error = f"failed: {failure.code}", failure
    if error is not None:
        telemetry.count(f"route.dropped.{route.name}")
        telemetry.event("route dropped", route=route.name, state=state)
    milliseconds = round((time.perf_counter() - start) * 1000, 3)
    telemetry.ended(
        f"route {route.name}", milliseconds / 1000, {"kaijuan.found": len(hits)}, "" if error is None else state
    )
    report = RouteReport(name=route.name, state=state, found=len(hits), milliseconds=milliseconds)
    return Gathered(report=report, hits=tuple(hits)), error
