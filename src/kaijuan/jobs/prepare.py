"""One source item to a version with blocks and chunks, or to the word that nothing changed. Publishes nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from kaijuan import telemetry
from kaijuan.core.documents import Block, Chunk, ChunkLevel, ParsedBlock, ParsedDocument, Version
from kaijuan.core.ids import (
    DocumentId,
    KbId,
    VersionId,
    block_id,
    chunk_id,
    content_hash,
    document_id,
    stable_id,
    version_id,
)
from kaijuan.core.text.language import language_of
from kaijuan.errors import BrokenDocumentError, DocumentError, EmptyDocumentError
from kaijuan.index.catalog import Catalog
from kaijuan.index.ports import BlobStore
from kaijuan.index.write import UNREADABLE
from kaijuan.ingest.ports import ChunkDraft, Chunker, SourceItem, Tokenizer

_Result = TypeVar("_Result")
_SMALL = 1 << 16
Read = Callable[[SourceItem], Awaitable[ParsedDocument]]
"""Bytes to a parsed document; raises DocumentError."""
Parsing = Callable[[SourceItem], str]
"""What reading an item depends on: the fingerprint of the parser of its kind; raises DocumentError."""
# Hashing, cutting and encoding are CPU work that must not hold up the event loop.
_POOL = ThreadPoolExecutor(1, thread_name_prefix="kaijuan-prepare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What turns bytes into chunks."""

    read: Read
    chunker: Chunker
    tokenizer: Tokenizer
    parsing: Parsing
    measure: str
    """Fingerprint of the tokenizer that sizes are measured with."""

    def fingerprint(self, item: SourceItem) -> str:
        """Return what a version of the item depends on besides its bytes.

        Of a record, title and metadata are content that its bytes do not hold. Of a file they are not: they come
        from its bytes or (time of change) say nothing about them. Of the parsers only the one for the item's kind
        counts, so that one more format, or a better reader of one, does not read all the others again.
        """
        facts = _facts(item) if item.kind else ""
        return stable_id("pipeline", self.parsing(item), self.chunker.fingerprint, self.measure, facts)


def _facts(item: SourceItem) -> str:
    return json.dumps([item.kind, item.title, dict(item.metadata)], sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A version that is ready to be staged. Its blobs are stored."""

    version: Version
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...]
    replaces: bool
    """Whether readers at head see an earlier version of the document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The version at head was made from the same content by the same pipeline, and its text can be read."""

    source: str
    version: VersionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where and when versions are prepared."""

    catalog: Catalog
    blobs: BlobStore
    pipeline: Pipeline
    kb: KbId
    head: int
    clock: Callable[[], float]


async def prepare(ground: Ground, item: SourceItem) -> Prepared | Unchanged:
    """Read, cut and store the bytes of one item; DocumentError when it cannot be taken in."""
    # A small hash takes less time than handing it to a thread.
    small = len(item.data) < _SMALL
    content = content_hash(item.data) if small else await _aside(lambda: content_hash(item.data))
    pipeline = ground.pipeline
    fingerprint = pipeline.fingerprint(item) if small else await _aside(lambda: pipeline.fingerprint(item))
    live = await ground.catalog.version_of(ground.kb, item.source, ground.head)
    same = live is not None and (live.content_hash, live.fingerprint) == (content, fingerprint)
    if live is not None and same and await _whole(ground.blobs, live, item.data):
        return Unchanged(source=item.source, version=live.id)
    parsed = await pipeline.read(item)
    document = document_id(ground.kb, item.source)
    number = await ground.catalog.last_number(document) + 1
    id = version_id(document, number, content, fingerprint)
    text, blocks, chunks = await _aside(lambda: _cut(pipeline, parsed, id, document))
    original_hash, text_hash = await _stored(ground.blobs, item.data, text)
    version = Version(
        id=id,
        document_id=document,
        kb_id=ground.kb,
        number=number,
        source=item.source,
        title=_title(item, parsed),
        kind=parsed.kind,
        content_hash=content,
        fingerprint=fingerprint,
        text_hash=text_hash,
        original_hash=original_hash,
        language=language_of(parsed.text),
        pages=parsed.pages,
        metadata={**parsed.metadata, **item.metadata},
        warnings=_warnings(parsed),
        created_at=ground.clock(),
    )
    return Prepared(version=version, blocks=blocks, chunks=chunks, replaces=live is not None)


async def _aside(work: Callable[[], _Result]) -> _Result:
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)


async def _whole(blobs: BlobStore, live: Version, original: bytes) -> bool:
    """Say whether the stored text can be read. The stored original is put right on the way, as its bytes are here.

    Read in full at every run, because nothing less finds a flipped bit. An unreadable text makes a new version: that
    writes the blob anew, and its points too, which a rebuild may have left out meanwhile.
    """
    try:
        await blobs.get(live.text_hash)
    except UNREADABLE as error:
        telemetry.event("prepare.unreadable", version=live.id, source=live.source, code=error.code)
        return False
    if live.original_hash != live.text_hash:
        await blobs.put(original)
    return True


async def _stored(blobs: BlobStore, original: bytes, text: bytes) -> tuple[str, str]:
    if original == text:
        # So it is with most records: one blob, and half the waiting for the disk.
        name = await blobs.put(text)
        return name, name
    first, second = await asyncio.gather(blobs.put(original), blobs.put(text))
    return first, second


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        # Half characters have no bytes; storing something else would move every offset after them.
        raise BrokenDocumentError(f"The text holds half a character at {error.start}.") from error


def _title(item: SourceItem, parsed: ParsedDocument) -> str:
    # A record without a title is named by its key, which is no title: it would only blur what is embedded.
    title = item.title or ("" if item.kind else parsed.title or item.name)
    return title.encode("utf-8", "replace").decode()


def _warnings(parsed: ParsedDocument) -> tuple[str, ...]:
    if not parsed.unread_pages:
        return parsed.warnings
    pages = ", ".join(str(page) for page in parsed.unread_pages)
    return (*parsed.warnings, f"partial: no text could be read on pages {pages}")


def _cut(
    pipeline: Pipeline, parsed: ParsedDocument, version: VersionId, document: DocumentId
) -> tuple[bytes, tuple[Block, ...], tuple[Chunk, ...]]:
    text = _encoded(parsed.text)
    blocks = tuple(_block(version, at, block, parsed.text) for at, block in enumerate(parsed.blocks))
    drafts = pipeline.chunker.chunk(parsed.text, blocks, pipeline.tokenizer)
    chunks = _chunks(drafts, version, document, pipeline.chunker.fingerprint)
    if not any(chunk.level is ChunkLevel.CHILD for chunk in chunks):
        raise EmptyDocumentError("The document has no text to search.")
    if len({chunk.id for chunk in chunks}) < len(chunks):
        raise DocumentError("The chunker gave the same piece twice.", hint="Report this file: the chunker is at fault.")
    return text, blocks, chunks


def _block(version: VersionId, ordinal: int, block: ParsedBlock, text: str) -> Block:
    return Block(
        id=block_id(version, ordinal, block.span.start, block.span.end),
        ordinal=ordinal,
        kind=block.kind,
        span=block.span,
        level=block.level,
        title_path=block.title_path,
        pages=tuple(sorted({line.box.page for line in block.lines})) or block.pages,
        lines=block.lines,
        language=language_of(block.span.of(text)),
        confidence=block.confidence,
        place=block.place,
        syntax=block.syntax,
        table=block.table,
    )


def _chunks(drafts: Sequence[ChunkDraft], version: VersionId, document: DocumentId, strategy: str) -> tuple[Chunk, ...]:
    ids = [chunk_id(version, strategy, draft.level, draft.span.start, draft.span.end) for draft in drafts]
    return tuple(
        Chunk(
            id=ids[ordinal],
            version_id=version,
            document_id=document,
            ordinal=ordinal,
            level=draft.level,
            span=draft.span,
            parent_id=None if draft.parent is None else ids[draft.parent],
            title_path=draft.title_path,
            tokens=draft.tokens,
            strategy=strategy,
        )
        for ordinal, draft in enumerate(drafts)
    )
