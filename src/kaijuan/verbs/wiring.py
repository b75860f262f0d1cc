"""Adapters wired to ports, and what the verbs share."""

from __future__ import annotations

import asyncio
import builtins
import copy
import os
import time
import uuid
from collections.abc import Callable, Collection, Hashable, Sequence
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote

from kaijuan import registry
from kaijuan.answer.remembering import AnswerCacheSettings, AnswerStore, Remembered
from kaijuan.config import Config, home_path, load_config
from kaijuan.core import arguments
from kaijuan.core.arguments import Day, Filters, Moment
from kaijuan.core.chat import ChatModel
from kaijuan.core.documents import Version
from kaijuan.core.filters import Filter, In, Not
from kaijuan.core.ids import stable_id
from kaijuan.core.reviews import ReviewState
from kaijuan.core.text.analyse import ANALYSER
from kaijuan.errors import ClosedError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import BlobStore, Embedder, Index, IndexStore
from kaijuan.index.rebuild import open_space
from kaijuan.ingest.chunkers.policy import ChunkPolicy
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.judging import blocking_judge
from kaijuan.ingest.opening import Opener
from kaijuan.ingest.pipeline import fingerprint, item_fingerprint, read_each
from kaijuan.ingest.ports import WrittenShelf
from kaijuan.jobs.gate import GateRules
from kaijuan.jobs.run import Ingest, Progress
from kaijuan.jobs.spaces import Model
from kaijuan.retrieve.editions import not_in_force
from kaijuan.retrieve.holdings import HoldingsShelf
from kaijuan.retrieve.languages import Known
from kaijuan.retrieve.pipeline import Retrieval, SearchRequest
from kaijuan.retrieve.ports import Route
from kaijuan.retrieve.routes.breakers import Breakers
from kaijuan.retrieve.settings import understanding_under, with_preset
from kaijuan.retrieve.texts import TextShelf
from kaijuan.retrieve.understanding.asking import Wordings
from kaijuan.verbs.chat_models import make_chat
from kaijuan.verbs.embedders import make_embedder
from kaijuan.verbs.model_shelf import SPEED_ONLY, ModelShelf

ProgressCallback = Callable[[Progress], None]
FIRST_ADD = "Add documents first: kaijuan add PATH."
MOST_PASSAGES = 1000
_TRIAL_SECONDS = 10.0
_MOST_DAYS = 64
"""Days, of one snapshot and caller each, of which it is kept what did not hold."""
MOST_REMOVED = 1_000_000
WAITING = frozenset({ReviewState.PENDING})
EVERYONE = frozenset({"all"})
"""The principals of the one local user; identities come with the service."""


class Wired:
    """Adapters, and the questions that every verb asks first. Nothing is started before the first of them."""

    def __init__(  # noqa: PLR0913 one argument an option
        self,
        home: Path | str | None = None,
        kb: str = "default",
        *,
        config: Config | Path | str | None = None,
        embedder: Embedder | None = None,
        chat: ChatModel | None = None,
        principals: Collection[str] = EVERYONE,
        tenant: str = "default",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.home = home_path(home)
        self.kb_name = kb
        self.tenant = tenant
        self.config = config if isinstance(config, Config) else load_config(self.home, Path(config) if config else None)
        self._principals = frozenset(principals)
        self._clock = clock
        self._closed = False
        self._fields: dict[str, set[str]] = {}
        self._languages: dict[str, Known] = {}
        self._days: dict[tuple[Hashable, ...], tuple[Filter, ...]] = {}
        self._shelf = HoldingsShelf()
        self._breakers = Breakers()
        self._wordings = Wordings()
        self.side_routes: Sequence[Route] = ()
        """Routes of other rooms, named `graph` and `memory`, that every search takes too."""
        self._open_spaces: dict[str, Index] = {}
        self._parsers: ParserPool | None = None
        self.actor = ""
        """Who works through this view, for the audit log; "" for the command line and programs."""
        self._whole: Wired = self
        """The engine that owns what a view of it shares; itself for all others. What is made late belongs there."""
        self._wire(embedder)
        self.chat: ChatModel | None = chat or make_chat(self.config.chat)
        """The language model; None where none is configured."""

    def _wire(self, embedder: Embedder | None) -> None:
        stores = self.config.stores
        self.catalog: Catalog = self._catalog()
        place: Path = getattr(self.catalog, "place", self.home)
        self.blobs: BlobStore = registry.load("blobs", stores.blobs)(self.home / "blobs")
        self.indexes: IndexStore = self._index_store(place)
        self.embedder: Embedder = embedder or make_embedder(self.config.embedder, place / "cache")
        self._models = ModelShelf(self.config, place / "cache", self.embedder, configured=embedder is None)
        self._served: dict[str, Model] = {}
        """By index space: what makes its vectors."""
        self._trials: set[asyncio.Future[None]] = set()
        """Searches that nobody waits for."""
        self.texts = TextShelf(self.blobs)
        self.written = shelf_in(place)
        """What language models wrote about documents while they were cut."""
        self.answers: Remembered | None = make_answer_cache(self.config.answer_cache, place / "cache", self._clock)
        """Answers given before; None where the settings want none."""

    def _catalog(self) -> Catalog:
        file = self.home / "catalog.db"
        word = self.config.stores.catalog
        if word == "sql" and file.is_file() and not os.access(self.home, os.W_OK):
            borrowed: Catalog = registry.load("catalog", "read_only")(self.home)
            return borrowed
        made: Catalog = registry.load("catalog", word)(file)
        return made

    def _index_store(self, place: Path) -> IndexStore:
        stores = self.config.stores
        kind: Callable[..., IndexStore] = registry.load("index", stores.index)
        return kind() if stores.index == "memory" else kind(place, idle_seconds=stores.index_idle_seconds)

    async def close(self) -> None:
        """Release every resource. Twice is fine; the verbs raise ClosedError afterwards."""
        if self._closed:
            return
        self._closed = True
        if self._whole is not self:
            return
        await self._end_trials()
        await self._shelf.close()
        if self._parsers is not None:
            await self._parsers.close()
        for index in self._open_spaces.values():
            await index.close()
        await self.indexes.close()
        if self.answers is not None:
            await self.answers.close()
        await asyncio.to_thread(self.written.close)
        await self.embedder.close()
        await self._models.close()
        if self.chat is not None:
            await self.chat.close()
        await self.catalog.close()

    async def _end_trials(self) -> None:
        if self._trials:
            await asyncio.wait(self._trials, timeout=_TRIAL_SECONDS)
        for task in [*self._trials]:
            task.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

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
        if self._whole is not self:
            return self._whole._pool()
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
            chunking=self._chunking(),
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
            model_of=self._models.model_of,
        )

    def _chunking(self) -> ChunkPolicy:
        settings = self.config.chunk.of_base(self.kb_name)
        judge = blocking_judge(self.chat, self.written) if self.chat is not None else None
        return ChunkPolicy(settings, partial(registry.load, "chunker"), judge=judge, written=self.written)

    def _check_open(self) -> None:
        if self._closed or self._whole._closed:
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
            model = await self._model(kb)
            self._open_spaces[kb.space] = await open_space(self.catalog, self.indexes, kb, model.embedder)
        return self._open_spaces[kb.space]

    async def _model(self, kb: KnowledgeBase) -> Model:
        """Return the model that made the vectors of the space which serves this base."""
        if kb.space not in self._served:
            rows = await self.catalog.spaces_of_models(kb.id)
            row = next((row for row in rows if row.space == kb.space), None)
            self._served[kb.space] = self._models.model_of(row)
        return self._served[kb.space]

    async def _snapshot(self, kb: KnowledgeBase, given: Moment) -> int:
        """Return the number of a snapshot that is kept; text may also be one of its tags."""
        if isinstance(given, str) and (tagged := await self._tagged(kb, given.strip())) is not None:
            return tagged
        as_of = arguments.moment(given)
        if as_of is None:
            return kb.head
        if isinstance(as_of, float):
            return await self.catalog.snapshot_at(kb.id, as_of)
        if not 0 <= as_of <= kb.head:
            raise NotFoundError(f"There is no snapshot {as_of}.", hint=f"The newest is {kb.head}.")
        if as_of not in (0, kb.head) and as_of not in {one.number for one in await self.catalog.snapshots(kb.id)}:
            raise NotFoundError(
                f"Snapshot {as_of} is no longer kept.", hint="`kaijuan snapshots` lists those that are."
            )
        return as_of

    async def _tagged(self, kb: KnowledgeBase, word: str) -> int | None:
        return next((tag.number for tag in await self.catalog.snapshot_tags(kb.id) if tag.name == word), None)

    async def _request(  # noqa: PLR0913 one argument an option
        self,
        text: str,
        k: int,
        filters: Filters,
        as_of: Moment,
        *,
        cut: bool = True,
        read_filters: bool = True,
        use_model: bool = True,
        at: Day = None,
    ) -> SearchRequest:
        if not 1 <= k <= MOST_PASSAGES:
            raise UsageError(f"{k} passages cannot be asked for.", hint=f"Ask for 1 to {MOST_PASSAGES}.")
        kb = await self._kb()
        snapshot, day = await self._snapshot(kb, as_of), arguments.day(at)
        in_force = await self._in_force(kb, snapshot, day) if day else ()
        return SearchRequest(
            text=text,
            k=k,
            kb=kb,
            snapshot=snapshot,
            principals=self._principals,
            filters=(*arguments.filters(filters), *in_force),
            at=day,
            cut=cut,
            read_filters=read_filters,
            use_model=use_model,
        )

    async def _in_force(self, kb: KnowledgeBase, snapshot: int, day: date) -> tuple[Filter, ...]:
        """Return the filter that keeps out what did not hold on a day, as far as the caller may know of it."""
        # Every document of the base is read for it; a snapshot and who may read what in it stay as they are.
        key = (kb.id, snapshot, kb.policy_version, self._principals, day)
        if key not in self._days:
            gone = not_in_force(await self._all_readable(kb, snapshot), day)
            while len(self._days) >= _MOST_DAYS:
                del self._days[next(iter(self._days))]
            self._days[key] = (Not(In("document_id", tuple(sorted(gone)))),) if gone else ()
        return self._days[key]

    async def _all_readable(self, kb: KnowledgeBase, snapshot: int) -> builtins.list[Version]:
        found: builtins.list[Version] = []
        while page := await self.catalog.versions(kb.id, snapshot, after=found[-1].source if found else ""):
            found.extend(page)
        return await self._readable(kb, found)

    async def _retrieval(self, kb: KnowledgeBase, preset: str | None = None) -> Retrieval:
        """Return what a search of this base works with. The space and the model are those that `kb` names: a switch
        meanwhile changes neither."""
        embedder = (await self._model(kb)).embedder
        settings = with_preset(self.config.retrieve, preset)
        return Retrieval(
            catalog=self.catalog,
            index=await self._index(kb),
            embedder=embedder,
            texts=self.texts,
            settings=settings,
            understanding=understanding_under(self.config.understanding, settings.preset),
            routes=self.config.routes,
            breakers=self._breakers,
            shelf=self._shelf,
            known_fields=self._fields.setdefault(kb.space, set()),
            known_languages=self._languages.setdefault(kb.space, {}),
            now=self._clock(),
            reranker=self._models.reranker(embedder, self.chat) if settings.rerank else None,
            chat=self.chat,
            wordings=self._wordings,
            others=self.side_routes,
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


_Engine = TypeVar("_Engine", bound=Wired)


def viewed(
    engine: _Engine,
    *,
    kb: str | None = None,
    tenant: str | None = None,
    principals: Collection[str] | None = None,
    actor: str = "",
) -> _Engine:
    """Return an engine for another base, tenant or reader that shares stores, index, models and parsers with `engine`.

    Costs next to nothing, so that a service makes one for each request. Closing it closes nothing that is shared.
    """
    view = copy.copy(engine)
    view.actor = actor
    if kb is not None:
        view.kb_name = kb
    if tenant is not None:
        view.tenant = tenant
    if principals is not None:
        view._principals = frozenset(principals)
    return view


def shelf_in(home: Path) -> WrittenShelf:
    """Open what language models wrote about documents, of a home."""
    made: WrittenShelf = registry.load("written", "sqlite")(home / "cache" / "written.db")
    return made


def make_answer_cache(settings: AnswerCacheSettings, cache: Path, clock: Callable[[], float]) -> Remembered | None:
    """Return the answers kept in a folder, which is not made before one is kept."""
    if not settings.enabled:
        return None
    kept: Callable[..., AnswerStore] = registry.load("answer_cache", "sqlite")
    store = kept(cache / "answers.db", max_bytes=settings.mb * 2**20, seconds=settings.hours * 3600)
    return Remembered(store, settings, clock)


def pipeline_fingerprint(config: Config, embedder: Embedder) -> str:
    """Name all that turns documents into searchable chunks: one corpus and one fingerprint give the same base."""
    return stable_id(
        "points 2",  # 2: a point knows the language of its passage
        fingerprint(registry.targets("parser"), registry.recogniser(config.ingest.recogniser)),
        *config.admission(),
        ChunkPolicy(config.chunk, partial(registry.load, "chunker")).fingerprint,
        embedder.info.fingerprint,
        embedder.info.max_tokens,
        ANALYSER,
        config.index.model_dump_json(exclude=set(SPEED_ONLY)),
        config.stores.model_dump_json(exclude={"index_idle_seconds"}),
    )


def new_id() -> str:
    """Return a fresh id for a trace."""
    return uuid.uuid4().hex
