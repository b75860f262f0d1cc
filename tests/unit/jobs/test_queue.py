"""Working off what waits: done once, tried again where that helps, given up with why, taken over from the dead."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kaijuan.errors import BusyError, DiskFullError, MissingSourceError, StoppedError, UsageError
from kaijuan.index.catalog_queue import Job, JobState
from kaijuan.jobs.queue import Worker
from kaijuan.jobs.report import Failed, RunReport
from kaijuan.jobs.settings import QueueSettings
from kaijuan.testing.workshop import Workshop

SETTINGS = QueueSettings(attempts=3, retry_seconds=100.0, longest_pause_seconds=150.0, claim_seconds=0.15)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path / "home")
    yield shop
    await shop.close()


class Clock:
    """Told what time it is."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A worker whose work is a list of outcomes."""

    def __init__(self, shop: Workshop, *outcomes: Exception | None) -> None:
        self.shop, self.clock, self.asked = shop, Clock(), list[Mapping[str, Any]]()
        self.outcomes = list(outcomes)

    async def worker(self) -> Worker:
        return Worker(
            catalog=self.shop.catalog,
            kb=(await self.shop.kb()).id,
            perform=self.perform,
            settings=SETTINGS,
            clock=self.clock,
        )

    async def perform(self, request: Mapping[str, Any]) -> RunReport:
        self.asked.append(request)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        return await self.shop.add({str(request["name"]): "A rule that holds."})

    async def put(self, *names: str) -> None:
        kb = await self.shop.kb()
        for name in names:
            await self.shop.catalog.enqueue(Job(id=name, kb_id=kb.id, key=name, request=json.dumps({"name": name})))

    async def left(self) -> list[Job]:
        return await self.shop.catalog.jobs((await self.shop.kb()).id)


async def test_all_is_done_in_order_and_nothing_is_left(shop: Workshop) -> None:
    bench = Bench(shop)
    await bench.put("b", "a", "c")
    worker = await bench.worker()
    while (done := await worker.one()) is not None:
        assert done.report is not None
        assert done.report.added == 1
    assert [request["name"] for request in bench.asked] == ["b", "a", "c"]
    assert await bench.left() == []
    assert sorted(await shop.texts(3)) == ["a", "b", "c"]


async def test_pauses_double_and_then_it_is_given_up_with_why(shop: Workshop) -> None:
    bench = Bench(shop, *(DiskFullError("no room") for _ in range(3)))
    await bench.put("a")
    worker = await bench.worker()
    for pause in (100.0, 150.0):
        done = await worker.one()
        assert done is not None
        assert done.again_at == bench.clock.now + pause  # 200 would be longer than the longest
        assert await worker.one() is None
        bench.clock.now += pause
    last = await worker.one()
    assert last is not None
    assert last.again_at is None
    (dead,) = await bench.left()
    assert (dead.state, dead.attempts) == (JobState.DEAD, 3)
    assert "no room" in dead.reason
    bench.clock.now += 1_000_000
    assert await worker.one() is None
    await shop.catalog.revive(dead.id, now=bench.clock.now)
    assert (await worker.one()) is not None
    assert await bench.left() == []


@pytest.mark.parametrize("error", [UsageError("wrong"), MissingSourceError("gone"), StoppedError("cancelled by wang")])
async def test_what_cannot_pass_is_given_up_at_once(shop: Workshop, error: Exception) -> None:
    bench = Bench(shop, error)
    await bench.put("a", "b")
    worker = await bench.worker()
    await worker.one()
    assert (await worker.one()) is not None  # it stands in nobody's way
    (dead,) = await bench.left()
    assert (dead.id, dead.state, dead.attempts) == ("a", JobState.DEAD, 1)


@pytest.mark.parametrize(("code", "left"), [("fetch_failed", 1), ("document_broken", 0)])
async def test_a_source_that_failed_is_tried_again_where_that_can_help(shop: Workshop, code: str, left: int) -> None:
    bench = Bench(shop)

    async def partly(_request: Mapping[str, Any]) -> RunReport:
        report = await shop.add({"a": "A rule that holds."})
        return replace(report, failed=(Failed(source="https://x/", code=code, message="The host is away."),))

    bench.perform = partly  # type: ignore[method-assign, assignment]
    await bench.put("a")
    done = await (await bench.worker()).one()
    assert done is not None
    assert done.report is not None
    assert [job.reason for job in await bench.left()] == ["The host is away."] * left


async def test_a_busy_base_costs_no_attempt(shop: Workshop) -> None:
    bench = Bench(shop, *(BusyError("another run") for _ in range(10)))
    await bench.put("a")
    worker = await bench.worker()
    for _ in range(10):
        done = await worker.one()
        assert done is not None
        assert done.again_at == bench.clock.now + 100.0
        bench.clock.now += 100.0
    assert (await worker.one()) is not None
    assert await bench.left() == []


async def test_a_defect_in_one_job_does_not_end_the_worker(shop: Workshop) -> None:
    bench = Bench(shop, ZeroDivisionError("by zero"))
    await bench.put("a", "b")
    worker = await bench.worker()
    first, second = await worker.one(), await worker.one()
    assert first is not None
    assert first.error == "ZeroDivisionError: by zero"
    assert second is not None
    assert second.report is not None


async def test_who_stops_a_worker_does_not_mean_its_job(shop: Workshop) -> None:
    bench = Bench(shop)
    begun = asyncio.Event()

    async def hang(_request: Mapping[str, Any]) -> RunReport:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.perform = hang  # type: ignore[method-assign, assignment]
    await bench.put("a")
    working = asyncio.create_task((await bench.worker()).one())
    await begun.wait()
    assert [job.state for job in await bench.left()] == [JobState.RUNNING]
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert [job.state for job in await bench.left()] == [JobState.WAITING]


async def test_the_job_of_a_dead_process_is_taken_over_at_once(shop: Workshop) -> None:
    bench = Bench(shop)
    await bench.put("a")
    say = "from kaijuan.jobs.owner import new_owner; print(new_owner())"
    dead = await asyncio.to_thread(subprocess.check_output, [sys.executable, "-c", say], text=True)
    kb = await shop.kb()
    await shop.catalog.claim(kb.id, dead.strip(), now=bench.clock.now, seconds=1_000_000)
    done = await (await bench.worker()).one()
    assert done is not None
    assert done.job.attempts == 2
    assert await bench.left() == []


async def test_who_lost_a_job_stops_working_on_it(shop: Workshop) -> None:
    bench = Bench(shop)
    begun = asyncio.Event()

    async def hang(_request: Mapping[str, Any]) -> RunReport:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.perform = hang  # type: ignore[method-assign, assignment]
    await bench.put("a")
    working = asyncio.create_task((await bench.worker()).one())
    await begun.wait()
    bench.clock.now += 1_000  # the machine slept
    kb = await shop.kb()
    taken = await shop.catalog.claim(kb.id, "another", now=bench.clock.now, seconds=1_000)
    assert taken is not None
    done = await working
    assert done is not None
    assert "not held" in done.error
    assert [job.owner for job in await bench.left()] == ["another"]
