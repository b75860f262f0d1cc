"""Working off what waits: one job after the other, tried again later where that can help, given up with why."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kaijuan import telemetry
from kaijuan.core.ids import KbId
from kaijuan.errors import BusyError, DocumentError, FetchError, KaijuanError, ModelError, StoppedError, StoreError
from kaijuan.index.catalog import Catalog
from kaijuan.index.catalog_queue import Job, JobState
from kaijuan.jobs.lease import unwrapped
from kaijuan.jobs.owner import is_gone, new_owner
from kaijuan.jobs.report import RunReport
from kaijuan.jobs.settings import QueueSettings

Perform = Callable[[Mapping[str, Any]], Awaitable[RunReport]]
_RENEWALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one attempt."""

    job: Job
    report: RunReport | None = None
    error: str = ""
    cause: Exception | None = None
    again_at: float | None = None
    """When it is tried again; None where it is done, or given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """Who works off the jobs of one base. Any number may: each job is one's alone."""

    catalog: Catalog
    kb: KbId
    perform: Perform
    settings: QueueSettings
    clock: Callable[[], float]
    owner: Callable[[], str] = new_owner

    async def one(self, id: str = "") -> Done | None:
        """Do the oldest job that may be done now, or the one with this id; None where there is none."""
        await self._free_the_dead()
        owner = self.owner()
        job = await self.catalog.claim(self.kb, owner, now=self.clock(), seconds=self.settings.claim_seconds, id=id)
        if job is None:
            return None
        try:
            report = await self._held(job, owner)
        except asyncio.CancelledError:
            # Whoever stops a worker does not mean its job.
            await asyncio.shield(self.catalog.release_of(self.kb, owner))
            raise
        except Exception as error:  # noqa: BLE001 - one job must not end the worker; it is told, and tried again
            return await self._failed(job, owner, error)
        if missed := _passing(report):
            return await self._failed(job, owner, FetchError(missed, hint=""), report)
        with suppress(BusyError):  # held by another by now, who finds nothing left to do
            await self.catalog.settle(job.id, owner)
        return Done(job=job, report=report)

    async def _free_the_dead(self) -> None:
        for owner in {job.owner for job in await self.catalog.jobs(self.kb) if job.state is JobState.RUNNING}:
            if is_gone(owner):
                freed = await self.catalog.release_of(self.kb, owner)
                telemetry.event("queue.taken_over", owner=owner, jobs=freed)

    async def _held(self, job: Job, owner: str) -> RunReport:
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                heart = group.create_task(self._extend(job, owner))
                report = await self.perform(json.loads(job.request))
                heart.cancel()
        return report

    async def _extend(self, job: Job, owner: str) -> None:
        seconds = self.settings.claim_seconds
        while True:
            await asyncio.sleep(seconds / _RENEWALS)
            await self.catalog.extend(job.id, owner, now=self.clock(), seconds=seconds)

    async def _failed(self, job: Job, owner: str, error: Exception, report: RunReport | None = None) -> Done:
        now = self.clock()
        reason = str(error) if isinstance(error, KaijuanError) else f"{type(error).__name__}: {error}"
        again_at = self._again_at(job, error, now)
        telemetry.event("queue.failed", job=job.id, attempts=job.attempts, reason=reason, again=again_at is not None)
        with suppress(BusyError):
            await self.catalog.fail(job.id, owner, reason, now=now, again_at=again_at)
        return Done(job=job, report=report, error=reason, cause=error, again_at=again_at)

    def _again_at(self, job: Job, error: Exception, now: float) -> float | None:
        if isinstance(error, BusyError):
            # Another run of the base is under way: no fault of the job, however often it happens.
            return now + self.settings.retry_seconds
        if not _may_pass(error) or job.attempts >= self.settings.attempts:
            return None
        return now + self.pause(job.attempts)

    def pause(self, attempts: int) -> float:
        """Return how long to wait after so many attempts: twice as long each time."""
        return float(min(self.settings.retry_seconds * 2 ** (attempts - 1), self.settings.longest_pause_seconds))


def _passing(report: RunReport) -> str:
    """Return what failed that may not fail the next time (a network, say), in a sentence; "" where nothing did."""
    missed = [failed for failed in report.failed if failed.code in _PASSING]
    more = f" (and {len(missed) - 1} more)" if len(missed) > 1 else ""
    return f"{missed[0].message}{more}" if missed else ""


def _codes(kind: type[KaijuanError]) -> Iterator[str]:
    if kind.retry:
        yield kind.code
    for below in kind.__subclasses__():
        yield from _codes(below)


_PASSING = frozenset(_codes(DocumentError))
"""Codes of failures of single sources for which trying again can help."""


def _may_pass(error: Exception) -> bool:
    """Say whether trying again can help: not what was asked wrongly, and not what somebody stopped."""
    if isinstance(error, StoppedError):
        return False
    return isinstance(error, StoreError | ModelError) or not isinstance(error, KaijuanError) or error.retry
