"""Values to table rows and back. Lists and metadata are kept as JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Row, Select, select

from kaijuan.core.documents import Block, BlockKind, Chunk, ChunkLevel, Metadata, Version
from kaijuan.core.glossary import Abbreviation, long_head, short_key
from kaijuan.core.ids import BlockId, ChunkId, DocumentId, KbId, RunId, VersionId
from kaijuan.core.reviews import Decision, Finding, Review, ReviewState
from kaijuan.core.snapshots import Snapshot
from kaijuan.core.spans import Span
from kaijuan.index.catalog import (
    IndexChange,
    ItemState,
    KnowledgeBase,
    OutboxEntry,
    Run,
    RunItem,
    RunState,
    StoredTrace,
)
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.lines import pack_lines, pack_table, unpack_lines, unpack_table

Values = dict[str, Any]
# Looked up by value, several times as fast as calling the class: a search reads hundreds of rows.
_BLOCK_KINDS = {kind.value: kind for kind in BlockKind}
_CHUNK_LEVELS = {level.value: level for level in ChunkLevel}
_EMPTY_LIST = "[]"
_JSON = json.JSONEncoder(separators=(",", ":"))


def _dump(value: object) -> str:
    # ASCII with escapes also carries lone surrogates, which no database takes as text.
    return _JSON.encode(value)


def _utf8(text: str) -> str:
    # Names of sheets and elements come from files; half characters and NULs in them are no reason to lose a document.
    return text.encode("utf-8", "replace").decode().replace("\x00", "")


def _words(text: str) -> tuple[str, ...]:
    return () if text == _EMPTY_LIST else tuple(json.loads(text))


def _metadata(text: str) -> Metadata:
    loaded: dict[str, Any] = json.loads(text)
    return {name: tuple(value) if isinstance(value, list) else value for name, value in loaded.items()}


def version_values(version: Version, run: Run, children: int) -> Values:
    """Return the row of a version that `run` stages."""
    return {
        "id": version.id,
        "document_id": version.document_id,
        "kb_id": version.kb_id,
        "run_id": run.id,
        "number": version.number,
        "source": version.source,
        "title": version.title,
        "kind": version.kind,
        "content_hash": version.content_hash,
        "fingerprint": version.fingerprint,
        "text_hash": version.text_hash,
        "original_hash": version.original_hash,
        "language": version.language,
        "pages": version.pages,
        "metadata": _dump(dict(version.metadata)),
        "warnings": _dump(list(version.warnings)),
        "created_at": version.created_at,
        "children": children,
        "signature": version.signature or None,
    }


def abbreviation_values(one: Abbreviation, version: VersionId, ordinal: int) -> Values:
    """Return the row of an abbreviation that a version explains."""
    return {
        "version_id": version,
        "ordinal": ordinal,
        "short": one.short,
        "long": one.long,
        "short_key": short_key(one.short),
        "long_head": long_head(one.long),
        "start": one.span.start,
        "stop": one.span.end,
    }


def version_of(row: Row[Any]) -> Version:
    """Return the version of a row of `document_version`."""
    return Version(
        id=VersionId(row.id),
        document_id=DocumentId(row.document_id),
        kb_id=KbId(row.kb_id),
        number=row.number,
        source=row.source,
        title=row.title,
        kind=row.kind,
        content_hash=row.content_hash,
        fingerprint=row.fingerprint,
        text_hash=row.text_hash,
        original_hash=row.original_hash,
        language=row.language,
        pages=row.pages,
        metadata=_metadata(row.metadata),
        warnings=_words(row.warnings),
        signature=row.signature or b"",
        created_at=row.created_at,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
    )


def block_values(block: Block, version: VersionId) -> Values:
    """Return the row of a block."""
    return {
        "id": block.id,
        "version_id": version,
        "ordinal": block.ordinal,
        "kind": block.kind.value,
        "start": block.span.start,
        "stop": block.span.end,
        "level": block.level,
        "title_path": _dump(list(block.title_path)),
        "pages": _dump(list(block.pages)),
        "lines": pack_lines(block.lines),
        "language": block.language,
        "confidence": block.confidence,
        "place": _utf8(block.place),
        "syntax": block.syntax,
        "cells": pack_table(block.table),
        "digest": block.digest or None,
    }


def block_of(row: Row[Any]) -> Block:
    """Return the block of a row of `block`, whole and in the order of its columns."""
    # Taken apart at once: a search reads hundreds, and to ask a row for each column by name takes twice as long.
    columns = tuple(row)
    id, _, ordinal, kind, start, stop, level, path, pages, lines, language, confidence = columns[:12]
    place, syntax, cells, digest = columns[12:]
    return Block(
        id=BlockId(id),
        ordinal=ordinal,
        kind=_BLOCK_KINDS[kind],
        span=Span(start, stop),
        level=level,
        title_path=_words(path),
        pages=() if pages == _EMPTY_LIST else tuple(json.loads(pages)),
        lines=unpack_lines(lines),
        language=language,
        confidence=confidence,
        place=place,
        syntax=syntax,
        table=unpack_table(cells),
        digest=digest or "",
    )


def chunk_values(chunk: Chunk) -> Values:
    """Return the row of a chunk."""
    return {
        "id": chunk.id,
        "version_id": chunk.version_id,
        "ordinal": chunk.ordinal,
        "level": chunk.level.value,
        "start": chunk.span.start,
        "stop": chunk.span.end,
        "parent_id": chunk.parent_id,
        "title_path": _dump(list(chunk.title_path)),
        "tokens": chunk.tokens,
        "strategy": chunk.strategy,
        "mark": chunk.mark,
        "origin": chunk.origin,
        "search_text": _utf8(chunk.search_text),
        "context": _utf8(chunk.context),
    }


CHUNKS: Select[Any] = select(tables.chunk, tables.document_version.c.document_id).join_from(
    tables.chunk, tables.document_version, tables.document_version.c.id == tables.chunk.c.version_id
)
"""What `chunk_of` reads; to be narrowed."""


def chunk_of(row: Row[Any]) -> Chunk:
    """Return the chunk of a row of `CHUNKS`."""
    return Chunk(
        id=ChunkId(row.id),
        version_id=VersionId(row.version_id),
        document_id=DocumentId(row.document_id),
        ordinal=row.ordinal,
        level=_CHUNK_LEVELS[row.level],
        span=Span(row.start, row.stop),
        parent_id=None if row.parent_id is None else ChunkId(row.parent_id),
        title_path=_words(row.title_path),
        tokens=row.tokens,
        strategy=row.strategy,
        mark=row.mark,
        origin=row.origin,
        search_text=row.search_text,
        context=row.context,
    )


def kb_of(row: Row[Any]) -> KnowledgeBase:
    """Return the knowledge base of a row of `knowledge_base`."""
    return KnowledgeBase(
        id=KbId(row.id),
        tenant=row.tenant_id,
        name=row.name,
        head=row.head,
        policy_version=row.policy_version,
        space=row.space,
    )


def run_of(row: Row[Any]) -> Run:
    """Return the run of a row of `ingestion_run`."""
    return Run(
        id=RunId(row.id),
        kb_id=KbId(row.kb_id),
        kind=row.kind,
        target=row.target,
        state=RunState(row.state),
        started_at=row.started_at,
        finished_at=row.finished_at,
        reason=row.reason,
    )


def item_of(row: Row[Any]) -> RunItem:
    """Return the item of a row of `ingestion_item`."""
    return RunItem(
        source=row.source,
        state=ItemState(row.state),
        code=row.code,
        message=row.message,
        version_id=None if row.version_id is None else VersionId(row.version_id),
    )


def entry_of(row: Row[Any]) -> OutboxEntry:
    """Return the entry of a row of `outbox`."""
    return OutboxEntry(
        sequence=row.sequence,
        kb_id=KbId(row.kb_id),
        version_id=VersionId(row.version_id),
        change=IndexChange(row.change),
        snapshot=row.snapshot,
    )


def snapshot_of(row: Row[Any], tags: Sequence[str] = ()) -> Snapshot:
    """Return the snapshot of a row of `snapshot` with its names."""
    return Snapshot(
        number=row.number,
        created_at=row.created_at,
        run_id=row.run_id,
        documents=row.documents,
        chunks=row.chunks,
        tags=tuple(tags),
    )


def trace_of(row: Row[Any]) -> StoredTrace:
    """Return the trace of a row of `trace`."""
    body: Mapping[str, object] = json.loads(row.body)
    return StoredTrace(id=row.id, kb_id=KbId(row.kb_id), created_at=row.created_at, body=body)


def trace_values(trace: StoredTrace) -> Values:
    """Return the row of a trace."""
    return {
        "id": trace.id,
        "kb_id": trace.kb_id,
        "created_at": trace.created_at,
        "body": _dump(dict(trace.body)),
    }


def review_values(review: Review) -> Values:
    """Return the row of a review."""
    return {
        "id": review.id,
        "kb_id": review.kb_id,
        "source": review.source,
        "content_hash": review.content_hash,
        "original_hash": review.original_hash,
        "name": _utf8(review.name),
        "kind": review.kind,
        "title": _utf8(review.title),
        "metadata": _dump(dict(review.metadata)),
        "reasons": _dump([asdict(finding) for finding in review.reasons]),
        "state": review.state.value,
        "created_at": review.created_at,
        "history": history_text(review.history),
    }


def history_text(history: Sequence[Decision]) -> str:
    """Return decisions as they are stored."""
    return _dump([asdict(decision) for decision in history])


def review_of(row: Row[Any]) -> Review:
    """Return the review of a row of `review`."""
    decisions: list[dict[str, Any]] = json.loads(row.history)
    return Review(
        id=row.id,
        kb_id=KbId(row.kb_id),
        source=row.source,
        content_hash=row.content_hash,
        original_hash=row.original_hash,
        name=row.name,
        kind=row.kind,
        title=row.title,
        metadata=_metadata(row.metadata),
        reasons=tuple(Finding(**finding) for finding in json.loads(row.reasons)),
        state=ReviewState(row.state),
        created_at=row.created_at,
        history=tuple(Decision(**{**each, "state": ReviewState(each["state"])}) for each in decisions),
    )
