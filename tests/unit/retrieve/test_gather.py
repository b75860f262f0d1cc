"""A route that fails or is late is dropped and named; the caller's own errors are raised."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from kaijuan.core.filters import EVERYTHING, Filter
from kaijuan.core.ids import ChunkId
from kaijuan.errors import BusyError, FilterError, KaijuanError, ModelError
from kaijuan.index.ports import Hit
from kaijuan.retrieve.gather import Rules, gather
from kaijuan.retrieve.ports import Query

QUERY = Query(text="q", normalised="q", terms=("q",), weights={1: 1.0})
HIT = Hit(ChunkId("a" * 32), 1.0)


class Route:
    def __init__(self, name: str, behaviour: Callable[[], Awaitable[list[Hit]]]) -> None:
        self.name = name
        self._behaviour = behaviour

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        return await self._behaviour()


async def good() -> list[Hit]:
    return [HIT]


async def hangs() -> list[Hit]:
    await asyncio.Event().wait()
    return []


def failing(error: KaijuanError) -> Callable[[], Awaitable[list[Hit]]]:
    async def fail() -> list[Hit]:
        raise error

    return fail


async def test_a_late_route_is_dropped_and_named() -> None:
    found = await gather([Route("dense", hangs), Route("lexical", good)], QUERY, 5, EVERYTHING, seconds=0.05)
    assert [(item.report.name, item.report.state, item.hits) for item in found] == [
        ("dense", "timeout", ()),
        ("lexical", "ok", (HIT,)),
    ]


async def test_a_failing_route_is_dropped_and_named() -> None:
    routes = [Route("dense", failing(ModelError("no model"))), Route("lexical", good)]
    found = await gather(routes, QUERY, 5, EVERYTHING, seconds=5)
    assert [item.report.state for item in found] == ["failed: model_failed", "ok"]


async def test_when_all_fail_the_first_error_is_raised() -> None:
    routes = [Route("dense", failing(ModelError("no model"))), Route("lexical", hangs)]
    with pytest.raises(ModelError, match="no model"):
        await gather(routes, QUERY, 5, EVERYTHING, seconds=0.05)


async def test_what_a_side_route_found_is_no_answer_when_the_main_routes_failed() -> None:
    broken = failing(BusyError("the index is not there"))
    routes = [Route("dense", broken), Route("lexical", broken), Route("exact", good)]
    with pytest.raises(BusyError):
        await gather(routes, QUERY, 5, EVERYTHING, seconds=5)


async def test_what_a_side_route_found_stands_when_the_main_routes_are_late() -> None:
    routes = [Route("dense", hangs), Route("lexical", hangs), Route("exact", good)]
    found = await gather(routes, QUERY, 5, EVERYTHING, seconds=0.05)
    assert [item.report.state for item in found] == ["timeout", "timeout", "ok"]


async def test_a_failure_counts_though_another_main_route_was_late() -> None:
    routes = [Route("dense", hangs), Route("lexical", failing(BusyError("gone"))), Route("exact", good)]
    with pytest.raises(BusyError):
        await gather(routes, QUERY, 5, EVERYTHING, seconds=0.05)


async def test_main_routes_are_never_all_left_out() -> None:
    async def silent() -> list[Hit]:
        return []

    broken = failing(BusyError("the index is not there"))
    routes = [Route("dense", broken), Route("lexical", broken), Route("exact", silent)]
    rules = Rules(failures=2)
    for _ in range(5):
        with pytest.raises(BusyError):
            await gather(routes, QUERY, 5, EVERYTHING, seconds=5, rules=rules)


async def test_a_wrong_filter_is_the_callers() -> None:
    with pytest.raises(FilterError):
        await gather(
            [Route("dense", failing(FilterError("no"))), Route("lexical", good)], QUERY, 5, EVERYTHING, seconds=5
        )


async def test_a_fault_in_our_own_code_is_not_hidden() -> None:
    async def broken() -> list[Hit]:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        await gather([Route("dense", broken), Route("lexical", good)], QUERY, 5, EVERYTHING, seconds=5)
