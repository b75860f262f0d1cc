"""The facade: add, remove, search, ask, explain. Wires adapters to ports; the steps themselves live in the rooms."""

from __future__ import annotations

import builtins
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from kaijuan import registry
from kaijuan.answer.results import Answer
from kaijuan.answer.supplement import answer_or_look_elsewhere
from kaijuan.config import Config, EmbedderSettings, home_path, load_config
from kaijuan.core import arguments
from kaijuan.core.arguments import Filters, Moment, Targets
from kaijuan.core.documents import Version
from kaijuan.core.duplicates import DuplicateState, Ruling
from kaijuan.core.filters import Filter
from kaijuan.core.ids import ChunkId, VersionId, stable_id
from kaijuan.core.reviews import Review, ReviewState
from kaijuan.core.snapshots import Snapshot
from kaijuan.core.text.analyse import ANALYSER
from kaijuan.errors import ClosedError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase, StoredTrace
from kaijuan.index.ports import BlobStore, Embedder, Index, IndexStore
from kaijuan.index.rebuild import open_space
from kaijuan.ingest.chunkers.policy import ChunkPolicy
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.opening import Narrowing, Opener, walk_all
from kaijuan.ingest.pipeline import fingerprint, item_fingerprint, read_each
from kaijuan.jobs.chunk_report import ChunkReport, chunk_report
from kaijuan.jobs.desk import SeenDuplicate, on_desk, picked, rule, seen_duplicates
from kaijuan.jobs.doctor import DoctorReport, Patient, examine
from kaijuan.jobs.gate import GateRules
from kaijuan.jobs.report import RebuildReport
from kaijuan.jobs.run import Ingest, Progress, RunReport, Stage
from kaijuan.jobs.views import ChunkView, DocumentView, Status, chunk_view, status_of, view_of
from kaijuan.retrieve.explain import Explanation, explain
from kaijuan.retrieve.pipeline import Retrieval, SearchRequest, search
from kaijuan.retrieve.results import SearchResult
from kaijuan.retrieve.texts import TextShelf

ProgressCallback = Callable[[Progress], None]
FIRST_ADD = "Add documents first: kaijuan add PATH."
MOST_PASSAGES = 1000
MOST_REMOVED = 1_000_000
WAITING = frozenset({ReviewState.PENDING})
EVERYONE = frozenset({"all"})
"""The principals of the one local user; identities come with the service."""


class Kaijuan:
    """One knowledge base in one home folder. Use with `async with`, or call `close`.

    `home` defaults to KAIJUAN_HOME or ~/.kaijuan. `config` is a Config, or a file instead of the home's config.toml.
    An `embedder` of your own is used as it is, without the cache. Nothing is started before the first verb.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        kb: str = "default",
        *,
        config: Config | Path | str | None = None,
        embedder: Embedder | None = None,
        principals: Collection[str] = EVERYONE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.home = home_path(home)
        self.kb_name = kb
        self.tenant = "default"
        self.config = config if isinstance(config, Config) else load_config(self.home, Path(config) if config else None)
        self._principals = frozenset(principals)
        self._clock = clock
        self._closed = False
        self._fields: dict[str, set[str]] = {}
        self._open_spaces: dict[str, Index] = {}
        self._parsers: ParserPool | None = None
        self._wire(embedder)

    def _wire(self, embedder: Embedder | None) -> None:
        stores = self.config.stores
        self.catalog: Catalog = registry.load("catalog", stores.catalog)(self.home / "catalog.db")
        self.blobs: BlobStore = registry.load("blobs", stores.blobs)(self.home / "blobs")
        self.indexes: IndexStore = self._index_store()
        self.embedder: Embedder = embedder or make_embedder(self.config.embedder, self.home / "cache")
        self.texts = TextShelf(self.blobs)

    def _index_store(self) -> IndexStore:
        stores = self.config.stores
        kind: Callable[..., IndexStore] = registry.load("index", stores.index)
        return kind() if stores.index == "memory" else kind(self.home, idle_seconds=stores.index_idle_seconds)

    async def close(self) -> None:
        """Release every resource. Twice is fine; the verbs raise ClosedError afterwards."""
        if self._closed:
            return
        self._closed = True
        if self._parsers is not None:
            await self._parsers.close()
        for index in self._open_spaces.values():
            await index.close()
        await self.indexes.close()
        await self.embedder.close()
        await self.catalog.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    # --- changing ------------------------------------------------------------------------------------------------

    async def add(
        self,
        targets: Targets,
        *,
        mirror: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        depth: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> RunReport:
        """Take in files, folders, addresses and named sources, one or several, as one published snapshot.

        What fails is named in the report, the run goes on. `include` and `exclude` are patterns as in .gitignore,
        `depth` is how many links of a page are followed. With `mirror`, documents that have gone from the one folder
        given, or that the patterns leave out, are removed.
        """
        wanted = arguments.targets(targets)
        if not wanted:
            raise UsageError("Nothing to add was named.", hint="Give a file, a folder or an address.")
        if mirror and len(wanted) != 1:
            raise UsageError("Mirroring takes exactly one folder.", hint="Call it once for each folder.")
        narrowing = Narrowing(include=arguments.patterns(include), exclude=arguments.patterns(exclude), depth=depth)
        opened = [self._opener.open(target, narrowing) for target in wanted]
        scope = opened[0].scope if mirror else None
        if scope is not None and not scope.endswith(("/", "#")):
            raise UsageError(
                f"{wanted[0]} is not a folder.", hint="Mirroring takes one folder or corpus, or a site with a depth."
            )
        self._make_home()
        kb = await self.catalog.create_kb(self.tenant, self.kb_name, now=self._clock())
        return await self._ingest().add(kb, walk_all(opened), mirror_scope=scope, progress=progress)

    async def sync(self, names: Targets = (), *, progress: ProgressCallback | None = None) -> Mapping[str, RunReport]:
        """Bring named sources of the configuration up to date, all by default, each as a run of its own.

        What has gone from a source is removed, where it is more than one document.
        """
        wanted = arguments.targets(names) or list(self.config.sources)
        if not wanted:
            raise UsageError("No source has a name.", hint="Give them names in the configuration: [sources.NAME].")
        scopes = {name: self._opener.open(f"{name.removesuffix(':')}:").scope for name in wanted}
        return {
            name: await self.add(f"{name.removesuffix(':')}:", mirror=scope.endswith(("/", "#")), progress=progress)
            for name, scope in scopes.items()
        }

    async def remove(self, words: Targets, *, progress: ProgressCallback | None = None) -> RunReport:
        """Remove documents by source, id, file name or folder, as one published snapshot. All or none."""
        kb = await self._kb()
        found: dict[VersionId, None] = {}
        for word in arguments.targets(words):
            found.update(dict.fromkeys(version.id for version in await self._meant(kb, word)))
        return await self._ingest().remove(kb, list(found), progress=progress)

    async def approve(
        self, words: Targets, *, by: str = "", note: str = "", progress: ProgressCallback | None = None
    ) -> RunReport:
        """Publish documents that the gate held back, named by review id or source, as one snapshot."""
        kb = await self._kb()
        chosen = await picked(self.catalog, kb, self._principals, arguments.targets(words))
        return await self._ingest().approve(kb, chosen, by=by, note=note, progress=progress)

    async def reject(self, words: Targets, *, by: str = "", note: str = "") -> builtins.list[str]:
        """Keep contents out, named by review id or source; return the sources that were live and are removed."""
        kb = await self._kb()
        chosen = await picked(self.catalog, kb, self._principals, arguments.targets(words))
        return await self._ingest().reject(kb, chosen, by=by, note=note)

    async def rule_duplicates(self, words: Targets, *, merge: bool, by: str = "", note: str = "") -> int:
        """Merge or keep apart documents that say the same, named by decision id or source; return how many pairs."""
        state = DuplicateState.MERGED if merge else DuplicateState.KEPT
        ruling = Ruling(state=state, at=self._clock(), by=by, note=note)
        return await rule(self.catalog, await self._kb(), self._principals, arguments.targets(words), ruling)

    async def rebuild(self, *, progress: ProgressCallback | None = None) -> RebuildReport:
        """Build the index anew from the catalog, beside the one that serves readers, and switch."""

        def told(done: int, total: int) -> None:
            if progress is not None:
                progress(
                    Progress(stage=Stage.INDEXING, done=done, total=total, failed=0, source="", chunks=0, indexed=0)
                )

        lost: builtins.list[str] = []
        kb = await self._ingest().rebuild(await self._kb(), told, lambda version: lost.append(version.source))
        return RebuildReport(space=kb.space, unreadable=tuple(lost))

    async def doctor(self, *, repair: bool = False) -> DoctorReport:
        """Look whether everything is well; with `repair`, roll back dead runs and mend the index first."""
        kb = await self._kb()
        if repair and kb.head:
            await self._ingest().reconcile(kb)
            kb = await self._kb()
        patient = Patient(
            home=self.home,
            kb=kb,
            catalog=self.catalog,
            blobs=self.blobs,
            index=lambda: self._index(kb),
            embedder=self.embedder,
        )
        return await examine(patient)

    # --- reading -------------------------------------------------------------------------------------------------

    async def search(
        self,
        query: str,
        *,
        k: int = 5,
        filters: Filters = (),
        as_of: Moment = None,
        cut: bool = True,
    ) -> SearchResult:
        """Return the best passages for a question, at most `k`.

        `as_of` is a snapshot number (int) or a time in seconds since 1970 (float); the head by default. `cut=False`
        keeps weak passages too, for measuring.
        """
        request = await self._request(query, k, filters, as_of, cut=cut)
        return await search(await self._retrieval(request.kb), request, trace_id=new_id())

    async def ask(self, question: str, *, k: int = 8, filters: Filters = (), as_of: Moment = None) -> Answer:
        """Answer from the documents, every sentence cited, or refuse where they do not say."""
        wanted = arguments.filters(filters)
        snapshot = await self._snapshot(await self._kb(), as_of)

        async def find(more: Sequence[Filter]) -> SearchResult:
            return await self.search(question, k=k, filters=[*wanted, *more], as_of=snapshot)

        result, given = await answer_or_look_elsewhere(question, find, self.embedder, self.config.answer)
        await self._save_trace(result, given)
        return given

    async def explain(
        self,
        question: str,
        *,
        contains: str | None = None,
        chunk: str | None = None,
        k: int = 8,
        filters: Filters = (),
        as_of: Moment = None,
    ) -> Explanation:
        """Say, stage by stage, why the passages that hold a text, or a chunk, were or were not used."""
        request = await self._request(question, k, filters, as_of)
        context = await self._retrieval(request.kb)
        return await explain(context, request, contains=contains, chunk=chunk, trace_id=new_id())

    async def list(self, *, as_of: Moment = None) -> builtins.list[Version]:
        """Return the documents visible at a snapshot, by source."""
        kb = await self._kb()
        snapshot = await self._snapshot(kb, as_of)
        found: builtins.list[Version] = []
        while page := await self.catalog.versions(kb.id, snapshot, after=found[-1].source if found else ""):
            found.extend(page)
        return await self._readable(kb, found)

    async def show(self, word: str, *, as_of: Moment = None) -> DocumentView:
        """Return one document with its text, blocks, chunks and history; `word` is a source, id or file name."""
        kb = await self._kb()
        version = await self._find(kb, word, await self._snapshot(kb, as_of))
        return await view_of(self.catalog, version, await self.texts.read(version.text_hash))

    async def reviews(self, states: Collection[ReviewState] = WAITING) -> builtins.list[Review]:
        """Return what the gate held back, oldest first: what waits for a decision, or reviews in these states."""
        return await on_desk(self.catalog, await self._kb(), self._principals, states)

    async def review(self, word: str) -> Review:
        """Return one review; `word` is its id, the beginning of it, or a source."""
        return (await picked(self.catalog, await self._kb(), self._principals, [word]))[0]

    async def chunk(self, id: str) -> ChunkView:
        """Return one chunk of any version that is kept, with its parent, children and neighbours."""
        return await chunk_view(self.catalog, self.blobs, await self._kb(), ChunkId(id), self._principals)

    async def chunk_report(self, *, as_of: Moment = None) -> ChunkReport:
        """Say how well the documents of a snapshot are cut: lengths, cut structures, duplicates, outliers, coverage."""
        snapshot = await self._snapshot(await self._kb(), as_of)
        return await chunk_report(self.catalog, self.blobs, await self.list(as_of=snapshot), snapshot)

    async def duplicates(self) -> builtins.list[SeenDuplicate]:
        """Return which documents say the same, what was decided, and why; only those of which both may be read."""
        return await seen_duplicates(self.catalog, await self._kb(), self._principals)

    async def snapshots(self) -> builtins.list[Snapshot]:
        """Return all snapshots that are kept, oldest first."""
        return await self.catalog.snapshots((await self._kb()).id)

    async def status(self) -> Status:
        """Return the state of the knowledge base."""
        kb = await self._kb()
        return await status_of(self.catalog, kb, await self._index(kb), self.embedder)

    # --- what the verbs share --------------------------------------------------------------------------------------

    def _make_home(self) -> None:
        try:
            # Documents are private: the folder is for its owner alone.
            self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"The home folder {self.home} cannot be made: {error.strerror}.", hint="Choose another with --home."
            ) from error

    @cached_property
    def _opener(self) -> Opener:
        return Opener(
            words=list(registry.targets("source")),
            load=partial(registry.load, "source"),
            named=self.config.sources,
            limits=self.config.ingest,
            cache=self.home / "cache",
            attachments=lambda data, name, kind: self._pool().attachments(data, name, kind),
        )

    def _pool(self) -> ParserPool:
        if self._parsers is None:
            settings = self.config.ingest
            self._parsers = ParserPool(
                registry.targets("parser"),
                workers=settings.parse_workers,
                seconds=settings.parse_seconds,
                memory_mb=settings.parse_memory_mb,
                recogniser=registry.recogniser(settings.recogniser),
                recognise_seconds=settings.recognise_seconds,
            )
        return self._parsers

    def _ingest(self) -> Ingest:
        self._check_open()
        pool = self._pool()
        return Ingest(
            catalog=self.catalog,
            blobs=self.blobs,
            indexes=self.indexes,
            embedder=self.embedder,
            chunking=ChunkPolicy(self.config.chunk, partial(registry.load, "chunker")),
            read=lambda items: read_each(items, pool),
            parsing=partial(
                item_fingerprint,
                registry.targets("parser"),
                recogniser=registry.recogniser(self.config.ingest.recogniser),
            ),
            gate=GateRules(settings=self.config.gate, languages=self.config.ingest.languages),
            clock=self._clock,
            settings=self.config.jobs,
            index_settings=self.config.index,
        )

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("The engine is closed.")

    async def _kb(self) -> KnowledgeBase:
        self._check_open()
        if not self.home.exists():
            raise NotFoundError(f"There is no home folder {self.home}.", hint=FIRST_ADD)
        try:
            return await self.catalog.kb(self.tenant, self.kb_name)
        except NotFoundError as error:
            raise NotFoundError(f"There is no knowledge base {self.kb_name!r}.", hint=FIRST_ADD) from error

    async def _index(self, kb: KnowledgeBase) -> Index | None:
        """Return the index that serves readers at head, None before anything was published."""
        if kb.head == 0:
            return None
        if kb.space not in self._open_spaces:
            self._open_spaces[kb.space] = await open_space(self.catalog, self.indexes, kb, self.embedder)
        return self._open_spaces[kb.space]

    async def _snapshot(self, kb: KnowledgeBase, given: Moment) -> int:
        as_of = arguments.moment(given)
        if as_of is None:
            return kb.head
        if isinstance(as_of, float):
            return await self.catalog.snapshot_at(kb.id, as_of)
        if not 0 <= as_of <= kb.head:
            raise NotFoundError(f"There is no snapshot {as_of}.", hint=f"The newest is {kb.head}.")
        return as_of

    async def _request(self, text: str, k: int, filters: Filters, as_of: Moment, *, cut: bool = True) -> SearchRequest:
        if not 1 <= k <= MOST_PASSAGES:
            raise UsageError(f"{k} passages cannot be asked for.", hint=f"Ask for 1 to {MOST_PASSAGES}.")
        kb = await self._kb()
        return SearchRequest(
            text=text,
            k=k,
            kb=kb,
            snapshot=await self._snapshot(kb, as_of),
            principals=self._principals,
            filters=arguments.filters(filters),
            cut=cut,
        )

    async def _retrieval(self, kb: KnowledgeBase) -> Retrieval:
        return Retrieval(
            catalog=self.catalog,
            index=await self._index(kb),
            embedder=self.embedder,
            texts=self.texts,
            settings=self.config.retrieve,
            known_fields=self._fields.setdefault(kb.space, set()),
        )

    async def _find(self, kb: KnowledgeBase, word: str, snapshot: int) -> Version:
        found = await self._readable(kb, await self._named(kb, word, snapshot))
        if not found:
            raise NotFoundError(
                f"No document at snapshot {snapshot} is called {word!r}.", hint="`kaijuan list` shows what is there."
            )
        if len(found) > 1:
            names = ", ".join(version.source for version in found[:5])
            raise UsageError(f"{word!r} could be {len(found)} documents: {names}.", hint="Give the whole source or id.")
        return found[0]

    async def _meant(self, kb: KnowledgeBase, word: str) -> builtins.list[Version]:
        """Return what a word for removing means: a document with what is attached, or all of a folder or archive."""
        for scope in self._opener.scopes(word):
            # What came out of a file stands behind a "#".
            found = await self._below(kb, scope if scope.endswith(("/", "#")) else f"{scope}#")
            if found and not scope.endswith(("/", "#")):
                found += await self._readable(kb, await self.catalog.find(kb.id, kb.head, scope))
            if found:
                return found
        meant = await self._find(kb, word, kb.head)
        return [meant, *await self._below(kb, meant.source + ("/" if "#" in meant.source else "#"))]

    async def _below(self, kb: KnowledgeBase, prefix: str) -> builtins.list[Version]:
        found = await self.catalog.versions(kb.id, kb.head, prefix=prefix, limit=MOST_REMOVED)
        return await self._readable(kb, found)

    async def _named(self, kb: KnowledgeBase, word: str, snapshot: int) -> builtins.list[Version]:
        # Addresses are percent-encoded; people write file names as they see them.
        for name in (word, quote(word, errors="surrogateescape"), *self._opener.addresses(word)):
            if found := await self.catalog.find(kb.id, snapshot, name):
                return found
        return []

    async def _readable(self, kb: KnowledgeBase, found: Sequence[Version]) -> builtins.list[Version]:
        readers = await self.catalog.principals_of(kb.id, {version.document_id for version in found})
        return [version for version in found if readers[version.document_id] & self._principals]

    async def _save_trace(self, result: SearchResult, given: Answer) -> None:
        kb = await self._kb()
        body: Mapping[str, object] = {**asdict(result.trace), "status": str(given.status), "answer": given.answer}
        trace = StoredTrace(id=result.trace.id, kb_id=kb.id, created_at=self._clock(), body=body)
        await self.catalog.save_trace(trace, keep=self.config.retrieve.traces_kept)


def make_embedder(settings: EmbedderSettings, cache: Path) -> Embedder:
    """Return the configured embedder behind a cache of vectors; both keep their files in `cache`."""
    inner: Embedder = registry.load("embedder", settings.name).from_settings(settings, cache)
    cached: Embedder = registry.load("embedding_cache", "sqlite")(
        inner, cache / "embeddings.db", max_bytes=settings.cache_mb * 2**20
    )
    return cached


def pipeline_fingerprint(config: Config, embedder: Embedder) -> str:
    """Name all that turns documents into searchable chunks: one corpus and one fingerprint give the same base."""
    speed_only = {"embed_batch", "group_chunks", "grace_seconds"}
    return stable_id(
        "points",
        fingerprint(registry.targets("parser"), registry.recogniser(config.ingest.recogniser)),
        *config.admission(),
        ChunkPolicy(config.chunk, partial(registry.load, "chunker")).fingerprint,
        embedder.info.fingerprint,
        embedder.info.max_tokens,
        ANALYSER,
        config.index.model_dump_json(exclude=speed_only),
        config.stores.model_dump_json(exclude={"index_idle_seconds"}),
    )


def new_id() -> str:
    """Return a fresh id for a trace."""
    return uuid.uuid4().hex
