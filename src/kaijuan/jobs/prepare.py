"""Source items to versions with blocks and chunks, or to the word that nothing changed. Publishes nothing.

Three steps, each for a group of items in one go, because what is asked of threads, catalog and disk costs small
documents more than what is done with them. The error of one item is its own outcome, never that of its group.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kaijuan import telemetry
from kaijuan.core.chunk_work import Miss
from kaijuan.core.documents import Block, Chunk, ParsedDocument, Version
from kaijuan.core.glossary import Abbreviation
from kaijuan.core.ids import DocumentId, KbId, VersionId, content_hash, document_id, stable_id, version_id
from kaijuan.core.text.language import language_of
from kaijuan.errors import BrokenDocumentError, DocumentError
from kaijuan.index.catalog import Catalog, Staged, Standing
from kaijuan.index.ports import BlobStore
from kaijuan.ingest.abbreviations import abbreviations
from kaijuan.ingest.chunkers.measure import Foreseen
from kaijuan.ingest.clean.recurring import digests
from kaijuan.ingest.dedupe.shingles import signature
from kaijuan.ingest.ports import Chunking, Facts, SourceItem, Tokenizer
from kaijuan.jobs.again import stored_document
from kaijuan.jobs.cutting import Knife, WorkByDocument, named_strategy, numbered_block
from kaijuan.jobs.gate import Gate, Held
from kaijuan.jobs.report import Failed

_Result = TypeVar("_Result")
Read = Callable[[Sequence[SourceItem]], Awaitable[Sequence[ParsedDocument | DocumentError]]]
"""Bytes to parsed documents, in their order; what cannot be read comes as its error."""
Parsing = Callable[[SourceItem], str]
"""What reading an item depends on: the fingerprint of the parser of its kind; raises DocumentError."""
# Hashing, cutting and encoding are CPU work that must not hold up the event loop.
_SHORT = 4096
"""Characters of a document whose tokens are found together with those of others."""
_POOL = ThreadPoolExecutor(1, thread_name_prefix="kaijuan-prepare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What turns bytes into chunks."""

    read: Read
    chunking: Chunking
    tokenizer: Tokenizer
    parsing: Parsing
    measure: str
    """Fingerprint of the tokenizer that sizes are measured with."""

    def reading(self, item: SourceItem) -> str:
        """Return what the blocks of an item depend on besides its bytes: the first part of a fingerprint.

        Of a record, title and metadata are content that its bytes do not hold. Of a file they are not: they come
        from its bytes or (time of change) say nothing about them. Of the parsers only the one for the item's kind
        counts, so that one more format, or a better reader of one, does not read all the others again.
        """
        return stable_id("reading", self.parsing(item), facts(item))

    def fingerprint(self, reading: str, kind: str, shape: str, source: str, named: str) -> str:
        """Return all that a version depends on besides its bytes: how it was read, what it looks like, how it is cut.

        Of the strategies only the one that cuts it counts, so that another for statutes touches nothing but statutes.
        """
        return ":".join((reading, shape, self._cutting(kind, shape, source, named)))

    def reads_alike(self, version: Version, reading: str) -> bool:
        """Say whether a version's blocks are those that reading it again would give."""
        return version.fingerprint.partition(":")[0] == reading

    def cuts_alike(self, version: Version, named: str) -> bool:
        """Say whether a version's chunks are those that its blocks would give; `named` as in `chunker_for`."""
        _, _, shape_and_cutting = version.fingerprint.partition(":")
        shape, _, cutting = shape_and_cutting.partition(":")
        current = self.chunking.is_current(version.kind, shape)
        return current and self._cutting(version.kind, shape, version.source, named) == cutting

    def _cutting(self, kind: str, shape: str, source: str, named: str) -> str:
        chunker = self.chunking.chunker_for(kind, shape, source, named)
        added = self.chunking.enrichment
        return stable_id("cutting", chunker.fingerprint, self.measure, *([added] if added else []))


def facts(item: SourceItem) -> str:
    """Return the content of a record that its bytes do not hold; "" of a file."""
    return json.dumps([item.kind, item.title, dict(item.metadata)], sort_keys=True) if item.kind else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where and when versions are prepared."""

    catalog: Catalog
    blobs: BlobStore
    pipeline: Pipeline
    gate: Gate
    signed: bool
    """Whether versions get a signature, by which others that say the same are found."""
    kb: KbId
    head: int
    clock: Callable[[], float]
    work: WorkByDocument = field(default_factory=dict)
    """What people did to chunks, to be done again."""

    def named(self, document: DocumentId) -> str:
        """Return the strategy that somebody chose for a document, "" for none."""
        return named_strategy(self.work.get(document, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """The version at head was made from the same content by the same pipeline, and its text can be read."""

    source: str
    version: VersionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """An item that is new, or not what the version at head was made from."""

    item: SourceItem
    document: DocumentId
    content: str
    reading: str
    standing: Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A changed item that was read."""

    changed: Changed
    document: ParsedDocument
    stored: bool = False
    """Whether it was read back from the version at head, which has passed the gate."""

    @property
    def weight(self) -> int:
        """About the memory that it takes, in bytes."""
        return self.changed.item.size + len(self.document.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A version that is ready to be staged. Its blobs are stored."""

    staged: Staged
    replaces: bool
    """Whether readers at head see an earlier version of the document."""


# --- first: what has changed? -----------------------------------------------------------------------------------


async def look_up(ground: Ground, items: Sequence[SourceItem]) -> list[Changed | Unchanged | Held | Failed]:
    """Compare items with the versions at head, in their order; one whose kind cannot be told has failed."""
    if not items:
        return []
    marks = await _aside(lambda: [_marks(ground.pipeline, item) for item in items])
    ids = [document_id(ground.kb, item.source) for item in items]
    standing = await ground.catalog.standing(ids, ground.head)
    looked: list[Changed | Held | Failed] = []
    for item, id, mark in zip(items, ids, marks, strict=True):
        if isinstance(mark, Failed):
            looked.append(mark)
        else:
            content, reading = mark
            looked.append(
                ground.gate.refused(item, content, standing[id].live)
                or Changed(item=item, document=id, content=content, reading=reading, standing=standing[id])
            )
    same = [one for one in looked if isinstance(one, Changed) and _is_same(ground, one)]
    whole = await _whole(ground.blobs, same)
    return [_unchanged(one) if isinstance(one, Changed) and one.document in whole else one for one in looked]


def _marks(pipeline: Pipeline, item: SourceItem) -> tuple[str, str] | Failed:
    try:
        return content_hash(item.data), pipeline.reading(item)
    except DocumentError as error:
        return failed(item, error)


def failed(item: SourceItem, error: DocumentError) -> Failed:
    """Return the line of an item that could not be taken in."""
    return Failed(source=item.source, code=error.code, message=str(error))


def _is_same(ground: Ground, one: Changed) -> bool:
    return _reads_alike(ground.pipeline, one) and _cuts_alike(ground, one)


def _cuts_alike(ground: Ground, one: Changed) -> bool:
    return ground.pipeline.cuts_alike(_live(one), ground.named(one.document))


def _reads_alike(pipeline: Pipeline, one: Changed) -> bool:
    live = one.standing.live
    return live is not None and live.content_hash == one.content and pipeline.reads_alike(live, one.reading)


def _unchanged(one: Changed) -> Unchanged:
    return Unchanged(source=one.item.source, version=_live(one).id)


def _live(one: Changed) -> Version:
    assert one.standing.live is not None
    return one.standing.live


async def _whole(blobs: BlobStore, same: Sequence[Changed]) -> set[DocumentId]:
    """Return those whose stored text can be read. Stored originals are put right on the way, as their bytes are here.

    Read in full at every run, because nothing less finds a flipped bit. An unreadable text makes a new version: that
    writes the blob anew, and its points too, which a rebuild may have left out meanwhile.
    """
    if not same:
        return set()
    whole: list[Changed] = []
    for one, fault in zip(same, await blobs.check_each([_live(one).text_hash for one in same]), strict=True):
        if fault is None:
            whole.append(one)
        else:
            live = _live(one)
            telemetry.event("prepare.unreadable", version=live.id, source=live.source, code=fault.code)
    apart = [one.item.data for one in whole if _live(one).original_hash != _live(one).text_hash]
    if apart:
        await blobs.put_each(apart)
    return {one.document for one in whole}


# --- then: what does it say? ------------------------------------------------------------------------------------


async def read(ground: Ground, changed: Sequence[Changed]) -> list[Parsed | Failed]:
    """Read items, in their order; one that cannot be read has failed, the others are none the worse.

    Where only the cutting has changed, what the parser gave then is read back.
    """
    again = {one.document: document for one in changed if (document := await _read_back(ground, one)) is not None}
    anew = [one for one in changed if one.document not in again]
    documents = iter(await ground.pipeline.read([one.item for one in anew]) if anew else ())
    return [
        Parsed(changed=one, document=again[one.document], stored=True)
        if one.document in again
        else _parsed(one, next(documents))
        for one in changed
    ]


async def _read_back(ground: Ground, one: Changed) -> ParsedDocument | None:
    # One that is cut alike is here because its text cannot be read.
    if not _reads_alike(ground.pipeline, one) or _cuts_alike(ground, one):
        return None
    return await stored_document(ground.catalog, ground.blobs, _live(one))


def _parsed(one: Changed, document: ParsedDocument | DocumentError) -> Parsed | Failed:
    if isinstance(document, DocumentError):
        return failed(one.item, document)
    return Parsed(changed=one, document=document)


# --- last: cut, store the bytes ---------------------------------------------------------------------------------


async def finish(ground: Ground, parsed: Sequence[Parsed]) -> list[Prepared | Held | Failed]:
    """Judge documents, cut them and store their bytes, in their order; one that cannot be cut has failed."""
    if not parsed:
        return []
    cut = await _aside(lambda: _cut_each(ground, parsed))
    whole = [one for one in cut if isinstance(one, _Cut)]
    names = iter(await ground.blobs.put_each([data for one in whole for data in one.contents]))
    return [
        _prepared(ground, one, [next(names) for _ in one.contents]) if isinstance(one, _Cut) else one for one in cut
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A document in pieces, its bytes still to be stored."""

    parsed: Parsed
    version: VersionId
    number: int
    fingerprint: str
    text: bytes
    signature: bytes
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...]
    misses: tuple[Miss, ...]
    abbreviations: tuple[Abbreviation, ...]
    facts: Facts

    @property
    def contents(self) -> tuple[bytes, ...]:
        """The text, and the original where it differs: with most records it does not."""
        original = self.parsed.changed.item.data
        return (self.text,) if original == self.text else (self.text, original)


def _prepared(ground: Ground, cut: _Cut, names: Sequence[str]) -> Prepared:
    changed, parsed = cut.parsed.changed, cut.parsed.document
    item = changed.item
    version = Version(
        id=cut.version,
        document_id=changed.document,
        kb_id=ground.kb,
        number=cut.number,
        source=item.source,
        title=cut.facts.title,
        kind=parsed.kind,
        content_hash=changed.content,
        fingerprint=cut.fingerprint,
        text_hash=names[0],
        original_hash=names[-1],
        language=cut.facts.language,
        pages=parsed.pages,
        metadata=cut.facts.metadata,
        warnings=_warnings(parsed),
        signature=cut.signature,
        created_at=ground.clock(),
    )
    staged = Staged(
        version=version, blocks=cut.blocks, chunks=cut.chunks, abbreviations=cut.abbreviations, misses=cut.misses
    )
    return Prepared(staged=staged, replaces=changed.standing.live is not None)


async def _aside(work: Callable[[], _Result]) -> _Result:
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)


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


def _cut_each(ground: Ground, parsed: Sequence[Parsed]) -> list[_Cut | Held | Failed]:
    short = [one.document for one in parsed if one.document.blocks and len(one.document.text) <= _SHORT]
    known = Foreseen(ground.pipeline.tokenizer, [_content_of(document) for document in short])
    ground = replace(ground, pipeline=replace(ground.pipeline, tokenizer=known))
    return [_cut(ground, one) for one in parsed]


def _content_of(document: ParsedDocument) -> str:
    """Return what a chunker measures of a short document: all from its first block to its last."""
    return document.text[document.blocks[0].span.start : document.blocks[-1].span.end].strip()


def _cut(ground: Ground, parsed: Parsed) -> _Cut | Held | Failed:
    changed = parsed.changed
    try:
        if parsed.stored:
            return _pieces(ground, parsed)
        judged = ground.gate.judged(changed.item, changed.content, parsed.document)
        return judged if isinstance(judged, Held) else _pieces(ground, replace(parsed, document=judged))
    except DocumentError as error:
        return failed(parsed.changed.item, error)


def _pieces(ground: Ground, parsed: Parsed) -> _Cut:
    pipeline = ground.pipeline
    changed, document = parsed.changed, parsed.document
    number = changed.standing.last_number + 1
    source, named = changed.item.source, ground.named(changed.document)
    shape = pipeline.chunking.shape_of(document.kind, document.text, document.blocks)
    fingerprint = pipeline.fingerprint(changed.reading, document.kind, shape, source, named)
    version = version_id(changed.document, number, changed.content, fingerprint)
    text = _encoded(document.text)
    compared = digests(document.text, document.blocks)
    blocks = tuple(
        numbered_block(version, at, block, document.text, compared.get(at, ""))
        for at, block in enumerate(document.blocks)
    )
    knife = Knife(
        chunking=pipeline.chunking,
        chunker=pipeline.chunking.chunker_for(document.kind, shape, source, named),
        tokenizer=pipeline.tokenizer,
        version=version,
        number=number,
        document=changed.document,
    )
    facts = Facts(
        title=_title(changed.item, document),
        kind=document.kind,
        language=language_of(document.text),
        metadata={**document.metadata, **changed.item.metadata},
    )
    pieces = knife.cut(facts, document.text, blocks, ground.work.get(changed.document, ()))
    return _Cut(
        parsed=parsed,
        version=version,
        number=number,
        signature=signature(document.text) if ground.signed else b"",
        fingerprint=fingerprint,
        text=text,
        blocks=blocks,
        chunks=pieces.chunks,
        misses=pieces.misses,
        facts=facts,
        abbreviations=abbreviations(document.text),
    )
