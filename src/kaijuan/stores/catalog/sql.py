"""The catalog over SQLAlchemy Core: the port's methods, each one transaction on a thread of its own pool."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, Engine

from kaijuan.core.boilerplate import Boilerplate, BoilerplateRuling, Place
from kaijuan.core.chunk_work import ChunkWork, Miss
from kaijuan.core.documents import Block, Chunk, ChunkLevel, Version
from kaijuan.core.duplicates import Duplicate, Ruling
from kaijuan.core.glossary import GlossaryTerm, LearnedAbbreviation, TermChange, TermState
from kaijuan.core.ids import ChunkId, DocumentId, KbId, RunId, VersionId
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.core.snapshots import Snapshot
from kaijuan.core.spans import Span
from kaijuan.errors import ClosedError, NotFoundError, StoreError
from kaijuan.index.catalog import (
    Counts,
    Families,
    Holders,
    KnowledgeBase,
    Lease,
    OutboxEntry,
    Run,
    RunItem,
    Signed,
    Staged,
    Standing,
    StoredTrace,
)
from kaijuan.index.catalog_glossary import LIVE
from kaijuan.stores import migrations
from kaijuan.stores.catalog import (
    access,
    bases,
    boilerplate,
    chunk_works,
    duplicates,
    glossary,
    publishing,
    reading,
    reviews,
    staging,
    traces,
)
from kaijuan.stores.catalog.connection import file_of, open_engine, url_of
from kaijuan.stores.catalog.faults import translated
from kaijuan.stores.catalog.sql_conversations import ConversationsOfReaders
from kaijuan.stores.catalog.sql_models import ModelsOfBases
from kaijuan.stores.catalog.sql_people import PeopleAndAccess
from kaijuan.stores.catalog.sql_queue import QueueOfJobs

_Result = TypeVar("_Result")
_READERS = 4


class SqlCatalog(PeopleAndAccess, ConversationsOfReaders, ModelsOfBases, QueueOfJobs):
    """The catalog in an SQLite file (WAL), or in the database of an URL.

    Made in an instant; the file is opened and migrated at the first call. Several processes may use one file:
    readers never wait, writers wait for each other (BusyError after 15 s). A call that is cancelled still
    happens wholly or not at all.
    """

    def __init__(self, place: str | Path) -> None:
        self._url = url_of(place)
        self._file = file_of(self._url)
        self._engine: Engine | None = None
        self._opening = threading.Lock()
        self._closed = False
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="kaijuan-catalog-read")
        # One writer: SQLite has one write lock, and waiting for it here is fair and cheap.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kaijuan-catalog-write")

    def _open(self) -> Engine:
        if self._engine is not None:
            return self._engine
        with self._opening:
            if self._engine is None:
                self._engine = self._opened()
        return self._engine

    def _opened(self) -> Engine:
        if self._file is not None:
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"The folder of the catalog cannot be made: {error}.") from error
        engine = open_engine(self._url, connections=_READERS + 1)
        try:
            migrations.bring_up_to_date(engine)
        except BaseException:
            # Whatever stopped the opening, its connections must not outlive it.
            engine.dispose()
            raise
        return engine

    async def _submit(self, pool: ThreadPoolExecutor, call: Callable[[], _Result]) -> _Result:
        if self._closed:
            raise ClosedError("The catalog is closed.")
        return await asyncio.get_running_loop().run_in_executor(pool, call)

    async def _read(self, work: Callable[..., _Result], *args: object) -> _Result:
        def call() -> _Result:
            with translated(self._file, NotFoundError), self._open().connect() as connection:
                return work(connection, *args)

        return await self._submit(self._readers, call)

    async def _write(self, work: Callable[..., _Result], *args: object, durable: bool = False) -> _Result:
        def call() -> _Result:
            with translated(self._file), self._open().connect() as plain:
                connection = plain.execution_options(durable=durable)
                with connection.begin():
                    return work(connection, *args)

        return await self._submit(self._writer, call)

    # --- writing -------------------------------------------------------------------------------------------

    async def create_kb(self, tenant: str, name: str, *, now: float) -> KnowledgeBase:
        """Return the knowledge base of that name, made now if missing."""
        return await self._write(bases.create_kb, tenant, name, now, durable=True)

    async def set_space(self, kb: KbId, space: str) -> None:
        """Record the index space that serves readers from now on."""
        await self._write(bases.set_space, kb, space, durable=True)

    async def acquire_lease(
        self, kb: KbId, owner: str, *, now: float, seconds: float, instead_of: str | None = None
    ) -> None:
        """Become the one publisher, or renew being it."""
        await self._write(publishing.acquire_lease, kb, owner, now, seconds, instead_of)

    async def release_lease(self, kb: KbId, owner: str) -> None:
        """Let others publish."""
        await self._write(publishing.release_lease, kb, owner)

    async def begin_run(self, kb: KbId, kind: str, *, now: float) -> Run:
        """Start the one run of a base."""
        # Durable before the index is touched: else a power cut could leave points of a run nobody knows.
        return await self._write(staging.begin_run, kb, kind, now, durable=True)

    async def unfinished_runs(self, kb: KbId) -> list[Run]:
        """Return the runs that were neither published nor rolled back."""
        return await self._read(staging.unfinished_runs, kb)

    async def stage(self, run: Run, staged: Sequence[Staged]) -> None:
        """Insert versions with everything in them, and retire what they replace."""
        await self._write(staging.stage, run, staged)

    async def retire(self, run: Run, versions: Sequence[VersionId]) -> None:
        """Close versions at the run's target."""
        await self._write(staging.retire, run, versions)

    async def record_items(self, run: RunId, items: Sequence[RunItem]) -> None:
        """Add lines to the run's report."""
        await self._write(staging.record_items, run, items)

    async def pending(self, kb: KbId, *, limit: int, after: int = 0) -> list[OutboxEntry]:
        """Return entries not yet marked as applied, in order."""
        return await self._read(staging.pending, kb, limit, after)

    async def mark_applied(self, sequences: Sequence[int]) -> None:
        """Drop the entries: the index has followed."""
        await self._write(staging.mark_applied, sequences)

    async def record_duplicates(self, run: Run, found: Sequence[Duplicate]) -> None:
        """Keep what was decided about versions that the run stages."""
        await self._write(duplicates.record, run, found)

    async def rule_duplicates(self, versions: Sequence[VersionId], ruling: Ruling) -> None:
        """Let a person's word stand over the rule's."""
        await self._write(duplicates.decide, versions, ruling, durable=True)

    async def record_boilerplate(self, run: Run, wanted: Sequence[Boilerplate]) -> None:
        """Let these and no other decisions about paragraphs be in force from the run's target on."""
        await self._write(staging.record_boilerplate, run, wanted)

    async def rule_boilerplate(
        self, kb: KbId, snapshot: int, digests: Sequence[str], ruling: BoilerplateRuling
    ) -> None:
        """Let a person's word stand over the rule's."""
        await self._write(boilerplate.decide, kb, snapshot, digests, ruling, durable=True)

    async def record_work(self, run: Run, work: Sequence[ChunkWork]) -> None:
        """Insert what somebody did to chunks."""
        await self._write(staging.record_work, run, work)

    async def end_work(self, run: Run, ids: Collection[str], *, by: str, now: float) -> None:
        """Put work out of force."""
        await self._write(staging.end_work, run, ids, by, now)

    async def hold(self, review: Review) -> None:
        """Let a content wait for a decision."""
        await self._write(reviews.hold, review)

    async def decide(self, ids: Sequence[str], state: ReviewState, *, by: str, note: str, now: float) -> None:
        """Approve or reject."""
        await self._write(reviews.decide, ids, state, by, note, now, durable=True)

    async def withdraw(self, kb: KbId, sources: Sequence[str], *, now: float) -> None:
        """Supersede what waits of sources that have gone."""
        await self._write(reviews.withdraw, kb, sources, now)

    async def publish(self, run: Run, *, owner: str, now: float) -> Snapshot:
        """Move readers to the run's target."""
        return await self._write(publishing.publish, run, owner, now, durable=True)

    async def roll_back(self, run: Run, *, now: float, reason: str = "") -> None:
        """Take back all that the run staged."""
        await self._write(staging.roll_back, run, now, reason, durable=True)

    async def put_terms(self, kb: KbId, terms: Sequence[str], changes: Sequence[TermChange]) -> None:
        """Enter changes of the glossary."""
        await self._write(glossary.put_terms, kb, terms, changes, durable=True)

    async def save_trace(self, trace: StoredTrace, *, keep: int) -> None:
        """Store a trace and drop the oldest."""
        await self._write(traces.save_trace, trace, keep)

    # --- reading -------------------------------------------------------------------------------------------

    async def kb(self, tenant: str, name: str) -> KnowledgeBase:
        """Return the base of that name."""
        return await self._read(bases.kb, tenant, name)

    async def kbs(self, tenant: str) -> list[KnowledgeBase]:
        """Return the bases of a tenant by name."""
        return await self._read(bases.kbs, tenant)

    async def lease(self, kb: KbId) -> Lease | None:
        """Return the lease as it stands."""
        return await self._read(publishing.lease, kb)

    async def snapshots(self, kb: KbId) -> list[Snapshot]:
        """Return the snapshots, oldest first."""
        return await self._read(publishing.snapshots, kb)

    async def snapshot_at(self, kb: KbId, time: float) -> int:
        """Return the snapshot that was head at a time."""
        return await self._read(publishing.snapshot_at, kb, time)

    async def counts(self, kb: KbId, snapshot: int) -> Counts:
        """Return the sizes at a snapshot."""
        return await self._read(publishing.counts, kb, snapshot)

    async def version_of(self, kb: KbId, source: str, snapshot: int) -> Version | None:
        """Return the version of a source that the snapshot shows."""
        return await self._read(reading.version_of, kb, source, snapshot)

    async def standing(self, documents: Collection[DocumentId], snapshot: int) -> dict[DocumentId, Standing]:
        """Return how each document stands at a snapshot."""
        return await self._read(reading.standing, documents, snapshot)

    async def version(self, version: VersionId) -> Version:
        """Return a version."""
        return await self._read(reading.version, version)

    async def versions(
        self, kb: KbId, snapshot: int, *, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Version]:
        """Return visible versions by source."""
        return await self._read(reading.versions, kb, snapshot, after, limit, prefix)

    async def find(self, kb: KbId, snapshot: int, word: str) -> list[Version]:
        """Return visible versions that the word may mean."""
        return await self._read(reading.find, kb, snapshot, word)

    async def all_versions(self, kb: KbId) -> list[Version]:
        """Return every version kept, by source and number."""
        return await self._read(reading.all_versions, kb)

    async def history(self, document: DocumentId) -> list[Version]:
        """Return the published versions of a document, oldest first."""
        return await self._read(reading.history, document)

    async def chunks(self, ids: Collection[ChunkId]) -> dict[ChunkId, Chunk]:
        """Return the chunks that exist, in the order asked for."""
        return await self._read(reading.chunks, ids)

    async def chunks_meant(self, ids: Collection[str], snapshot: int) -> dict[str, Chunk]:
        """Return the chunks that ids of chunks or pieces mean, in the order asked for."""
        return await self._read(reading.chunks_meant, ids, snapshot)

    async def families(self, ids: Collection[ChunkId]) -> Families:
        """Return the chunks that exist with their parents and versions."""
        return await self._read(reading.families, ids)

    async def chunks_of(self, version: VersionId, level: ChunkLevel | None = None) -> list[Chunk]:
        """Return the chunks of a version in order of span."""
        return await self._read(reading.chunks_of, version, level)

    async def chunks_of_each(
        self, versions: Collection[VersionId], *levels: ChunkLevel
    ) -> dict[VersionId, list[Chunk]]:
        """Return the chunks of each version in order of span."""
        return await self._read(reading.chunks_of_each, versions, levels)

    async def child_counts(self, versions: Collection[VersionId]) -> dict[VersionId, int]:
        """Return how many children each version has."""
        return await self._read(reading.child_counts, versions)

    async def chunk_ids(self, kb: KbId) -> AsyncIterator[tuple[ChunkId, int, int]]:
        """Yield (id, valid_from, valid_to) of every chunk with a point in order of id, all as of one moment."""
        with ExitStack() as open_things:

            def begin() -> Iterator[list[tuple[ChunkId, int, int]]]:
                connection: Connection = open_things.enter_context(self._open().connect())
                return reading.chunk_ids(connection, kb)

            source = await self._submit(self._readers, lambda: self._guarded(begin))
            while batch := await self._submit(self._readers, lambda: self._guarded(lambda: next(source, None))):
                for row in batch:
                    yield row

    def _guarded(self, call: Callable[[], _Result]) -> _Result:
        with translated(self._file):
            return call()

    async def blocks_of(self, version: VersionId, within: Sequence[Span] | None = None) -> list[Block]:
        """Return the blocks of a version in order."""
        return await self._read(reading.blocks_of, version, within)

    async def blocks_within(self, places: Mapping[VersionId, Sequence[Span]]) -> dict[VersionId, list[Block]]:
        """Return the blocks of several versions that share characters with the spans given for each."""
        return await self._read(reading.blocks_within, places)

    async def versions_by_id(self, ids: Collection[VersionId]) -> dict[VersionId, Version]:
        """Return the versions that exist."""
        return await self._read(reading.versions_by_id, ids)

    async def authorise(
        self, kb: KbId, snapshot: int, ids: Collection[ChunkId], principals: Collection[str]
    ) -> set[ChunkId]:
        """Return those chunks that are visible and that a principal may read now."""
        return await self._read(access.authorise, kb, snapshot, ids, principals)

    async def admit(
        self, kb: KbId, snapshot: int, ids: Sequence[ChunkId], principals: Collection[str], *, first: int
    ) -> tuple[set[ChunkId], Families]:
        """Authorise, and return the families of the first few that are allowed, in one call."""

        def work(connection: Connection) -> tuple[set[ChunkId], Families]:
            allowed = access.authorise(connection, kb, snapshot, ids, principals)
            return allowed, reading.as_read(connection, kb, snapshot, [id for id in ids if id in allowed][:first])

        return await self._read(work)

    async def signatures(self, run: Run) -> list[Signed]:
        """Return versions with a signature that the run's snapshot will show, oldest first."""
        return await self._read(duplicates.signatures, run)

    async def duplicates(self, kb: KbId, snapshot: int) -> list[Duplicate]:
        """Return decisions of which both versions are visible at the snapshot."""
        return await self._read(duplicates.duplicates, kb, snapshot)

    async def ruled_duplicates(self, kb: KbId) -> list[Duplicate]:
        """Return decisions that people took."""
        return await self._read(duplicates.ruled, kb)

    async def holders(self, run: Run, least: int) -> Holders:
        """Return the paragraphs that so many documents hold."""
        return await self._read(boilerplate.holders, run, least)

    async def boilerplate(self, kb: KbId, snapshot: int) -> list[Boilerplate]:
        """Return the decisions about paragraphs that the snapshot is read with."""
        return await self._read(boilerplate.in_force, kb, snapshot)

    async def boilerplate_places(self, kb: KbId, snapshot: int, digests: Collection[str]) -> dict[str, list[Place]]:
        """Return where paragraphs stand in the documents of a snapshot."""
        return await self._read(boilerplate.places, kb, snapshot, digests)

    async def work(self, kb: KbId, snapshot: int, document: DocumentId | None = None) -> list[ChunkWork]:
        """Return the work in force at a snapshot, oldest first."""
        return await self._read(chunk_works.in_force, kb, snapshot, document)

    async def work_history(self, kb: KbId, snapshot: int, document: DocumentId | None = None) -> list[ChunkWork]:
        """Return all work up to a snapshot, oldest first."""
        return await self._read(chunk_works.history, kb, snapshot, document)

    async def misses(self, versions: Collection[VersionId]) -> Mapping[VersionId, Sequence[Miss]]:
        """Return what each version could not take over."""
        return await self._read(chunk_works.misses, versions)

    async def reviews(self, kb: KbId, states: Collection[ReviewState]) -> list[Review]:
        """Return reviews in these states, oldest first."""
        return await self._read(reviews.reviews, kb, states)

    async def glossary(self, kb: KbId, states: Collection[TermState] = LIVE) -> list[GlossaryTerm]:
        """Return the terms in these states, by term."""
        return await self._read(glossary.glossary, kb, states)

    async def abbreviations(
        self, kb: KbId, snapshot: int, shorts: Collection[str], heads: Collection[str], principals: Collection[str]
    ) -> list[LearnedAbbreviation]:
        """Return what visible documents that a principal may read explain."""
        return await self._read(glossary.abbreviations, kb, snapshot, shorts, heads, principals)

    async def headings(self, kb: KbId, snapshot: int, principals: Collection[str]) -> list[tuple[str, str]]:
        """Return (source, heading) of visible documents that a principal may read."""
        return await self._read(glossary.headings, kb, snapshot, principals)

    async def items(self, run: RunId) -> list[RunItem]:
        """Return the lines of a run's report."""
        return await self._read(reading.items, run)

    async def runs(self, kb: KbId, *, limit: int = 20) -> list[Run]:
        """Return the newest runs, newest first."""
        return await self._read(reading.runs, kb, limit)

    async def trace(self, id: str) -> StoredTrace:
        """Return a saved trace."""
        return await self._read(reading.trace, id)

    async def traces(self, kb: KbId, *, limit: int) -> list[StoredTrace]:
        """Return the newest traces of a base."""
        return await self._read(traces.traces, kb, limit)

    async def close(self) -> None:
        """Wait for calls under way and close the file. Twice is fine; use after close raises ClosedError."""
        self._closed = True
        await asyncio.to_thread(self._shut)

    def _shut(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        if self._engine is not None:
            self._engine.dispose()
