"""Runs of a knowledge base: each takes the lease, repairs what a dead run left, changes the catalog and the index
beyond head, and publishes one snapshot at its end, or leaves no trace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from kaijuan import telemetry
from kaijuan.core.chunk_work import ChunkWork
from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Catalog, KnowledgeBase, Run
from kaijuan.index.embed import blocking_similarity
from kaijuan.index.ports import BlobStore, Embedder, IndexStore
from kaijuan.index.publish import Publication, Reached, publish
from kaijuan.index.rebuild import Plan, Told, drop_others, rebuild
from kaijuan.index.reconcile import ReconcileReport, check, clear_unpublished, reconcile
from kaijuan.index.settings import IndexSettings
from kaijuan.index.write import IndexWriter, Outbox, Skipped, flush, follow, write_versions
from kaijuan.ingest.ports import Chunking, SourceFailure, SourceItem
from kaijuan.jobs.boilerplate import find_boilerplate
from kaijuan.jobs.change import Change, Tell
from kaijuan.jobs.cutting import by_document
from kaijuan.jobs.duplicates import find_duplicates
from kaijuan.jobs.gate import Gate, GateRules, kept_items
from kaijuan.jobs.intake import Intake, take_in
from kaijuan.jobs.lease import held
from kaijuan.jobs.mirror import Seen, gone, is_gone
from kaijuan.jobs.moves import Doubts, arrived, follow_moves
from kaijuan.jobs.notebook import Notebook
from kaijuan.jobs.notes import noted
from kaijuan.jobs.owner import new_owner
from kaijuan.jobs.prepare import Ground, Parsing, Pipeline, Read, facts
from kaijuan.jobs.report import Failed, Progress, RunReport, Stage, Tally
from kaijuan.jobs.salvage import Remains, keep_points, remains
from kaijuan.jobs.settings import JobSettings
from kaijuan.jobs.spaces import Model, ModelOf, Spaces

DIED = "Its process ended before the run did."
__all__ = ["Failed", "Ingest", "Progress", "RunReport", "Stage"]


async def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What a caller of a run that takes documents in said besides what."""

    kind: str
    progress: Tell | None = None
    notebook: Notebook | None = None
    request: str = ""
    expected: Callable[[], int | None] | None = None

    @asynccontextmanager
    async def counting(self, tally: Tally) -> AsyncIterator[None]:
        """Count the documents beside the block."""

        async def count(expected: Callable[[], int | None]) -> None:
            tally.expected = await asyncio.to_thread(expected)

        task = asyncio.create_task(count(self.expected)) if self.expected else None
        try:
            yield
        finally:
            if task is not None:
                task.cancel()
                await asyncio.wait([task])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """The verbs that change a knowledge base. One call is one run; calls on one base exclude each other (BusyError)."""

    catalog: Catalog
    blobs: BlobStore
    indexes: IndexStore
    embedder: Embedder
    chunking: Chunking
    read: Read
    """Turns a source item into a parsed document, or raises DocumentError."""
    parsing: Parsing
    """Fingerprint of all that `read` uses."""
    gate: GateRules = field(default_factory=GateRules)
    clock: Callable[[], float] = time.time
    owner: Callable[[], str] = new_owner
    """Names the holder of the lease, anew for every run."""
    settings: JobSettings = field(default_factory=JobSettings)
    index_settings: IndexSettings = field(default_factory=IndexSettings)
    model_of: ModelOf | None = None
    """Gives the models of spaces; by default there is one, which serves."""
    reached: Reached = lambda _: None
    """Told the name of every step that has just been taken."""

    async def add(
        self,
        kb: KnowledgeBase,
        walk: AsyncIterator[SourceItem | SourceFailure],
        *,
        mirror_scope: str | None = None,
        progress: Tell | None = None,
        notebook: Notebook | None = None,
        request: str = "",
        expected: Callable[[], int | None] | None = None,
    ) -> RunReport:
        """Take in everything the walk offers. What failed is named in the report, its earlier version stays live.

        With `mirror_scope`, documents whose source starts with it and that the walk did not meet are removed, but
        none below a file or folder that could not be read. `notebook` knows what the walk may leave out, `request` is
        kept so that the run can be asked for again, and `expected` counts the documents beside the walk.
        """
        asked = _Asked(kind="add", progress=progress, notebook=notebook, request=request, expected=expected)
        return await self._add(kb, walk, mirror_scope, asked)

    async def _add(
        self,
        kb: KnowledgeBase,
        walk: AsyncIterator[SourceItem | SourceFailure],
        mirror_scope: str | None,
        asked: _Asked,
        first: Callable[[], Awaitable[None]] = _nothing,
    ) -> RunReport:
        tally, seen, notebook = Tally(), Seen(), asked.notebook
        seen.notebook = notebook
        changing = self.changing(kb, asked.kind, tally, asked.progress, asked.request, scope=mirror_scope)
        async with changing as change, asked.counting(tally):
            await first()
            intake = Intake(
                change=change,
                ground=await self.ground(kb.id, change.head, await self.catalog.work(kb.id, change.head)),
                seen=seen,
                settings=self.settings,
                reached=self.reached,
                checkpoint=partial(self._publish_part, change),
                notebook=notebook,
                doubts=None if mirror_scope is None else Doubts(self.catalog, kb.id, change.head, mirror_scope),
            )
            whole = await take_in(intake, walk, mirror_scope or "")
            if mirror_scope is not None and whole:
                await self._clear_gone(change, mirror_scope, seen)
            if not intake.may_publish() and intake.doubts is not None:
                await intake.doubts.close(change)
            await self._find_duplicates(change)
        if notebook is not None:
            await notebook.save(self.catalog, kb.id)
        return change.report

    async def _publish_part(self, change: Change) -> None:
        await self._find_duplicates(change)
        await self._find_boilerplate(change.run)
        await change.go_on(self.clock, self.reached)

    async def _find_duplicates(self, change: Change) -> None:
        if self.settings.find_duplicates and change.tally.staged and change.tally.changed:
            await find_duplicates(self.catalog, self.blobs, change.run, self.clock())
            self.reached("find_duplicates")

    async def _find_boilerplate(self, run: Run) -> None:
        await find_boilerplate(self.catalog, run, self.settings, self.clock())
        self.reached("find_boilerplate")

    async def _clear_gone(self, change: Change, scope: str, seen: Seen) -> None:
        kb = change.run.kb_id
        async for page in gone(self.catalog, kb, change.head, scope, seen):
            await change.retire(page)
            await follow_moves(self.catalog, change, page)
        waiting = await self.catalog.reviews(kb, [ReviewState.PENDING])
        sources = [one.source for one in waiting if is_gone(one.source, scope, seen)]
        await self.catalog.withdraw(kb, sources, now=self.clock())
        self.reached("retire")

    async def approve(
        self, kb: KnowledgeBase, reviews: Sequence[Review], *, by: str, note: str = "", progress: Tell | None = None
    ) -> RunReport:
        """Publish what the gate held back, from the bytes that were kept. Repeatable.

        The decision comes first and stays though the run may fail: this again, or the next `add`, then publishes.
        """
        ids = [review.id for review in reviews]

        async def decide() -> None:
            await self.catalog.decide(ids, ReviewState.APPROVED, by=by, note=note, now=self.clock())
            self.reached("decide")

        asked = _Asked(kind="approve", progress=progress)
        return await self._add(kb, kept_items(self.blobs, reviews), None, asked, decide)

    async def reject(self, kb: KnowledgeBase, reviews: Sequence[Review], *, by: str, note: str = "") -> list[str]:
        """Keep contents out, also when they are offered again; return the sources that were live and are removed."""
        await self.catalog.decide(
            [review.id for review in reviews], ReviewState.REJECTED, by=by, note=note, now=self.clock()
        )
        self.reached("decide")
        live = [await self.catalog.version_of(kb.id, review.source, kb.head) for review in reviews]
        shown = [
            version
            for version, review in zip(live, reviews, strict=True)
            if version is not None and version.content_hash == review.content_hash
        ]
        if shown:
            await self.remove(kb, [version.id for version in shown])
        return [version.source for version in shown]

    async def remove(
        self, kb: KnowledgeBase, versions: Sequence[VersionId], *, progress: Tell | None = None, request: str = ""
    ) -> RunReport:
        """Remove the documents of these versions from the next snapshot; NotFoundError when one is not live."""
        async with self.changing(kb, "remove", Tally(), progress, request) as change:
            found = await self.catalog.versions_by_id(versions)
            for id in dict.fromkeys(versions):
                version = found.get(id)
                if version is None or version.kb_id != kb.id or version.valid_to != OPEN:
                    raise NotFoundError(f"There is no document with the version {id!r} in the newest snapshot.")
            await change.retire([found[id] for id in dict.fromkeys(versions)])
            self.reached("retire")
        return change.report

    async def refresh_access(self, kb: KnowledgeBase, documents: Collection[DocumentId] | None = None) -> int:
        """Write the present readers of documents (all by default) to their points; return how many points.

        Until then the catalog alone keeps revoked readers out, and new readers find nothing.
        """
        async with self.opened(kb) as (writer, _):
            versions = await self.catalog.all_versions(kb.id)
            wanted = [one.id for one in versions if documents is None or one.document_id in documents]
            # One unreadable text must not keep a revocation from all the others.
            written = await write_versions(writer, wanted, lambda _version: None)
            await flush(writer)
            return written

    async def check(self, kb: KnowledgeBase) -> ReconcileReport:
        """Compare index and catalog without changing anything, beside a run if need be."""
        fresh = await self.catalog.kb(kb.tenant, kb.name)
        if not fresh.space:
            return ReconcileReport()
        index = await self.spaces().open_serving(fresh)
        try:
            return await check(self.catalog, index, fresh)
        finally:
            await index.close()

    async def reconcile(self, kb: KnowledgeBase) -> ReconcileReport:
        """Roll back what dead runs left, and mend every difference between index and catalog."""
        async with self.opened(kb) as (writer, _):
            models = await self.catalog.spaces_of_models(kb.id)
            await drop_others(self.indexes, writer.kb, {model.space for model in models})
            report = await reconcile(writer)
            await follow(writer, reconcile)
            return report

    async def rebuild(
        self,
        kb: KnowledgeBase,
        told: Told = lambda _done, _total: None,
        skipped: Skipped = lambda _version: None,
    ) -> KnowledgeBase:
        """Build the index anew for the present model from all versions kept, and switch readers to it.

        Versions whose text cannot be read are left out: `skipped` is told of each, and `doctor` names them.
        """
        async with self.holding(kb) as (fresh, _):
            await self.end_dead_runs(kb)
            model = await self.spaces().serving(fresh)
            plan = Plan(
                kb=fresh,
                store=self.indexes,
                embedder=model.embedder,
                writer_of=lambda index: self.spaces().writer(fresh, index, model),
            )
            name = await rebuild(plan, told, skipped)
            await self.spaces().renewed(kb.id, name, model)
            return replace(fresh, space=name)

    # --- what the verbs share --------------------------------------------------------------------------------

    async def ground(self, kb: KbId, head: int, work: Sequence[ChunkWork]) -> Ground:
        """Return what versions are prepared on; `work` is what people did to chunks, to be done again."""
        return Ground(
            catalog=self.catalog,
            blobs=self.blobs,
            pipeline=self._pipeline(),
            signed=self.settings.find_duplicates,
            gate=await Gate.opened(self.catalog, kb, self.gate, facts, self.clock),
            kb=kb,
            head=head,
            clock=self.clock,
            work=by_document(work),
        )

    def _pipeline(self) -> Pipeline:
        info = self.embedder.info
        return Pipeline(
            read=self.read,
            chunking=self.chunking.given(blocking_similarity(self.embedder, self.index_settings.embed_batch)),
            tokenizer=self.embedder,
            parsing=self.parsing,
            measure=f"{info.name}/{info.max_tokens}",
        )

    def spaces(self) -> Spaces:
        """Return what opens the spaces of a base, each for its own model."""
        only = Model(embedder=self.embedder, settings=self.index_settings)
        return Spaces(
            catalog=self.catalog,
            blobs=self.blobs,
            indexes=self.indexes,
            model_of=self.model_of or (lambda _: only),
            clock=self.clock,
        )

    @asynccontextmanager
    async def holding(self, kb: KnowledgeBase) -> AsyncIterator[tuple[KnowledgeBase, str]]:
        """Hold the lease; give the base as it is now, and the holder's name."""
        owner = self.owner()
        async with held(self.catalog, kb.id, owner, clock=self.clock, seconds=self.settings.lease_seconds):
            self.reached("take_lease")
            # Head may have moved between the caller's look and the lease.
            yield await self.catalog.kb(kb.tenant, kb.name), owner
        self.reached("release_lease")

    async def end_dead_runs(self, kb: KnowledgeBase, reason: str = DIED) -> None:
        """Undo the runs that have not ended. For the holder of the lease."""
        for run in await self.catalog.unfinished_runs(kb.id):
            await self.catalog.roll_back(run, now=self.clock(), reason=reason)
            telemetry.event("run.rolled_back", run=run.id)

    @asynccontextmanager
    async def opened(self, kb: KnowledgeBase) -> AsyncIterator[tuple[IndexWriter, str]]:
        """Hold the lease, open the index, and take away what a dead run left in either store."""
        async with self._space(kb) as (writer, owner):
            await self._clear_dead(writer)
            yield writer, owner

    @asynccontextmanager
    async def _space(self, kb: KnowledgeBase) -> AsyncIterator[tuple[IndexWriter, str]]:
        async with self.holding(kb) as (fresh, owner), self.spaces().opened(fresh) as writer:
            self.reached("open_space")
            yield writer, owner

    async def _clear_dead(self, writer: IndexWriter) -> None:
        await self.end_dead_runs(writer.kb)
        self.reached("end_dead_runs")
        # Asked every time: a run that died between these two steps is no longer in the catalog.
        await clear_unpublished(writer.index, writer.kb.head)
        await follow(writer, lambda side: clear_unpublished(side.index, writer.kb.head))
        self.reached("clear_unpublished")

    async def _salvaged(self, writer: IndexWriter, owner: str, found: Remains) -> IndexWriter:
        """Publish what a dead run stored; return the writer for the base as it then is."""
        tally = Tally()
        tally.begun = found.begun
        outbox = Outbox(writer)
        change = Change(run=found.run, outbox=outbox, owner=owner, tally=tally, progress=None)
        await keep_points(writer, found)
        await outbox.skip_points()
        await follow_moves(self.catalog, change, found.gone)
        if found.scope is not None:
            doubts = Doubts(self.catalog, found.run.kb_id, change.head, found.scope)
            await doubts.look([arrived(one) for one in (await self.catalog.versions_by_id(found.versions)).values()])
            await doubts.close(change)
        if self.settings.find_duplicates:
            await find_duplicates(self.catalog, self.blobs, found.run, self.clock())
        await self._find_boilerplate(found.run)
        self.reached("keep_points")
        publication = Publication(run=found.run, outbox=outbox, owner=owner, clock=self.clock)
        snapshot = (await publish(publication, self.reached)).number
        telemetry.event("run.salvaged", run=found.run.id, documents=len(found.versions), snapshot=snapshot)
        return replace(writer, kb=replace(writer.kb, head=snapshot))

    @asynccontextmanager
    async def changing(
        self,
        kb: KnowledgeBase,
        kind: str,
        tally: Tally,
        progress: Tell | None,
        request: str = "",
        *,
        scope: str | None = None,
    ) -> AsyncIterator[Change]:
        """Make one run of the block: published at its end when it changed anything, without a trace when it failed."""
        started = self.clock()
        async with self._space(kb) as (writer, owner):
            found = await remains(self.catalog, kb.id, kind, request, self.gate.fingerprint)
            if found is not None and found.versions:
                writer = await self._salvaged(writer, owner, found)
                tally.salvaged = len(found.versions)
            await self._clear_dead(writer)
            run = await self.catalog.begin_run(kb.id, kind, now=started)
            change = Change(
                run=run,
                outbox=Outbox(writer),
                owner=owner,
                tally=tally,
                progress=progress,
                request=request,
                rules=self.gate.fingerprint,
                scope=scope,
            )
            tally.begun = change.head if found is None else found.begun
            await change.note_beginning()
            self.reached("begin_run")
            try:
                async with noted(change, self.clock, self.settings.note_seconds):
                    yield change
                    if tally.changed:
                        await self._find_boilerplate(change.run)
                    await change.finish(self.clock, self.reached)
            except BaseException as cause:
                # Whatever stopped it, Ctrl-C too: nothing of it may stay.
                await asyncio.shield(change.undo(self.clock, cause))
                raise
