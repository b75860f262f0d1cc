"""A document that was read, in pieces: blocks and chunks with their ids, and people's work done to them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kaijuan.core.chunk_work import ALIAS, ChunkWork, Miss, WorkKind
from kaijuan.core.documents import Block, Chunk, ChunkLevel, ParsedBlock
from kaijuan.core.ids import ChunkId, DocumentId, VersionId, block_id, chunk_id, piece_id
from kaijuan.core.spans import Span
from kaijuan.core.text.language import language_of
from kaijuan.errors import DocumentError, EmptyDocumentError
from kaijuan.ingest.chunkers.manual import reworked
from kaijuan.ingest.clean.marks import mark as reason_of
from kaijuan.ingest.ports import ChunkDraft, Chunker, Chunking, Facts, Tokenizer

WorkByDocument = Mapping[DocumentId, Sequence[ChunkWork]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """The chunks of a version, and the work that could not be done to them."""

    chunks: tuple[Chunk, ...]
    misses: tuple[Miss, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Knife:
    """What cuts one version."""

    chunking: Chunking
    chunker: Chunker
    tokenizer: Tokenizer
    version: VersionId
    number: int
    """Of the version."""
    document: DocumentId

    def cut(self, facts: Facts, text: str, blocks: Sequence[Block], work: Sequence[ChunkWork]) -> Pieces:
        """Return the chunks. Raises DocumentError when there is nothing to search."""
        drafts = self.chunker.chunk(text, blocks, self.tokenizer)
        done = reworked(drafts, work, text, blocks, self.tokenizer, self.chunking.limit)
        chunks = self._chunks(self.chunking.enriched(facts, text, blocks, done.drafts, self.tokenizer), text)
        if not any(chunk.level is ChunkLevel.CHILD for chunk in chunks):
            raise EmptyDocumentError("The document has no text to search.")
        if len({_likeness(chunk) for chunk in chunks}) < len(chunks):
            raise DocumentError(
                "The chunker gave the same piece twice.", hint="Report this file: the chunker is at fault."
            )
        return Pieces(chunks=chunks, misses=done.misses)

    def _chunks(self, drafts: Sequence[ChunkDraft], text: str) -> tuple[Chunk, ...]:
        ids = self._ids(drafts, text)
        return tuple(
            Chunk(
                id=ids[ordinal],
                version_id=self.version,
                document_id=self.document,
                ordinal=ordinal,
                level=draft.level,
                span=draft.span,
                parent_id=None if draft.parent is None else ids[draft.parent],
                title_path=draft.title_path,
                tokens=draft.tokens,
                strategy=self.chunker.fingerprint,
                mark=reason_of(draft.span.of(text)) if draft.level is ChunkLevel.CHILD else "",
                origin=draft.origin,
                search_text=draft.search_text,
                context=draft.context,
            )
            for ordinal, draft in enumerate(drafts)
        )

    def _ids(self, drafts: Sequence[ChunkDraft], text: str) -> list[ChunkId]:
        ids = [ChunkId("")] * len(drafts)
        seen: Counter[ChunkId] = Counter()
        for at in sorted(range(len(drafts)), key=lambda at: drafts[at].span):
            draft = drafts[at]
            # What somebody takes out of the search stays the piece that it was. Several questions may lead to one.
            level = ChunkLevel.CHILD if draft.level is ChunkLevel.EXCLUDED else draft.level
            said = draft.search_text if draft.origin == ALIAS else ""
            words = draft.span.of(text)
            first = piece_id(self.document, level, words, said=said)
            piece = piece_id(self.document, level, words, seen[first], said) if seen[first] else first
            seen[first] += 1
            ids[at] = chunk_id(piece, self.number)
        return ids


def _likeness(chunk: Chunk) -> tuple[ChunkLevel, Span, str, str]:
    return chunk.level, chunk.span, chunk.origin, chunk.search_text if chunk.origin == ALIAS else ""


def numbered_block(version: VersionId, ordinal: int, block: ParsedBlock, text: str, digest: str = "") -> Block:
    """Return a parsed block as a block of a version; `digest` is that of a paragraph to be compared."""
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
        digest=digest,
    )


def by_document(work: Iterable[ChunkWork]) -> dict[DocumentId, list[ChunkWork]]:
    """Return work by the document that it is about, in its order."""
    found: dict[DocumentId, list[ChunkWork]] = {}
    for one in work:
        found.setdefault(one.document_id, []).append(one)
    return found


def named_strategy(work: Sequence[ChunkWork]) -> str:
    """Return the strategy that somebody chose for a document last, "" for none."""
    return next((one.said for one in reversed(work) if one.kind is WorkKind.STRATEGY), "")
