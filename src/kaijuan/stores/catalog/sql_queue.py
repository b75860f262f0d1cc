"""The page of the catalog port about work that waits over SQLAlchemy: each method one transaction, as in `sql`."""

from __future__ import annotations

from kaijuan.core.ids import KbId
from kaijuan.index.catalog_queue import Job
from kaijuan.stores.catalog import queue
from kaijuan.stores.catalog.upkeep import Upkeep


class QueueOfJobs(Upkeep):
    """Methods of `SqlCatalog`."""

    async def enqueue(self, job: Job) -> Job:
        """Keep a job; asking twice is asking once."""
        return await self._write(queue.enqueue, job, durable=True)

    async def claim(self, kb: KbId, owner: str, *, now: float, seconds: float, id: str = "") -> Job | None:
        """Take the oldest job that may be done now, or the one with this id."""
        return await self._write(queue.claim, kb, owner, now, seconds, id, durable=True)

    async def release_of(self, kb: KbId, owner: str) -> int:
        """Make what a dead owner holds wait again."""
        return await self._write(queue.release_of, kb, owner, durable=True)

    async def extend(self, id: str, owner: str, *, now: float, seconds: float) -> None:
        """Go on holding a job."""
        await self._write(queue.extend, id, owner, now, seconds)

    async def settle(self, id: str, owner: str) -> None:
        """Forget a job that is done."""
        await self._write(queue.settle, id, owner, durable=True)

    async def fail(self, id: str, owner: str, reason: str, *, now: float, again_at: float | None) -> None:
        """Let a job wait for its next attempt, or give it up."""
        await self._write(queue.fail, id, owner, reason, now, again_at, durable=True)

    async def jobs(self, kb: KbId) -> list[Job]:
        """Return all that is not done, in order."""
        return await self._read(queue.jobs, kb)

    async def revive(self, id: str, *, now: float) -> None:
        """Let a job be done now that nobody is at."""
        await self._write(queue.revive, id, now, durable=True)

    async def drop(self, id: str) -> None:
        """Forget a job that nobody is at."""
        await self._write(queue.drop, id, durable=True)
