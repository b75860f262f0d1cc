"""A whole small knowledge base to try runs on: true catalog, blobs, chunker and parser, a deterministic embedder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from kaijuan import registry
from kaijuan.core.documents import ChunkLevel, ParsedDocument
from kaijuan.core.filters import at_snapshot
from kaijuan.core.ids import ChunkId
from kaijuan.errors import DocumentError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.ports import Embedder, Index, IndexStore
from kaijuan.index.publish import Reached
from kaijuan.index.rebuild import open_space
from kaijuan.index.settings import IndexSettings
from kaijuan.ingest.chunkers.policy import ChunkPolicy
from kaijuan.ingest.parsers.record import RecordParser
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.jobs.prepare import Read
from kaijuan.jobs.run import Ingest, RunReport
from kaijuan.jobs.settings import JobSettings
from kaijuan.stores.blobs.disk import DiskBlobStore
from kaijuan.stores.catalog.sql import SqlCatalog
from kaijuan.stores.index.memory import MemoryIndexStore
from kaijuan.testing.embedders import HashEmbedder

START = 1_700_000_000.0
ROOT = "file:///shelf/"
SIZES = ChunkSettings(child_tokens=8, max_tokens=16, parent_tokens=32, summaries=False)


async def read_text(item: SourceItem) -> ParsedDocument:
    """Parse in this process: a paragraph a line."""
    return RecordParser().parse(item.data, item.name)


def each(read: Callable[[SourceItem], Awaitable[ParsedDocument]]) -> Read:
    """Make reading one item reading several."""

    async def attempt(item: SourceItem) -> ParsedDocument | DocumentError:
        try:
            return await read(item)
        except DocumentError as error:
            return error

    async def read_each(items: Sequence[SourceItem]) -> list[ParsedDocument | DocumentError]:
        return [await attempt(item) for item in items]

    return read_each


class Ticking:
    """A clock that moves on by one second each time somebody looks."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        """Return the time."""
        self.now += 1
        return self.now


@dataclass(slots=True)
class Workshop:
    """One knowledge base in a folder. `reached` is told of every step of a run."""

    home: Path
    indexes: IndexStore = field(default_factory=MemoryIndexStore)
    embedder: Embedder = field(default_factory=HashEmbedder)
    reached: Reached = lambda _: None
    clock: Ticking = field(default_factory=Ticking)
    settings: JobSettings = field(default_factory=lambda: JobSettings(backlog_chunks=4, group_documents=1))
    catalog: SqlCatalog = field(init=False)
    blobs: DiskBlobStore = field(init=False)
    ingest: Ingest = field(init=False)

    def __post_init__(self) -> None:
        self.catalog = SqlCatalog(self.home / "catalog.db")
        self.blobs = DiskBlobStore(self.home / "blobs")
        self.ingest = Ingest(
            catalog=self.catalog,
            blobs=self.blobs,
            indexes=self.indexes,
            embedder=self.embedder,
            chunking=ChunkPolicy(SIZES, partial(registry.load, "chunker")),
            read=each(read_text),
            parsing=lambda _: "workshop-1",
            clock=self.clock,
            settings=self.settings,
            index_settings=IndexSettings(grace_seconds=0.0, group_chunks=3, embed_batch=2),
            reached=self.reached,
        )

    async def kb(self) -> KnowledgeBase:
        """Return the knowledge base as it is now."""
        return await self.catalog.create_kb("acme", "shelf", now=START)

    async def add(self, texts: Mapping[str, str | None], *, mirror: bool = False, request: str = "") -> RunReport:
        """Take in the texts by name; None is a place that cannot be read. `request` as in `Ingest.add`."""
        scope = ROOT if mirror else None
        return await self.ingest.add(await self.kb(), offered(texts), mirror_scope=scope, request=request)

    async def remove(self, names: Sequence[str]) -> RunReport:
        """Remove documents by name."""
        kb = await self.kb()
        found = [await self.catalog.version_of(kb.id, ROOT + name, kb.head) for name in names]
        return await self.ingest.remove(kb, [version.id for version in found if version is not None])

    async def texts(self, snapshot: int) -> dict[str, str]:
        """Return what readers of a snapshot find, by name."""
        versions = await self.catalog.versions((await self.kb()).id, snapshot)
        return {
            version.source.removeprefix(ROOT): (await self.blobs.get(version.text_hash)).decode()
            for version in versions
        }

    async def chunks(self, snapshot: int) -> list[ChunkId]:
        """Return the searchable chunks of a snapshot, as the catalog knows them."""
        versions = await self.catalog.versions((await self.kb()).id, snapshot)
        found = [await self.catalog.chunks_of(version.id, ChunkLevel.CHILD) for version in versions]
        return sorted(chunk.id for chunks in found for chunk in chunks)

    async def index(self) -> Index:
        """Open the index that serves readers."""
        return await open_space(self.catalog, self.indexes, await self.kb(), self.embedder)

    async def points(self, snapshot: int) -> list[ChunkId]:
        """Return the searchable chunks of a snapshot, as the index knows them."""
        index = await self.index()
        try:
            return [header.id async for header in index.scan(at_snapshot(snapshot))]
        finally:
            await index.close()

    async def close(self) -> None:
        """Release everything; the folder stays."""
        await self.indexes.close()
        await self.catalog.close()


async def offered(texts: Mapping[str, str | None]) -> AsyncIterator[SourceItem | SourceFailure]:
    """Offer texts by name as a source would; None is a place that cannot be read."""
    for name, text in texts.items():
        if text is None:
            yield SourceFailure(source=ROOT + name, code="source_missing", message=f"{name} cannot be read.")
        else:
            data = text.encode()
            yield SourceItem(source=ROOT + name, name=name, size=len(data), data=data)
