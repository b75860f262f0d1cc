"""What readers ask: versions, chunks and blocks of a snapshot, runs and traces."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, and_, bindparam, case, or_, select

from kaijuan.core.documents import INDEXED, Block, Chunk, ChunkLevel, Version
from kaijuan.core.ids import ID_LENGTH, PIECE_LENGTH, ChunkId, DocumentId, KbId, RunId, VersionId
from kaijuan.core.spans import Span, merge
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Families, Run, RunItem, Standing, StoredTrace
from kaijuan.stores.catalog import boilerplate, rows, tables
from kaijuan.stores.catalog.connection import rows_with
from kaijuan.stores.catalog.duplicates import groups_of
from kaijuan.stores.catalog.faults import storable
from kaijuan.stores.catalog.publishing import visible_at

_versions, _chunks, _blocks, _documents = tables.document_version, tables.chunk, tables.block, tables.document
_LAST = "\U0010ffff"
BEFORE_NAME = ("/", "#")
"""What stands before the last part of an address: a folder, or the archive or corpus that a document is in."""
SHORTEST_ID = 6
_STREAM = 4096
_VERSIONS = select(_versions)
_SHOWN = _VERSIONS.where(_versions.c.valid_from <= bindparam("snapshot"), _versions.c.valid_to > bindparam("snapshot"))
_bases = tables.knowledge_base
_MEANT = (
    rows.CHUNKS.join(_bases, _bases.c.id == _versions.c.kb_id)
    # A piece's id is the beginning of those of its chunks.
    .where(_chunks.c.id >= bindparam("id"), _chunks.c.id <= bindparam("last"))
    .where(_versions.c.valid_from <= _bases.c.head)
    .order_by(
        case(
            (and_(_versions.c.valid_from <= bindparam("snapshot"), _versions.c.valid_to > bindparam("snapshot")), 0),
            else_=1,
        ),
        _versions.c.valid_from.desc(),
    )
    .limit(1)
)
_NUMBERS = select(_documents.c.id, _documents.c.last_number)
_CHILDREN = select(_versions.c.id, _versions.c.children)


def _all(connection: Connection, query: Select[Any]) -> list[Version]:
    return [rows.version_of(row) for row in connection.execute(query)]


def version_of(connection: Connection, kb: KbId, source: str, snapshot: int) -> Version | None:
    """Return the version of a source that the snapshot shows."""
    if not storable(source):
        return None
    query = select(_versions).where(*visible_at(kb, snapshot), _versions.c.source == source)
    row = connection.execute(query).one_or_none()
    return None if row is None else rows.version_of(row)


def standing(connection: Connection, documents: Collection[DocumentId], snapshot: int) -> dict[DocumentId, Standing]:
    """Return how each document stands at a snapshot."""
    numbers = {row.id: row.last_number for row in rows_with(connection, _NUMBERS, _documents.c.id, documents)}
    # By document and not by base and source: so SQLite looks up each, and never walks the versions of the base.
    seen = rows_with(connection, _SHOWN, _versions.c.document_id, list(numbers), snapshot=snapshot)
    live = {row.document_id: rows.version_of(row) for row in seen}
    return {id: Standing(last_number=numbers.get(id, 0), live=live.get(id)) for id in documents}


def version(connection: Connection, version: VersionId) -> Version:
    """Return a version, staged ones included, or raise NotFoundError."""
    row = connection.execute(select(_versions).where(_versions.c.id == version)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no version {version!r}.")
    return rows.version_of(row)


def versions(connection: Connection, kb: KbId, snapshot: int, after: str, limit: int, prefix: str) -> list[Version]:
    """Return visible versions by source, those beyond `after` that start with `prefix`."""
    if not storable(prefix):
        return []
    query = select(_versions).where(*visible_at(kb, snapshot), _versions.c.source > after)
    if prefix:
        # Not LIKE: SQLite's takes upper and lower case as the same.
        query = query.where(_versions.c.source >= prefix, _versions.c.source <= prefix + _LAST)
    return _all(connection, query.order_by(_versions.c.source).limit(limit))


def find(connection: Connection, kb: KbId, snapshot: int, word: str) -> list[Version]:
    """Return visible versions that the word may mean."""
    if not storable(word):
        return []
    source, document, id = _versions.c.source, _versions.c.document_id, _versions.c.id
    meant = [source == word, *(source.endswith(mark + word, autoescape=True) for mark in BEFORE_NAME)]
    if SHORTEST_ID <= len(word) <= ID_LENGTH:
        meant += [and_(column >= word, column <= word + _LAST) for column in (document, id)]
    query = select(_versions).where(*visible_at(kb, snapshot), or_(*meant)).order_by(source)
    return [found for found in _all(connection, query) if _means(word, found)]


def _means(word: str, found: Version) -> bool:
    # Once more, because LIKE takes upper and lower case as the same.
    ids = len(word) >= SHORTEST_ID and (found.document_id.startswith(word) or found.id.startswith(word))
    return ids or found.source == word or found.source.endswith(tuple(mark + word for mark in BEFORE_NAME))


def all_versions(connection: Connection, kb: KbId) -> list[Version]:
    """Return every version kept, by source and number."""
    query = select(_versions).where(_versions.c.kb_id == kb)
    return _all(connection, query.order_by(_versions.c.source, _versions.c.number))


def history(connection: Connection, document: DocumentId) -> list[Version]:
    """Return the published versions of a document, oldest first."""
    bases = tables.knowledge_base
    query = (
        select(_versions)
        .join_from(_versions, bases, bases.c.id == _versions.c.kb_id)
        .where(_versions.c.document_id == document, _versions.c.valid_from <= bases.c.head)
    )
    return _all(connection, query.order_by(_versions.c.number))


def versions_by_id(connection: Connection, ids: Collection[VersionId]) -> dict[VersionId, Version]:
    """Return the versions that exist, staged ones included."""
    found: dict[VersionId, Version] = {}
    for row in rows_with(connection, _VERSIONS, _versions.c.id, ids):
        found[VersionId(row.id)] = rows.version_of(row)
    return found


def chunks(connection: Connection, ids: Collection[ChunkId]) -> dict[ChunkId, Chunk]:
    """Return the chunks that exist, in the order asked for."""
    found: dict[str, Chunk] = {}
    for row in rows_with(connection, rows.CHUNKS, _chunks.c.id, ids):
        found[row.id] = rows.chunk_of(row)
    return {id: found[id] for id in ids if id in found}


def chunks_meant(connection: Connection, ids: Collection[str], snapshot: int) -> dict[str, Chunk]:
    """Return the published chunks that ids of chunks or pieces mean, in the order asked for."""
    found: dict[str, Chunk] = {}
    for id in filter(storable, dict.fromkeys(ids)):
        row = connection.execute(_MEANT, {"snapshot": snapshot, "id": id, "last": _last_of(id)}).first()
        if row is not None:
            found[id] = rows.chunk_of(row)
    return found


def _last_of(id: str) -> str:
    return id + _LAST if len(id) == PIECE_LENGTH else id


def families(connection: Connection, ids: Collection[ChunkId]) -> Families:
    """Return the chunks that exist with their parents and versions."""
    found = chunks(connection, ids)
    parents = chunks(connection, {chunk.parent_id for chunk in found.values() if chunk.parent_id})
    versions = {chunk.version_id for chunk in found.values()}
    return Families(
        chunks=found,
        parents=parents,
        versions=versions_by_id(connection, versions),
        groups=groups_of(connection, versions),
    )


def as_read(connection: Connection, kb: KbId, snapshot: int, ids: Collection[ChunkId]) -> Families:
    """Return families with the furniture that a snapshot is read with, and chunks that are made of it marked."""
    found = families(connection, ids)
    furniture = boilerplate.spans_in(connection, kb, snapshot, list(found.versions))
    if not furniture:
        return found
    return replace(found, chunks=boilerplate.marked(found.chunks, furniture), furniture=furniture)


def chunks_of(connection: Connection, version: VersionId, level: ChunkLevel | None) -> list[Chunk]:
    """Return the chunks of a version in order of span."""
    query = rows.CHUNKS.where(_chunks.c.version_id == version)
    if level is not None:
        query = query.where(_chunks.c.level == level.value)
    ordered = query.order_by(_chunks.c.start, _chunks.c.stop, _chunks.c.level)
    return [rows.chunk_of(row) for row in connection.execute(ordered)]


@cache
def _of_levels(levels: tuple[ChunkLevel, ...]) -> Select[Any]:
    # Lasting values, one for each set of levels: `rows_with` keeps what it builds of them.
    return rows.CHUNKS.where(_chunks.c.level.in_([level.value for level in levels]))


def chunks_of_each(
    connection: Connection, versions: Collection[VersionId], levels: tuple[ChunkLevel, ...]
) -> dict[VersionId, list[Chunk]]:
    """Return the chunks of each version in order of span."""
    found: dict[VersionId, list[Chunk]] = {version: [] for version in versions}
    for row in rows_with(connection, _of_levels(levels), _chunks.c.version_id, list(found)):
        chunk = rows.chunk_of(row)
        found[chunk.version_id].append(chunk)
    for chunks in found.values():
        chunks.sort(key=lambda chunk: chunk.span)
    return found


def child_counts(connection: Connection, versions: Collection[VersionId]) -> dict[VersionId, int]:
    """Return how many children each version has."""
    return {VersionId(row.id): row.children for row in rows_with(connection, _CHILDREN, _versions.c.id, versions)}


def chunk_ids(connection: Connection, kb: KbId) -> Iterator[list[tuple[ChunkId, int, int]]]:
    """Yield (id, valid_from, valid_to) of all chunks with points by id, in batches, as they stood when first asked."""
    query = (
        select(_chunks.c.id, _versions.c.valid_from, _versions.c.valid_to)
        .join_from(_chunks, _versions, _versions.c.id == _chunks.c.version_id)
        .where(_versions.c.kb_id == kb, _chunks.c.level.in_([level.value for level in INDEXED]))
        .order_by(_chunks.c.id)
    )
    result = connection.execution_options(stream_results=True).execute(query)
    for batch in result.partitions(_STREAM):
        yield [(ChunkId(row[0]), row[1], row[2]) for row in batch]


_SHARING = select(_blocks).where(
    _blocks.c.version_id == bindparam("version"),
    _blocks.c.start < bindparam("stop"),
    _blocks.c.stop > bindparam("start"),
)


def blocks_of(connection: Connection, version: VersionId, within: Sequence[Span] | None) -> list[Block]:
    """Return the blocks of a version in order, all or those that share characters with a span."""
    query = select(_blocks).where(_blocks.c.version_id == version)
    if within is None:
        return [rows.block_of(row) for row in connection.execute(query.order_by(_blocks.c.ordinal))]
    found: dict[str, Block] = {}
    for span in merge(span for span in within if len(span)):
        # One statement, built once: a query with as many conditions as spans would be compiled anew for every number.
        for row in connection.execute(_SHARING, {"version": version, "start": span.start, "stop": span.end}).all():
            found[row[0]] = rows.block_of(row)
    return sorted(found.values(), key=lambda block: block.ordinal)


def blocks_within(connection: Connection, places: Mapping[VersionId, Sequence[Span]]) -> dict[VersionId, list[Block]]:
    """Return the blocks of several versions that share characters with the spans given for each."""
    return {version: blocks_of(connection, version, within) for version, within in places.items()}


def items(connection: Connection, run: RunId) -> list[RunItem]:
    """Return the lines of a run's report in the order they were recorded."""
    table = tables.ingestion_item
    query = select(table).where(table.c.run_id == run).order_by(table.c.sequence)
    return [rows.item_of(row) for row in connection.execute(query)]


def runs(connection: Connection, kb: KbId, limit: int) -> list[Run]:
    """Return the newest runs, newest first."""
    table = tables.ingestion_run
    query = select(table).where(table.c.kb_id == kb).order_by(table.c.number.desc()).limit(limit)
    return [rows.run_of(row) for row in connection.execute(query)]


def trace(connection: Connection, id: str) -> StoredTrace:
    """Return a saved trace, or raise NotFoundError."""
    row = connection.execute(select(tables.trace).where(tables.trace.c.id == id)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no trace {id!r}.")
    return rows.trace_of(row)
