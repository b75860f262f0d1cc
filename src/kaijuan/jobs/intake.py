"""Taking sources in: read a few ahead, store in the order of the walk, and let the index follow behind.

Three tasks joined by bounded queues, so that memory stays bounded however much comes in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from kaijuan.core.documents import ChunkLevel
from kaijuan.errors import DocumentError
from kaijuan.index.catalog import ItemState, Run, RunItem
from kaijuan.index.publish import Reached
from kaijuan.index.write import Outbox
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.jobs.lease import unwrapped
from kaijuan.jobs.mirror import Seen
from kaijuan.jobs.prepare import Ground, Prepared, Unchanged, prepare
from kaijuan.jobs.report import Failed, Stage, Tally
from kaijuan.jobs.settings import JobSettings

Outcome = Prepared | Unchanged | Failed
_Ahead = asyncio.Queue["asyncio.Task[Outcome] | Failed | None"]
_WAITING_GROUPS = 2


@dataclass(slots=True, kw_only=True)
class Intake:
    """Everything that taking sources in needs. `groups` tells the index that enough was stored to follow."""

    run: Run
    ground: Ground
    outbox: Outbox
    tally: Tally
    seen: Seen
    settings: JobSettings
    reached: Reached
    tell: Callable[[Stage], None]
    whole: bool = True
    """Whether the walk came to its end."""
    groups: asyncio.Queue[bool] = field(default_factory=lambda: asyncio.Queue(_WAITING_GROUPS))


async def take_in(intake: Intake, walk: AsyncIterator[SourceItem | SourceFailure], place: str) -> bool:
    """Stage everything the walk offers; return whether it came to its end. A failing source never ends the run.

    `place` names the walk in the report should it break off as a whole. Errors of stores and models do end the run.
    """
    ahead: _Ahead = asyncio.Queue(intake.settings.ahead)
    with unwrapped():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_read_ahead(intake, tasks, walk, ahead, place))
            tasks.create_task(_index_behind(intake))
            await _store(intake, ahead)
    return intake.whole


async def _read_ahead(
    intake: Intake,
    tasks: asyncio.TaskGroup,
    walk: AsyncIterator[SourceItem | SourceFailure],
    ahead: _Ahead,
    place: str,
) -> None:
    try:
        async for found in walk:
            if isinstance(found, SourceFailure):
                intake.seen.fail(found.source)
                await ahead.put(Failed(source=found.source, code=found.code, message=found.message))
            elif intake.seen.first(found.source):
                await ahead.put(tasks.create_task(_prepared(intake, found)))
    except DocumentError as error:
        intake.whole = False
        await ahead.put(Failed(source=place, code=error.code, message=str(error)))
    finally:
        close = getattr(walk, "aclose", None)
        if close is not None:
            await close()
    await ahead.put(None)


async def _prepared(intake: Intake, item: SourceItem) -> Outcome:
    try:
        made = await prepare(intake.ground, item)
    except DocumentError as error:
        return Failed(source=item.source, code=error.code, message=str(error))
    intake.reached("store_blobs")
    return made


async def _store(intake: Intake, ahead: _Ahead) -> None:
    backlog = 0
    while (found := await ahead.get()) is not None:
        outcome = found if isinstance(found, Failed) else await found
        backlog += await _settle(intake, outcome)
        intake.tell(Stage.READING)
        if backlog >= intake.settings.backlog_chunks:
            # Waits when the index is far behind: then reading faster would only fill memory.
            await intake.groups.put(True)
            backlog = 0
    await intake.groups.put(False)


async def _settle(intake: Intake, outcome: Outcome) -> int:
    """Stage or note one outcome; return the chunks that the index has to follow."""
    tally = intake.tally
    if isinstance(outcome, Unchanged):
        # Not a line of the report: a nightly run over 100,000 documents would store as many lines saying nothing.
        tally.states[ItemState.UNCHANGED] += 1
        tally.source = outcome.source
        return 0
    if isinstance(outcome, Failed):
        tally.failed.append(outcome)
        item = RunItem(source=outcome.source, state=ItemState.FAILED, code=outcome.code, message=outcome.message)
        await _note(intake, item)
        return 0
    version = outcome.version
    await intake.ground.catalog.stage(intake.run, version, outcome.blocks, outcome.chunks)
    intake.reached("stage")
    state = ItemState.UPDATED if outcome.replaces else ItemState.ADDED
    await _note(intake, RunItem(source=version.source, state=state, version_id=version.id))
    children = sum(chunk.level is ChunkLevel.CHILD for chunk in outcome.chunks)
    tally.chunks += children
    return children


async def _note(intake: Intake, item: RunItem) -> None:
    await intake.ground.catalog.record_item(intake.run.id, item)
    intake.tally.states[item.state] += 1
    intake.tally.source = item.source


async def _index_behind(intake: Intake) -> None:
    while await intake.groups.get():
        await intake.outbox.write_points()
        intake.reached("write_group")
        intake.tell(Stage.READING)
