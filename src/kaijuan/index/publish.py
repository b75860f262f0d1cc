"""Publishing the next snapshot N = head + 1, in the order that design section 4 rests on.

1. new points are written with `valid_from` = N;  2. those they replace get `valid_to` = N;  3. one transaction of the
catalog sets head = N. Readers at head see nothing of 1 and 2 until 3, whenever the process dies; what it leaves is
found and taken away by the next run or `reconcile`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from kaijuan.core.snapshots import Snapshot
from kaijuan.index.catalog import Run
from kaijuan.index.write import Outbox, flush

Reached = Callable[[str], None]
"""Told the name of every step that has just been taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One run that is staged and about to be published by `owner`, who holds the lease."""

    run: Run
    outbox: Outbox
    owner: str
    clock: Callable[[], float]


async def write_points(publication: Publication) -> None:
    """Step 1: write what was not written while the run was still staging."""
    await publication.outbox.write_points()


async def close_replaced(publication: Publication) -> None:
    """Step 2."""
    await publication.outbox.close_replaced()


async def flush_index(publication: Publication) -> None:
    """Make 1 and 2 survive a power cut before anybody is told that they are done."""
    await flush(publication.outbox.writer)


async def settle_outbox(publication: Publication) -> None:
    """Tell the catalog that the index has followed."""
    await publication.outbox.settle()


async def move_head(publication: Publication) -> None:
    """Step 3."""
    catalog = publication.outbox.writer.catalog
    await catalog.publish(publication.run, owner=publication.owner, now=publication.clock())


STEPS: tuple[Callable[[Publication], Awaitable[None]], ...] = (
    write_points,
    close_replaced,
    flush_index,
    settle_outbox,
    move_head,
)


async def publish(publication: Publication, reached: Reached) -> Snapshot:
    """Take all steps; return the snapshot that readers now see."""
    for step in STEPS:
        # Who stops a run between two steps is heard before the next is begun: one that runs in a thread is not stopped.
        await asyncio.sleep(0)
        await step(publication)
        reached(step.__name__)
    made = await publication.outbox.writer.catalog.snapshots(publication.run.kb_id)
    return made[-1]
