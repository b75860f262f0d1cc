"""Taking sources in: look groups of them up, read a few ahead, store groups in the order of the walk, and let the
index follow behind.

Three tasks joined by bounded queues, so that memory stays bounded however much comes in. What small documents would
cost one by one (a look-up, a transaction, a change of threads) is paid once a group.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from kaijuan.core.documents import INDEXED
from kaijuan.errors import DocumentError
from kaijuan.index.catalog import ItemState, RunItem
from kaijuan.index.publish import Reached
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.jobs.change import Change
from kaijuan.jobs.gate import Held, hold_back
from kaijuan.jobs.lease import unwrapped
from kaijuan.jobs.mirror import Seen
from kaijuan.jobs.moves import Arrival, Doubts, arrived
from kaijuan.jobs.notebook import Notebook
from kaijuan.jobs.prepare import Changed, Ground, Parsed, Prepared, Unchanged, finish, look_up, read
from kaijuan.jobs.report import Failed, Stage, Tally
from kaijuan.jobs.settings import JobSettings

Found = Parsed | Unchanged | Held | Failed
_Looked = Changed | Unchanged | Held | Failed
"""A source that was looked up, and read where it had changed."""
_Ahead = asyncio.Queue["asyncio.Task[list[Found]] | None"]
_WAITING_GROUPS = 2
_NOT_LIVE = frozenset({ItemState.FAILED, ItemState.HELD, ItemState.REJECTED})
_GROUP_BYTES = 256 * 1024
_RECORD_BYTES = 64 * 1024
_PATIENCE = 0.5
"""Seconds for which what is read already waits for more, to be stored together."""


@dataclass(slots=True, kw_only=True)
class Intake:
    """Everything that taking sources in needs. `groups` tells the index that enough was stored to follow."""

    change: Change
    ground: Ground
    seen: Seen
    settings: JobSettings
    reached: Reached
    checkpoint: Callable[[], Awaitable[None]]
    """Publishes what was stored so far; the rest goes on in a new run."""
    notebook: Notebook | None = None
    doubts: Doubts | None = None
    """Of a mirroring run: closed documents that may have moved to where they would be open."""
    whole: bool = True
    """Whether the walk came to its end."""
    groups: asyncio.Queue[bool] = field(default_factory=lambda: asyncio.Queue(_WAITING_GROUPS))
    indexing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the index follows: it must not while a part is published."""

    @property
    def tally(self) -> Tally:
        """The counts of the run."""
        return self.change.tally

    def tell(self, stage: Stage) -> None:
        """Say how far the run is."""
        self.change.tell(stage)

    def may_publish(self) -> bool:
        """Say whether nothing that was stored may turn out to be a closed document that moved."""
        return self.doubts is None or self.doubts.settle(self.seen.stayed)

    def count_skipped(self) -> None:
        """Count what was met without being read."""
        if self.notebook is not None:
            self.tally.states[ItemState.UNCHANGED] += self.notebook.unchanged()


async def take_in(intake: Intake, walk: AsyncIterator[SourceItem | SourceFailure], place: str) -> bool:
    """Stage everything the walk offers; return whether it came to its end. A failing source never ends the run.

    `place` names the walk in the report should it break off as a whole. Errors of stores and models do end the run.
    """
    ahead: _Ahead = asyncio.Queue(intake.settings.ahead)
    with unwrapped():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_read_ahead(intake, tasks, walk, ahead, place))
            tasks.create_task(_index_behind(intake))
            await _store(intake, tasks, ahead)
    return intake.whole


# --- from the walk to what was read -----------------------------------------------------------------------------


async def _read_ahead(
    intake: Intake,
    tasks: asyncio.TaskGroup,
    walk: AsyncIterator[SourceItem | SourceFailure],
    ahead: _Ahead,
    place: str,
) -> None:
    # Closed here and not when somebody collects it: the walk's thread must end before the run does.
    async with aclosing(_offered(intake, walk, place)) as offered, aclosing(_grouped(intake, offered)) as groups:
        async for group in groups:
            items = [found for found in group if isinstance(found, SourceItem)]
            looked = iter(await look_up(intake.ground, items))
            outcomes = [next(looked) if isinstance(found, SourceItem) else found for found in group]
            for some in _together(outcomes):
                await ahead.put(tasks.create_task(_read(intake, some)))
    await ahead.put(None)


async def _grouped(
    intake: Intake, offered: AsyncIterator[SourceItem | Failed]
) -> AsyncGenerator[list[SourceItem | Failed], None]:
    """Yield what the walk offers in groups: so many documents or bytes, or what came in half a second."""
    clock = asyncio.get_running_loop().time
    group: list[SourceItem | Failed] = []
    held, since = 0, 0.0
    async for found in offered:
        since = since if group else clock()
        group.append(found)
        held += found.size if isinstance(found, SourceItem) else 0
        if len(group) >= intake.settings.group_documents or held >= _GROUP_BYTES or clock() > since + _PATIENCE:
            yield group
            group, held = [], 0
    if group:
        yield group


async def _offered(
    intake: Intake, walk: AsyncIterator[SourceItem | SourceFailure], place: str
) -> AsyncGenerator[SourceItem | Failed, None]:
    try:
        async for found in walk:
            if isinstance(found, SourceFailure):
                intake.seen.fail(found.source)
                if intake.notebook is not None:
                    intake.notebook.fail(found.source)
                yield Failed(source=found.source, code=found.code, message=found.message)
            elif intake.seen.first(found.source):
                yield found
    except DocumentError as error:
        intake.whole = False
        yield Failed(source=place, code=error.code, message=str(error))
    finally:
        close = getattr(walk, "aclose", None)
        if close is not None:
            await close()


def _together(outcomes: Iterable[_Looked]) -> Iterator[list[_Looked]]:
    """Yield what is read as one: short records and what needs no reading. A file, which may hold anything, is alone."""
    some: list[_Looked] = []
    for outcome in outcomes:
        if isinstance(outcome, Changed) and not _is_short_record(outcome.item):
            if some:
                yield some
            yield [outcome]
            some = []
        else:
            some.append(outcome)
    if some:
        yield some


def _is_short_record(item: SourceItem) -> bool:
    # Its text is no longer than its bytes, so that many may be read before any is stored.
    return item.kind == "record" and item.size <= _RECORD_BYTES


async def _read(intake: Intake, some: Sequence[_Looked]) -> list[Found]:
    made = iter(await read(intake.ground, [outcome for outcome in some if isinstance(outcome, Changed)]))
    return [next(made) if isinstance(outcome, Changed) else outcome for outcome in some]


# --- from what was read to the catalog ----------------------------------------------------------------------------


async def _store(intake: Intake, tasks: asyncio.TaskGroup, ahead: _Ahead) -> None:
    backlog = 0
    clock = asyncio.get_running_loop().time
    since = clock()
    async with aclosing(_collected(intake, tasks, ahead)) as groups:
        async for group in groups:
            backlog += await _settle(intake, group)
            intake.count_skipped()
            intake.tell(Stage.READING)
            if _is_due(intake, since, clock()) and intake.may_publish():
                async with intake.indexing:
                    await intake.checkpoint()
                backlog, since = 0, clock()
            if backlog >= intake.settings.backlog_chunks:
                # Waits when the index is far behind: then reading faster would only fill memory.
                await intake.groups.put(True)
                backlog = 0
    intake.count_skipped()
    await intake.groups.put(False)


def _is_due(intake: Intake, since: float, now: float) -> bool:
    """Say whether it is time to publish what was stored so far."""
    settings, tally = intake.settings, intake.tally
    if not tally.changed:
        return False
    late = bool(settings.publish_seconds) and now - since >= settings.publish_seconds
    return late or (bool(settings.publish_documents) and tally.unpublished >= settings.publish_documents)


async def _collected(intake: Intake, tasks: asyncio.TaskGroup, ahead: _Ahead) -> AsyncGenerator[list[Found], None]:
    """Yield what was read in groups to be stored; what waits for a slow document is not held back for long."""
    group: list[Found] = []
    held = 0
    while True:
        following = tasks.create_task(_next(ahead))
        if group and not (await asyncio.wait([following], timeout=_PATIENCE))[0]:
            yield group
            group, held = [], 0
        found = await following
        if found is None:
            break
        for outcome in found:
            group.append(outcome)
            held += outcome.weight if isinstance(outcome, Parsed) else 0
            if len(group) >= intake.settings.group_documents or held >= _GROUP_BYTES:
                yield group
                group, held = [], 0
    if group:
        yield group


async def _next(ahead: _Ahead) -> list[Found] | None:
    task = await ahead.get()
    return None if task is None else await task


async def _settle(intake: Intake, group: Sequence[Found]) -> int:
    """Stage or note a group of outcomes; return the chunks that the index has to follow."""
    made = iter(await finish(intake.ground, [found for found in group if isinstance(found, Parsed)]))
    outcomes = [next(made) if isinstance(found, Parsed) else found for found in group]
    prepared = [outcome for outcome in outcomes if isinstance(outcome, Prepared)]
    if prepared:
        intake.reached("store_blobs")
        await intake.ground.catalog.stage(intake.change.run, [one.staged for one in prepared])
        intake.reached("stage")
    await _watch_moves(intake, outcomes)
    held = [outcome for outcome in outcomes if isinstance(outcome, Held)]
    lines = [_line(outcome) for outcome in outcomes]
    if intake.notebook is not None:
        for line in lines:
            intake.notebook.count(line.source, good=line.state not in _NOT_LIVE)
    lines += await _hold_back(intake, held) if held else []
    # Unchanged is not a line of the report: a nightly run over 100,000 documents would store as many saying nothing.
    kept = [line for line in lines if line.state is not ItemState.UNCHANGED]
    if kept:
        await intake.ground.catalog.record_items(intake.change.run.id, kept)
    chunks = sum(chunk.level in INDEXED for one in prepared for chunk in one.staged.chunks)
    intake.tally.held += [line for line in lines if line.state is ItemState.HELD]
    intake.tally.failed += [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    intake.tally.chunks += chunks
    intake.tally.note(lines)
    return chunks


async def _watch_moves(intake: Intake, outcomes: Iterable[Prepared | Unchanged | Held | Failed]) -> None:
    if intake.doubts is None:
        return
    came: list[Arrival] = []
    for outcome in outcomes:
        if isinstance(outcome, Prepared):
            came.append(arrived(outcome.staged.version))
        elif isinstance(outcome, Held):
            # Somebody may let it in, long after its old place is forgotten.
            came.append(Arrival(source=outcome.item.source, content=outcome.review.content_hash))
        elif isinstance(outcome, Unchanged):
            intake.seen.stay(outcome.source)
    await intake.doubts.look(came)


async def _hold_back(intake: Intake, held: Sequence[Held]) -> list[RunItem]:
    """Keep what is held; return the lines of what leaves the live snapshot: it was rejected after it was published."""
    catalog = intake.ground.catalog
    await hold_back(catalog, intake.ground.blobs, held)
    intake.reached("hold")
    gone = [one.live for one in held if one.live is not None]
    if gone:
        await catalog.retire(intake.change.run, [version.id for version in gone])
    return [RunItem(source=one.source, state=ItemState.REMOVED, version_id=one.id) for one in gone]


def _line(outcome: Prepared | Unchanged | Held | Failed) -> RunItem:
    if isinstance(outcome, Held):
        return outcome.line
    if isinstance(outcome, Failed):
        return RunItem(source=outcome.source, state=ItemState.FAILED, code=outcome.code, message=outcome.message)
    if isinstance(outcome, Unchanged):
        return RunItem(source=outcome.source, state=ItemState.UNCHANGED)
    version = outcome.staged.version
    state = ItemState.UPDATED if outcome.replaces else ItemState.ADDED
    return RunItem(source=version.source, state=state, version_id=version.id)


async def _index_behind(intake: Intake) -> None:
    while await intake.groups.get():
        async with intake.indexing:
            await intake.change.outbox.write_points()
        intake.reached("write_group")
        intake.tell(Stage.READING)
