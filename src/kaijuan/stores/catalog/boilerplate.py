"""Paragraphs that many documents share: who holds them, what was decided, and which chunks are made of them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, func, insert, select, update

from kaijuan.core.boilerplate import BOILERPLATE, Boilerplate, BoilerplateRuling, BoilerplateState, Place
from kaijuan.core.documents import Chunk, ChunkLevel
from kaijuan.core.ids import ChunkId, DocumentId, KbId, VersionId
from kaijuan.core.snapshots import OPEN
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Holders, Run
from kaijuan.stores.catalog import rows, tables
from kaijuan.stores.catalog.connection import batches, rows_with

_table, _blocks, _versions = tables.boilerplate, tables.block, tables.document_version
_MADE_OF = 0.8
"""Share of its characters from which a chunk is made of such paragraphs."""
_LOWERED: Select[Any] = (
    select(_blocks.c.version_id, _blocks.c.start, _blocks.c.stop)
    .join_from(_blocks, _table, _table.c.digest == _blocks.c.digest)
    .where(
        _table.c.kb_id == bindparam("kb"),
        _table.c.state == BoilerplateState.LOWERED.value,
        _table.c.valid_from <= bindparam("snapshot"),
        _table.c.valid_to > bindparam("snapshot"),
    )
)


def holders(connection: Connection, run: Run, least: int) -> Holders:
    """Return the paragraphs that so many documents of the run's snapshot hold, and all about those documents."""
    open_ones = (_versions.c.kb_id == run.kb_id, _versions.c.valid_to == OPEN)
    total = connection.execute(select(func.count()).select_from(_versions).where(*open_ones)).scalar_one()
    joined = select(_blocks.c.digest).join_from(_blocks, _versions, _versions.c.id == _blocks.c.version_id)
    shared = joined.where(_blocks.c.digest.is_not(None), *open_ones).group_by(_blocks.c.digest)
    often = shared.having(func.count(func.distinct(_blocks.c.version_id)) >= least)
    found = [row.digest for row in connection.execute(often)]
    held: dict[str, list[VersionId]] = {}
    signatures: dict[VersionId, bytes] = {}
    for batch in batches(found):
        query = joined.add_columns(_versions.c.id, _versions.c.signature).where(_blocks.c.digest.in_(batch), *open_ones)
        for row in connection.execute(query.distinct()):
            held.setdefault(row.digest, []).append(VersionId(row.id))
            signatures[VersionId(row.id)] = row.signature or b""
    return Holders(total=total, versions=held, signatures=signatures)


def record(connection: Connection, kb: KbId, target: int, wanted: Sequence[Boilerplate]) -> None:
    """Let these and no others be in force from a run's target on. What was in force before stays as it was decided."""
    digests = {one.digest for one in wanted}
    mine = _table.c.kb_id == kb
    # Whatever was decided for this snapshot before is decided anew: a run that died may have seen other documents.
    take_back(connection, kb, target)
    open_ones = {
        row.digest for row in connection.execute(select(_table.c.digest).where(mine, _table.c.valid_to == OPEN))
    }
    for batch in batches(sorted(open_ones - digests)):
        ended = update(_table).where(mine, _table.c.valid_to == OPEN, _table.c.digest.in_(batch))
        connection.execute(ended.values(valid_to=target))
    new = [one for one in wanted if one.digest not in open_ones]
    before = _last_of(connection, kb, [one.digest for one in new])
    if new:
        connection.execute(insert(_table), [_values(_as_ruled(one, before.get(one.digest)), target) for one in new])


def take_back(connection: Connection, kb: KbId, target: int) -> None:
    """Forget what was decided for a snapshot that is not published, and put what would have ended in force again."""
    mine = _table.c.kb_id == kb
    connection.execute(delete(_table).where(mine, _table.c.valid_from == target))
    connection.execute(update(_table).where(mine, _table.c.valid_to == target).values(valid_to=OPEN))


def _last_of(connection: Connection, kb: KbId, digests: Sequence[str]) -> dict[str, Boilerplate]:
    """Return the newest decision about each paragraph that was one before."""
    found: dict[str, Boilerplate] = {}
    for batch in batches(digests):
        query = select(_table).where(_table.c.kb_id == kb, _table.c.digest.in_(batch)).order_by(_table.c.valid_from)
        found |= {row.digest: _decision_of(row) for row in connection.execute(query)}
    return found


def _as_ruled(one: Boilerplate, before: Boilerplate | None) -> Boilerplate:
    """Carry a person's word over to the same paragraph."""
    if before is None or not before.history:
        return one
    return replace(one, state=before.state, history=before.history)


def in_force(connection: Connection, kb: KbId, snapshot: int) -> list[Boilerplate]:
    """Return the decisions that a snapshot is read with, whatever their state, by digest."""
    query = select(_table).where(_table.c.kb_id == kb, _table.c.valid_from <= snapshot, _table.c.valid_to > snapshot)
    return [_decision_of(row) for row in connection.execute(query.order_by(_table.c.digest))]


def places(connection: Connection, kb: KbId, snapshot: int, digests: Collection[str]) -> dict[str, list[Place]]:
    """Return where paragraphs stand in the documents of a snapshot, by source and place."""
    found: dict[str, list[Place]] = {digest: [] for digest in digests}
    columns = (_blocks.c.digest, _blocks.c.start, _blocks.c.stop, _versions.c.id, _versions.c.document_id)
    query = select(*columns).join_from(_blocks, _versions, _versions.c.id == _blocks.c.version_id)
    for batch in batches(sorted(found)):
        shown = query.where(
            _blocks.c.digest.in_(batch),
            _versions.c.kb_id == kb,
            _versions.c.valid_from <= snapshot,
            _versions.c.valid_to > snapshot,
        )
        for row in connection.execute(shown.order_by(_versions.c.source, _blocks.c.ordinal)):
            found[row.digest].append(
                Place(
                    version_id=VersionId(row.id),
                    document_id=DocumentId(row.document_id),
                    span=Span(row.start, row.stop),
                )
            )
    return found


def decide(connection: Connection, kb: KbId, snapshot: int, digests: Sequence[str], ruling: BoilerplateRuling) -> None:
    """Let a person's word stand over the rule's for what a snapshot is read with, all or none."""
    mine = (_table.c.kb_id == kb, _table.c.valid_from <= snapshot, _table.c.valid_to > snapshot)
    for digest in digests:
        row = connection.execute(select(_table).where(*mine, _table.c.digest == digest)).one_or_none()
        if row is None:
            raise NotFoundError(f"There is no decision about paragraph {digest!r}.")
        history = json.dumps([*json.loads(row.history), asdict(ruling)])
        changed = update(_table).where(*mine, _table.c.digest == digest)
        connection.execute(changed.values(state=ruling.state.value, history=history))


def forget(connection: Connection, kb: KbId, oldest: int) -> None:
    """Drop what no snapshot from `oldest` on is read with, except what people said."""
    ended = (_table.c.kb_id == kb, _table.c.valid_to <= oldest, _table.c.history == "[]")
    connection.execute(delete(_table).where(*ended))


def spans_in(
    connection: Connection, kb: KbId, snapshot: int, versions: Collection[VersionId]
) -> dict[VersionId, tuple[Span, ...]]:
    """Return where such paragraphs stand in versions, as a snapshot is read; only those that hold one."""
    found: dict[VersionId, list[Span]] = {}
    for row in rows_with(connection, _LOWERED, _blocks.c.version_id, versions, kb=kb, snapshot=snapshot):
        found.setdefault(VersionId(row.version_id), []).append(Span(row.start, row.stop))
    return {version: tuple(sorted(spans)) for version, spans in found.items()}


def marked(chunks: Mapping[ChunkId, Chunk], furniture: Mapping[VersionId, Iterable[Span]]) -> dict[ChunkId, Chunk]:
    """Return the chunks, those that are made of such paragraphs with that mark."""
    return {
        id: replace(chunk, mark=BOILERPLATE) if _is_made_of(chunk, furniture.get(chunk.version_id, ())) else chunk
        for id, chunk in chunks.items()
    }


def _is_made_of(chunk: Chunk, furniture: Iterable[Span]) -> bool:
    if chunk.mark or chunk.level is not ChunkLevel.CHILD:
        return False
    shared = sum(max(0, min(chunk.span.end, span.end) - max(chunk.span.start, span.start)) for span in furniture)
    return shared >= _MADE_OF * len(chunk.span) > 0


def _values(one: Boilerplate, target: int) -> rows.Values:
    return {
        "kb_id": one.kb_id,
        "digest": one.digest,
        "valid_from": target,
        "valid_to": OPEN,
        "documents": one.documents,
        "total": one.total,
        "state": one.state.value,
        "created_at": one.created_at,
        "history": json.dumps([asdict(ruling) for ruling in one.history]),
    }


def _decision_of(row: Row[Any]) -> Boilerplate:
    rulings: list[dict[str, Any]] = json.loads(row.history)
    return Boilerplate(
        digest=row.digest,
        kb_id=KbId(row.kb_id),
        documents=row.documents,
        total=row.total,
        created_at=row.created_at,
        state=BoilerplateState(row.state),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        history=tuple(BoilerplateRuling(**{**each, "state": BoilerplateState(each["state"])}) for each in rulings),
    )
