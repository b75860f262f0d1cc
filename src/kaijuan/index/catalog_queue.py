"""The catalog port, its page of work that waits: asked for once, done when somebody has time, given up with why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kaijuan.core.ids import KbId


class JobState(StrEnum):
    """Where a job stands. One that is done has no row any more: its run is what is left of it."""

    WAITING = "waiting"
    RUNNING = "running"
    DEAD = "dead"
    """Given up; it waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something that is to be done to a base."""

    id: str
    kb_id: KbId
    key: str
    """What it is about. Jobs of one key are done one after the other, in the order in which they were asked for."""
    request: str
    """What is asked for, as JSON in the form of a run's request."""
    state: JobState = JobState.WAITING
    attempts: int = 0
    not_before: float = 0.0
    owner: str = ""
    expires_at: float = 0.0
    reason: str = ""
    """Why the last attempt failed."""
    created_at: float = 0.0
    changed_at: float = 0.0


class JobQueue(Protocol):
    """Jobs of all bases. Each method is one transaction that survives a power cut."""

    async def enqueue(self, job: Job) -> Job:
        """Keep a job. One of the same key and request that still waits is returned instead: asking twice is asking
        once. One that is given up is taken up again."""

    async def claim(self, kb: KbId, owner: str, *, now: float, seconds: float, id: str = "") -> Job | None:
        """Take the oldest job that may be done now (or the one with this id, if it may), None where there is none. Of
        one key none overtakes an earlier one that waits or is under way; what was given up is in nobody's way. Claims
        that have expired are free again."""

    async def release_of(self, kb: KbId, owner: str) -> int:
        """Make what an owner holds wait again, whom the caller knows to be dead; return how many."""

    async def extend(self, id: str, owner: str, *, now: float, seconds: float) -> None:
        """Go on holding a job; BusyError when somebody else has it by now."""

    async def settle(self, id: str, owner: str) -> None:
        """The job is done. BusyError when somebody else has it by now: a late word changes nothing."""

    async def fail(self, id: str, owner: str, reason: str, *, now: float, again_at: float | None) -> None:
        """The attempt failed: once more at a time, or given up. BusyError as in `settle`."""

    async def jobs(self, kb: KbId) -> list[Job]:
        """All that is not done, in order."""

    async def revive(self, id: str, *, now: float) -> None:
        """Let a job that was given up, or that waits for its time, be done now; NotFoundError when there is none."""

    async def drop(self, id: str) -> None:
        """Forget a job that nobody is at; NotFoundError when there is none."""
