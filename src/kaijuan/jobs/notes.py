"""What a run writes down while it goes on, for those who look from another process, and their word to stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict

from kaijuan.errors import StoppedError, StoreError
from kaijuan.jobs.change import Change
from kaijuan.jobs.lease import unwrapped
from kaijuan.jobs.report import Stage


@asynccontextmanager
async def noted(change: Change, clock: Callable[[], float], seconds: float) -> AsyncIterator[None]:
    """Write down now and then how far a run is during the block; StoppedError when somebody cancelled it."""
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            task = group.create_task(_note(change, clock, seconds))
            try:
                yield
            finally:
                task.cancel()
    # Once more at its end, which the run has reached.
    with suppress(StoreError):
        await change.outbox.writer.catalog.note_run(change.run.id, progress=_said(change, clock, Stage.DONE))


async def _note(change: Change, clock: Callable[[], float], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        catalog = change.outbox.writer.catalog
        try:
            said = _said(change, clock, change.stage)
            by = await catalog.note_run(change.run.id, progress=said)
        except StoreError:
            continue  # no room, say: the run itself will say so
        if by:
            raise StoppedError(f"The run was cancelled by {by}.", hint="`kaijuan runs resume` goes on with it.")


def _said(change: Change, clock: Callable[[], float], stage: Stage) -> str:
    told = asdict(change.state(stage))
    counts = {state.value: count for state, count in change.tally.states.items() if count}
    more = {"at": clock(), "counts": counts, "snapshots": change.tally.snapshots}
    return json.dumps({**told, **more, **change.beginning})
