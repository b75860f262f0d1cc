"""One run under way: what it has staged so far, its end, and its undoing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kaijuan import telemetry
from kaijuan.core.documents import Version
from kaijuan.errors import KaijuanError, StoreError
from kaijuan.index.catalog import ItemState, Run, RunItem
from kaijuan.index.publish import Publication, Reached, publish
from kaijuan.index.reconcile import clear_unpublished
from kaijuan.index.write import Outbox, follow
from kaijuan.jobs.lease import still_held
from kaijuan.jobs.report import Progress, RunReport, Stage, Tally, Waiting

NOTHING = "Nothing had changed."
NOTHING_MORE = "All of it was published already."
Tell = Callable[[Progress], None]
"""Told how far a run is; called often, on the event loop."""


@dataclass(slots=True, kw_only=True)
class Change:
    """A run, who makes it, and what it has come to."""

    run: Run
    outbox: Outbox
    owner: str
    tally: Tally
    progress: Tell | None
    request: str = ""
    """What was asked for, as JSON, by which it can be asked for again."""
    rules: str = ""
    """Fingerprint of what decides whether a document is let in."""
    scope: str | None = None
    """Where what is not met will be removed."""
    stage: Stage = Stage.READING
    _written: int = field(default=0, init=False)
    """Points of the parts that are published."""
    _report: RunReport | None = field(default=None, init=False)

    @property
    def head(self) -> int:
        """The snapshot that readers see meanwhile."""
        return self.run.target - 1

    @property
    def report(self) -> RunReport:
        """What the run did, once it has ended."""
        if self._report is None:
            raise StoreError(f"Run {self.run.id} has no report: it did not end.")
        return self._report

    def state(self, stage: Stage) -> Progress:
        """Return how far the run is."""
        tally = self.tally
        expected = tally.expected if tally.expected is not None and tally.expected >= tally.done else None
        return Progress(
            stage=stage,
            done=tally.done,
            total=expected if stage is Stage.READING else tally.done,
            failed=len(tally.failed),
            source=tally.source,
            chunks=tally.chunks,
            indexed=self._written + self.outbox.written,
        )

    def tell(self, stage: Stage) -> None:
        """Say how far the run is."""
        self.stage = stage
        if self.progress is None:
            return
        self.progress(self.state(stage))

    async def retire(self, versions: Sequence[Version]) -> None:
        """Remove documents from the next snapshot."""
        if not versions:
            return
        catalog = self.outbox.writer.catalog
        await catalog.retire(self.run, [version.id for version in versions])
        lines = [RunItem(source=one.source, state=ItemState.REMOVED, version_id=one.id) for one in versions]
        await catalog.record_items(self.run.id, lines)
        self.tally.note(lines)

    async def finish(self, clock: Callable[[], float], reached: Reached) -> None:
        """Publish what was staged; a run in which nothing changed publishes nothing."""
        writer = self.outbox.writer
        snapshot = self.head
        if self.tally.changed:
            self.tell(Stage.INDEXING)
            snapshot = await self._publish(clock, reached)
        else:
            await writer.catalog.roll_back(
                self.run, now=clock(), reason=NOTHING_MORE if self.tally.snapshots else NOTHING
            )
        sizes = await writer.catalog.counts(self.run.kb_id, snapshot)
        states = self.tally.states
        self._report = RunReport(
            run_id=self.run.id,
            snapshot=snapshot,
            added=states[ItemState.ADDED],
            updated=states[ItemState.UPDATED],
            unchanged=states[ItemState.UNCHANGED],
            removed=states[ItemState.REMOVED],
            failed=tuple(self.tally.failed),
            documents=sizes.documents,
            chunks=sizes.chunks,
            seconds=clock() - self.run.started_at,
            held=tuple(Waiting(source=line.source, review=line.code, reasons=line.message) for line in self.tally.held),
            rejected=states[ItemState.REJECTED],
            removed_sources=tuple(self.tally.removed),
            moved=tuple(self.tally.moved),
            snapshots=tuple(self.tally.snapshots),
            salvaged=self.tally.salvaged,
        )
        self.tell(Stage.DONE)

    async def _publish(self, clock: Callable[[], float], reached: Reached) -> int:
        await self.outbox.write_points()
        self.tell(Stage.PUBLISHING)
        publication = Publication(run=self.run, outbox=self.outbox, owner=self.owner, clock=clock)
        snapshot = (await publish(publication, reached)).number
        self.tally.publish(snapshot)
        return snapshot

    async def go_on(self, clock: Callable[[], float], reached: Reached) -> None:
        """Publish what was staged so far, and go on in a new run: what comes later cannot undo it."""
        catalog = self.outbox.writer.catalog
        await self._publish(clock, reached)
        self._written += self.outbox.written
        self.run = await catalog.begin_run(self.run.kb_id, self.run.kind, now=clock())
        self.outbox = Outbox(self.outbox.writer)
        await self.note_beginning()
        self.tell(Stage.READING)

    async def note_beginning(self) -> None:
        """Keep what was asked for, and since when: whoever goes on after a kill needs both."""
        progress = json.dumps(self.beginning)
        await self.outbox.writer.catalog.note_run(self.run.id, request=self.request, progress=progress)

    @property
    def beginning(self) -> dict[str, object]:
        """What is noted of a run from its beginning on."""
        return {"begun": self.tally.begun, "rules": self.rules, "scope": self.scope}

    async def undo(self, clock: Callable[[], float], cause: BaseException) -> None:
        """Leave nothing of the run but why. What cannot be undone now (no room, say) the next run undoes first."""
        writer = self.outbox.writer
        try:
            if not await still_held(writer.catalog, self.run.kb_id, self.owner):
                return  # Who took the lease over has undone this run, and what lies beyond head is theirs.
            # The catalog first: it refuses when the run was published after all, and then its points must stay.
            await writer.catalog.roll_back(self.run, now=clock(), reason=reason_of(cause))
            await clear_unpublished(writer.index, self.head)
            await follow(writer, lambda side: clear_unpublished(side.index, self.head))
        except StoreError as error:
            telemetry.event("run.undo_failed", run=self.run.id, code=error.code, message=error.message)


def reason_of(cause: BaseException) -> str:
    """Return the sentence that is kept of what ended a run."""
    if isinstance(cause, KaijuanError):
        return str(cause)
    if isinstance(cause, Exception):
        return f"{type(cause).__name__}: {cause}"
    return "It was stopped."  # Ctrl-C, a cancelled task, an interpreter that ends
