"""Work that goes on after its request was answered: uploads, syncs, rebuilds. Each has a ticket that can be watched."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

from kaijuan.errors import BusyError, KaijuanError, NotFoundError, StoppedError
from kaijuan.jobs.report import Progress, RunReport
from kaijuan.verbs.shapes import Json, error_shape, fields_of, run_shape
from kaijuan.verbs.wiring import ProgressCallback

_log = logging.getLogger("kaijuan.server")
KEPT = 1000
"""Ended tickets that can still be asked for."""
_PATIENCE = 600.0
"""Seconds for which another process's run on the same base is waited for."""
_PAUSE = 1.0

Report = object
"""A dataclass that says what was done."""
Forget = Callable[[], Awaitable[None]]
Work = Callable[[ProgressCallback], Awaitable[Report | None]]


class PostponedError(Exception):
    """A piece of work cannot be done yet: it is tried again after `seconds`, and others go first meanwhile."""

    def __init__(self, seconds: float, reason: KaijuanError | None = None) -> None:
        super().__init__(str(reason or ""))
        self.seconds = seconds
        self.reason = reason


class TicketState(StrEnum):
    """Where the work stands."""

    WAITING = "waiting"
    """Another run of the same base goes first."""
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({TicketState.DONE, TicketState.FAILED, TicketState.CANCELLED})


@dataclass(slots=True, kw_only=True)
class Ticket:
    """One piece of work. `revision` grows with every change."""

    id: str
    tenant: str
    kb: str
    by: str
    kind: str
    created_at: float
    state: TicketState = TicketState.WAITING
    started_at: float | None = None
    finished_at: float | None = None
    progress: Progress | None = None
    report: Report | None = None
    error: KaijuanError | None = None
    revision: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    forget: Forget | None = None


def ticket_shape(ticket: Ticket) -> Json:
    """Return a ticket as JSON."""
    report = ticket.report
    return {
        "id": ticket.id,
        "kb": ticket.kb,
        "kind": ticket.kind,
        "by": ticket.by,
        "state": ticket.state.value,
        "created_at": ticket.created_at,
        "started_at": ticket.started_at,
        "finished_at": ticket.finished_at,
        "progress": fields_of(ticket.progress) if ticket.progress else None,
        "report": run_shape(report) if isinstance(report, RunReport) else fields_of(report) if report else None,
        **(error_shape(ticket.error) if ticket.error else {"error": None}),
    }


class Tickets:
    """All work of this process. One piece at a time for each base, in order of coming."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._tickets: OrderedDict[str, Ticket] = OrderedDict()
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    def lock(self, tenant: str, kb: str) -> asyncio.Lock:
        """Return the lock that everything that changes a base holds within this process."""
        return self._locks.setdefault((tenant, kb), asyncio.Lock())

    def begin(
        self, tenant: str, kb: str, *, by: str, kind: str, work: Work, id: str = "", forget: Forget | None = None
    ) -> Ticket:
        """Start a piece of work and return its ticket at once.

        `id` is that of a job which outlives this process; `forget` drops it when somebody stops the work.
        """
        ticket = Ticket(
            id=id or uuid.uuid4().hex, tenant=tenant, kb=kb, by=by, kind=kind, created_at=self._clock(), forget=forget
        )
        self._tickets[ticket.id] = ticket
        ticket.task = asyncio.create_task(self._see_to(ticket, work), name=f"kaijuan-{kind}-{ticket.id}")
        self._forget()
        return ticket

    def find(self, tenant: str, kb: str, id: str) -> Ticket:
        """Return a ticket of a base; NotFoundError for those of others too."""
        ticket = self._tickets.get(id)
        if ticket is None or (ticket.tenant, ticket.kb) != (tenant, kb):
            raise NotFoundError(f"There is no run {id!r}.", hint="Ended runs are forgotten after a while.")
        return ticket

    def of(self, tenant: str, kb: str) -> list[Ticket]:
        """Return the tickets of a base, newest first."""
        return [one for one in reversed(self._tickets.values()) if (one.tenant, one.kb) == (tenant, kb)]

    def by_state(self) -> dict[str, int]:
        """Return how many there are in each state."""
        found = dict.fromkeys((state.value for state in TicketState), 0)
        for one in self._tickets.values():
            found[one.state.value] += 1
        return found

    async def watch(self, ticket: Ticket) -> AsyncIterator[Json]:
        """Yield the ticket now and at every change until it has ended; changes in quick succession come as one."""
        seen = -1
        while True:
            ticket.changed.clear()
            if ticket.revision != seen:
                seen = ticket.revision
                yield ticket_shape(ticket)
            if ticket.state in ENDED and ticket.revision == seen:
                return
            if ticket.revision == seen:
                with suppress(TimeoutError):
                    # Another watcher may clear the event first: looked at again soon in any case.
                    await asyncio.wait_for(ticket.changed.wait(), 1.0)

    async def cancel(self, ticket: Ticket) -> None:
        """Stop a piece of work and wait until what it staged is undone."""
        if ticket.task is not None and not ticket.task.done():
            ticket.task.cancel()
            await asyncio.wait([ticket.task])
            if ticket.forget is not None:
                await ticket.forget()

    async def close(self) -> None:
        """Stop all work and wait until what it staged is undone."""
        tasks = [one.task for one in self._tickets.values() if one.task is not None and not one.task.done()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _see_to(self, ticket: Ticket, work: Work) -> None:
        def told(progress: Progress) -> None:
            ticket.progress = progress
            _change(ticket)

        try:
            pause = await self._attempt(ticket, lambda: work(told))
            while pause is not None:
                await asyncio.sleep(pause)
                pause = await self._attempt(ticket, lambda: work(told))
            ticket.state, ticket.error = TicketState.DONE, None
        except asyncio.CancelledError:
            ticket.state = TicketState.CANCELLED
            ticket.error = StoppedError("The run was stopped; what it had staged is undone.")
        except KaijuanError as error:
            ticket.state, ticket.error = TicketState.FAILED, error
        except Exception as error:  # noqa: BLE001 a defect ends this piece of work, and must be seen on its ticket
            _log.error("run %s failed", ticket.id, exc_info=error)
            ticket.state = TicketState.FAILED
            ticket.error = KaijuanError("Something went wrong inside.", hint="The log of the service tells more.")
        finally:
            ticket.finished_at = self._clock()
            _change(ticket)

    async def _attempt(self, ticket: Ticket, work: Callable[[], Awaitable[Report | None]]) -> float | None:
        """Try a piece of work; return the seconds after which to try again, None when it is done."""
        async with self.lock(ticket.tenant, ticket.kb):
            ticket.state, ticket.started_at = TicketState.RUNNING, ticket.started_at or self._clock()
            _change(ticket)
            try:
                ticket.report = await _patient(work)
            except PostponedError as postponed:
                ticket.state, ticket.error = TicketState.WAITING, postponed.reason
                _change(ticket)
                return postponed.seconds
        return None

    def _forget(self) -> None:
        ended = [one.id for one in self._tickets.values() if one.state in ENDED]
        for id in ended[: max(0, len(self._tickets) - KEPT)]:
            del self._tickets[id]


def _change(ticket: Ticket) -> None:
    ticket.revision += 1
    ticket.changed.set()


async def _patient(attempt: Callable[[], Awaitable[Report | None]]) -> Report | None:
    """Try again while another process writes to the base."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _PATIENCE
    while True:
        try:
            return await attempt()
        except BusyError:
            if loop.time() >= until:
                raise
        await asyncio.sleep(_PAUSE)
