"""The catalog port: the one truth that every index is derived from (design section 3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kaijuan.core.boilerplate import Boilerplate, BoilerplateRuling, Place
from kaijuan.core.chunk_work import Miss
from kaijuan.core.documents import Block, Chunk, ChunkLevel, Version
from kaijuan.core.duplicates import Duplicate, Ruling
from kaijuan.core.glossary import Abbreviation
from kaijuan.core.ids import ChunkId, DocumentId, KbId, RunId, VersionId
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.core.snapshots import Snapshot
from kaijuan.core.spans import Span
from kaijuan.index.access import AccessReader, AccessWriter
from kaijuan.index.catalog_chunks import ChunkWorkReader, ChunkWorkWriter
from kaijuan.index.catalog_conversations import Conversations
from kaijuan.index.catalog_glossary import GlossaryReader, GlossaryWriter
from kaijuan.index.catalog_queue import JobQueue
from kaijuan.index.history import CatalogHistory
from kaijuan.index.identity import People
from kaijuan.index.model_spaces import ModelSpaces


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeBase:
    """A named collection of documents of one tenant, with its own sequence of snapshots."""

    id: KbId
    tenant: str
    name: str
    head: int
    policy_version: int
    space: str
    """Name of the index space that serves readers; "" before the first one is built."""


class RunState(StrEnum):
    """Where an ingestion run stands."""

    RUNNING = "running"
    PUBLISHED = "published"
    ROLLED_BACK = "rolled_back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt to publish snapshot `target`."""

    id: RunId
    kb_id: KbId
    kind: str
    target: int
    state: RunState
    started_at: float
    finished_at: float | None = None
    reason: str = ""
    """Why it was rolled back, a sentence for people; empty for other runs."""


class ItemState(StrEnum):
    """What became of one source in a run."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    FAILED = "failed"
    HELD = "held"
    """The gate keeps it back until somebody decides; an earlier version stays live."""
    REJECTED = "rejected"
    """Somebody decided to keep this content out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunItem:
    """One line of a run's report."""

    source: str
    state: ItemState
    code: str = ""
    message: str = ""
    version_id: VersionId | None = None


class IndexChange(StrEnum):
    """What an outbox entry asks of the index."""

    UPSERT = "upsert"
    CLOSE = "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """A change of the catalog that the index has yet to follow; applied in order of `sequence`."""

    sequence: int
    kb_id: KbId
    version_id: VersionId
    change: IndexChange
    snapshot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Sizes at one snapshot."""

    documents: int = 0
    chunks: int = 0
    """Searchable ones, that is children."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrace:
    """A saved trace of one request, as JSON."""

    id: str
    kb_id: KbId
    created_at: float
    body: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who may publish to a knowledge base, and until when unless renewed (seconds since 1970, UTC)."""

    owner: str
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """Chunks with their parents and versions, each by its id."""

    chunks: Mapping[ChunkId, Chunk]
    parents: Mapping[ChunkId, Chunk]
    versions: Mapping[VersionId, Version]
    groups: Mapping[VersionId, VersionId] = field(default_factory=dict)
    """Versions that are merged with an earlier one, and the first of that group."""
    furniture: Mapping[VersionId, tuple[Span, ...]] = field(default_factory=dict)
    """Where paragraphs stand that many documents share and that count for less; of versions that hold one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A version that others may be compared with."""

    version: VersionId
    signature: bytes
    fresh: bool
    """Whether the run under way staged it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holders:
    """Paragraphs that several documents hold, and what tells whether those are copies of one another."""

    total: int
    """Documents of the base."""
    versions: Mapping[str, Sequence[VersionId]]
    """Those that hold each paragraph, by its digest."""
    signatures: Mapping[VersionId, bytes]
    """Of each of those; empty where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A version with everything in it, to be staged."""

    version: Version
    blocks: Sequence[Block]
    chunks: Sequence[Chunk]
    abbreviations: Sequence[Abbreviation] = ()
    """Short names that its text explains."""
    misses: Sequence[Miss] = ()
    """What people did to earlier versions and this one could not take over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a document stands at a snapshot."""

    last_number: int = 0
    """Highest version number ever given to it; 0 when there was none."""
    live: Version | None = None
    """The version that the snapshot shows."""


class CatalogWriter(AccessWriter, GlossaryWriter, ChunkWorkWriter, Protocol):
    """Everything that changes the catalog. Each method is one transaction.

    Staging: rows with `valid_from` = target, and `valid_to` = target on what they replace, are invisible to
    readers at head until `publish`; `roll_back` removes the former and opens the latter again.
    """

    async def create_kb(self, tenant: str, name: str, *, now: float) -> KnowledgeBase:
        """Return the knowledge base of that name, made now if missing (readable by principal "all")."""

    async def set_space(self, kb: KbId, space: str) -> None: ...

    async def acquire_lease(
        self, kb: KbId, owner: str, *, now: float, seconds: float, instead_of: str | None = None
    ) -> None:
        """Become the one publisher; BusyError names the present owner. Renews when `owner` already holds it.

        `instead_of` takes the lease over from that owner, whom the caller knows to be dead.
        """

    async def release_lease(self, kb: KbId, owner: str) -> None: ...

    async def begin_run(self, kb: KbId, kind: str, *, now: float) -> Run:
        """Start a run for the next snapshot; BusyError while another run of the base is unfinished."""

    async def unfinished_runs(self, kb: KbId) -> list[Run]: ...

    async def stage(self, run: Run, staged: Sequence[Staged]) -> None:
        """Insert versions of different documents with everything in them, all or none, and their outbox entries in
        this order. Retires what they replace. Repeatable.

        The version's interval is the run's affair: `valid_from` and `valid_to` of the value given are not read.
        A run that has ended can change nothing any more (StoreError), here as in `retire` and `publish`.
        """

    async def retire(self, run: Run, versions: Sequence[VersionId]) -> None:
        """Set the `valid_to` of versions to the run's target, all or none, with their outbox entries. Repeatable."""

    async def record_items(self, run: RunId, items: Sequence[RunItem]) -> None: ...

    async def pending(self, kb: KbId, *, limit: int, after: int = 0) -> list[OutboxEntry]:
        """Entries not yet marked as applied, in order, with a sequence above `after`."""

    async def mark_applied(self, sequences: Sequence[int]) -> None: ...

    async def record_duplicates(self, run: Run, found: Sequence[Duplicate]) -> None:
        """Keep what was decided about versions that the run stages; gone with them if it is rolled back. Repeatable."""

    async def rule_duplicates(self, versions: Sequence[VersionId], ruling: Ruling) -> None:
        """Let a person's word stand over the rule's, all or none; NotFoundError where nothing was decided."""

    async def record_boilerplate(self, run: Run, wanted: Sequence[Boilerplate]) -> None:
        """Let these and no other decisions be in force from the run's target on; undone if it is rolled back. What was
        in force stays as it was decided, and a person's word stands when a paragraph comes back. Repeatable."""

    async def rule_boilerplate(
        self, kb: KbId, snapshot: int, digests: Sequence[str], ruling: BoilerplateRuling
    ) -> None:
        """Let a person's word stand over the rule's, all or none; NotFoundError where nothing is in force."""

    async def hold(self, review: Review) -> None:
        """Let a content wait for a decision; what else waits of its source is superseded. Repeatable.

        A review that was decided before is pending again, with these reasons; its history stays.
        """

    async def decide(self, ids: Sequence[str], state: ReviewState, *, by: str, note: str, now: float) -> None:
        """Approve or reject, with who and why; all or none. NotFoundError, and UsageError for what is superseded."""

    async def withdraw(self, kb: KbId, sources: Sequence[str], *, now: float) -> None:
        """Supersede what waits of these sources: they have gone."""

    async def publish(self, run: Run, *, owner: str, now: float) -> Snapshot:
        """Set head to the run's target. Refuses (StoreError) when outbox entries are pending, BusyError when
        `owner` no longer holds the lease. The one moment at which readers move. What waits for a decision of the
        sources that the run published or removed is superseded with it."""

    async def roll_back(self, run: Run, *, now: float, reason: str = "") -> None:
        """End the run without a trace in any snapshot; its report and the reason are kept. Repeatable."""

    async def save_trace(self, trace: StoredTrace, *, keep: int) -> None:
        """Store a trace and drop all but the newest `keep` of that knowledge base."""


class CatalogReader(AccessReader, GlossaryReader, ChunkWorkReader, Protocol):
    """Everything that readers ask. All answers hold for the snapshot given.

    What is asked for by id (`version`, `versions_by_id`, `chunks`, `chunks_of`, `blocks_of`) is found even when it
    is only staged: the index is written from it. Readers come by ids from a search, and ask `authorise` first.
    """

    async def kb(self, tenant: str, name: str) -> KnowledgeBase:
        """NotFoundError when there is none of that name."""

    async def kbs(self, tenant: str) -> list[KnowledgeBase]: ...

    async def lease(self, kb: KbId) -> Lease | None:
        """The lease as it stands, expired or not; None when nobody holds one."""

    async def snapshots(self, kb: KbId) -> list[Snapshot]:
        """Oldest first."""

    async def snapshot_at(self, kb: KbId, time: float) -> int:
        """The snapshot that was head at a time (seconds, UTC); 0 before the first."""

    async def counts(self, kb: KbId, snapshot: int) -> Counts: ...

    async def version_of(self, kb: KbId, source: str, snapshot: int) -> Version | None: ...

    async def standing(self, documents: Collection[DocumentId], snapshot: int) -> dict[DocumentId, Standing]:
        """How each document stands; one that was never stored stands at `Standing()`."""

    async def version(self, version: VersionId) -> Version: ...

    async def versions(
        self, kb: KbId, snapshot: int, *, after: str = "", limit: int = 1000, prefix: str = ""
    ) -> list[Version]:
        """Visible versions ordered by source, sources greater than `after` and starting with `prefix`."""

    async def find(self, kb: KbId, snapshot: int, word: str) -> list[Version]:
        """Visible versions whose source, document id or version id equals `word`, or starts with it (ids of 6
        characters or more), or whose source ends with "/" or "#" and `word`."""

    async def all_versions(self, kb: KbId) -> list[Version]:
        """Every version kept, old ones too: what a rebuild must index."""

    async def history(self, document: DocumentId) -> list[Version]:
        """The document's published versions, oldest first."""

    async def chunks(self, ids: Collection[ChunkId]) -> dict[ChunkId, Chunk]: ...

    async def chunks_meant(self, ids: Collection[str], snapshot: int) -> dict[str, Chunk]:
        """Return the published chunks that ids of chunks or pieces mean, in the order asked for. That of a piece means
        the chunk that the snapshot shows, where it shows none the newest."""

    async def families(self, ids: Collection[ChunkId]) -> Families:
        """Return the chunks that exist, in the order asked for, with what their passages need."""

    async def chunks_of(self, version: VersionId, level: ChunkLevel | None = None) -> list[Chunk]:
        """In order of span."""

    async def chunks_of_each(
        self, versions: Collection[VersionId], *levels: ChunkLevel
    ) -> dict[VersionId, list[Chunk]]:
        """Like `chunks_of` for several versions and levels in one call; `child_counts` says how much that will be."""

    async def child_counts(self, versions: Collection[VersionId]) -> dict[VersionId, int]:
        """How many children each version has, of those that exist."""

    def chunk_ids(self, kb: KbId) -> AsyncIterator[tuple[ChunkId, int, int]]:
        """Yield (id, valid_from, valid_to) of every chunk that has a point (`INDEXED`) in ascending order of id, for
        the reconciler."""

    async def blocks_of(self, version: VersionId, within: Sequence[Span] | None = None) -> list[Block]:
        """Blocks in order; with `within`, only those that share characters with one of the spans."""

    async def blocks_within(self, places: Mapping[VersionId, Sequence[Span]]) -> dict[VersionId, list[Block]]:
        """Like `blocks_of` with `within`, for several versions in one call."""

    async def versions_by_id(self, ids: Collection[VersionId]) -> dict[VersionId, Version]: ...

    async def authorise(
        self, kb: KbId, snapshot: int, ids: Collection[ChunkId], principals: Collection[str]
    ) -> set[ChunkId]:
        """Return those chunks that are visible at the snapshot and whose document a principal may read now."""

    async def admit(
        self, kb: KbId, snapshot: int, ids: Sequence[ChunkId], principals: Collection[str], *, first: int
    ) -> tuple[set[ChunkId], Families]:
        """`authorise`, and the families of the first few in the order of `ids` that are allowed, in one call, with the
        furniture that the snapshot is read with: chunks that are made of it are marked."""

    async def signatures(self, run: Run) -> list[Signed]:
        """Versions with a signature that the run's snapshot will show, oldest first."""

    async def duplicates(self, kb: KbId, snapshot: int) -> list[Duplicate]:
        """Decisions of which both versions are visible at the snapshot, oldest first."""

    async def ruled_duplicates(self, kb: KbId) -> list[Duplicate]:
        """Decisions that people took, of all versions kept, oldest first."""

    async def holders(self, run: Run, least: int) -> Holders:
        """Paragraphs that at least so many documents hold of those that the run's snapshot will show."""

    async def boilerplate(self, kb: KbId, snapshot: int) -> list[Boilerplate]:
        """Decisions that the snapshot is read with, by digest."""

    async def boilerplate_places(self, kb: KbId, snapshot: int, digests: Collection[str]) -> dict[str, list[Place]]:
        """Where paragraphs stand in the documents of a snapshot, by source and place."""

    async def reviews(self, kb: KbId, states: Collection[ReviewState]) -> list[Review]:
        """Reviews in these states, oldest first."""

    async def items(self, run: RunId) -> list[RunItem]: ...

    async def runs(self, kb: KbId, *, limit: int = 20) -> list[Run]: ...

    async def trace(self, id: str) -> StoredTrace: ...

    async def traces(self, kb: KbId, *, limit: int) -> list[StoredTrace]:
        """The newest of a base, newest first."""

    async def close(self) -> None: ...


class Catalog(CatalogWriter, CatalogReader, CatalogHistory, ModelSpaces, People, Conversations, JobQueue, Protocol):
    """The whole catalog."""
