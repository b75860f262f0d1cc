"""Holding the lease of a knowledge base while work goes on, and stopping the work when it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from kaijuan import telemetry
from kaijuan.core.ids import KbId
from kaijuan.errors import BusyError
from kaijuan.index.catalog import Catalog
from kaijuan.jobs.owner import described, is_gone

_RENEWALS = 3
"""Within the time of one lease."""


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first error of a task group as itself."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


@asynccontextmanager
async def held(
    catalog: Catalog, kb: KbId, owner: str, *, clock: Callable[[], float], seconds: float
) -> AsyncIterator[None]:
    """Hold the lease during the block, renewed in the background.

    BusyError when another lives that holds it; the lease of a process of this machine that has ended is taken over
    at once. When the lease is lost on the way (the machine slept), the block is cancelled and BusyError raised.
    """
    await _take(catalog, kb, owner, clock, seconds)
    try:
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                heart = group.create_task(_renew(catalog, kb, owner, clock, seconds))
                yield
                heart.cancel()
    finally:
        # Shielded: a cancelled run must not leave others waiting for its lease to expire.
        await asyncio.shield(catalog.release_lease(kb, owner))


async def _take(catalog: Catalog, kb: KbId, owner: str, clock: Callable[[], float], seconds: float) -> None:
    try:
        await catalog.acquire_lease(kb, owner, now=clock(), seconds=seconds)
    except BusyError:
        present = await catalog.lease(kb)
        if present is not None and not is_gone(present.owner):
            raise BusyError(f"This knowledge base is being written by {described(present.owner)}.") from None
        before = None if present is None else present.owner
        await catalog.acquire_lease(kb, owner, now=clock(), seconds=seconds, instead_of=before)
        telemetry.event("lease.taken_over", before=before)


async def _renew(catalog: Catalog, kb: KbId, owner: str, clock: Callable[[], float], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds / _RENEWALS)
        await catalog.acquire_lease(kb, owner, now=clock(), seconds=seconds)


async def still_held(catalog: Catalog, kb: KbId, owner: str) -> bool:
    """Say whether `owner` holds the lease."""
    present = await catalog.lease(kb)
    return present is not None and present.owner == owner
