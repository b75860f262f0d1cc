"""What people do to chunks: staged by runs, in force in an interval of snapshots, never overwritten."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from kaijuan.core.chunk_work import ChunkWork, Miss, Passage, WorkKind
from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.snapshots import OPEN
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Run, Staged
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.connection import insert_missing, rows_with

_works, _misses = tables.chunk_work, tables.chunk_work_miss
_WORKS: Select[Any] = select(_works)
_MISSES: Select[Any] = select(_misses)


def record(connection: Connection, run: Run, target: int, work: Sequence[ChunkWork]) -> None:
    """Insert work of a run. What is there already stays as it is."""
    insert_missing(connection, _works, [_values(one, run, target) for one in work])


def end(connection: Connection, run: Run, target: int, ids: Collection[str], by: str, now: float) -> None:
    """Put work out of force from the run's target on."""
    for id in dict.fromkeys(ids):
        ended = connection.execute(
            update(_works)
            .where(_works.c.id == id, _works.c.kb_id == run.kb_id, _works.c.valid_to.in_((OPEN, target)))
            .values(valid_to=target, ended_by=by, ended_at=now)
        )
        if ended.rowcount == 0:
            raise NotFoundError(f"There is no work {id!r} in force.", hint="`kaijuan chunks history` shows what is.")


def stage_misses(connection: Connection, staged: Sequence[Staged]) -> None:
    """Keep what versions could not take over; gone with them if the run is rolled back."""
    values = [
        {"version_id": one.version.id, "work_id": miss.work_id, "why": miss.why}
        for one in staged
        for miss in one.misses
    ]
    if values:
        connection.execute(insert(_misses), values)


def take_back(connection: Connection, run: Run, target: int) -> None:
    """Forget the work of a run that is rolled back, and put what it ended in force again."""
    connection.execute(delete(_works).where(_works.c.run_id == run.id))
    reopened = update(_works).where(_works.c.kb_id == run.kb_id, _works.c.valid_to == target)
    connection.execute(reopened.values(valid_to=OPEN, ended_by="", ended_at=None))


def in_force(connection: Connection, kb: KbId, snapshot: int, document: DocumentId | None) -> list[ChunkWork]:
    """Return the work in force at a snapshot, oldest first."""
    return _found(connection, kb, snapshot, document, _works.c.valid_to > snapshot)


def history(connection: Connection, kb: KbId, snapshot: int, document: DocumentId | None) -> list[ChunkWork]:
    """Return all work up to a snapshot, oldest first."""
    return _found(connection, kb, snapshot, document)


def _found(
    connection: Connection, kb: KbId, snapshot: int, document: DocumentId | None, *conditions: Any
) -> list[ChunkWork]:
    query = _WORKS.where(_works.c.kb_id == kb, _works.c.valid_from <= snapshot, *conditions)
    if document is not None:
        query = query.where(_works.c.document_id == document)
    ordered = query.order_by(_works.c.valid_from, _works.c.number, _works.c.id)
    return [_work_of(row) for row in connection.execute(ordered)]


def misses(connection: Connection, versions: Collection[VersionId]) -> dict[VersionId, list[Miss]]:
    """Return what each version could not take over."""
    found: dict[VersionId, list[Miss]] = {version: [] for version in versions}
    for row in rows_with(connection, _MISSES, _misses.c.version_id, list(found)):
        found[VersionId(row.version_id)].append(Miss(work_id=row.work_id, why=row.why))
    return found


def _values(one: ChunkWork, run: Run, target: int) -> dict[str, object]:
    place = one.passage
    return {
        "id": one.id,
        "kb_id": run.kb_id,
        "run_id": run.id,
        "document_id": one.document_id,
        "version_id": one.version_id,
        "number": one.number,
        "kind": one.kind.value,
        "start": place.span.start,
        "stop": place.span.end,
        # As JSON, which carries every character of a text; some of them no database takes.
        "quote": json.dumps(place.quote),
        "before": json.dumps(place.before),
        "after": json.dumps(place.after),
        "cuts": json.dumps(list(one.cuts)),
        "said": one.said,
        "author": one.by,
        "note": one.note,
        "created_at": one.at,
        "valid_from": target,
        "valid_to": OPEN,
        "ended_by": "",
        "ended_at": None,
    }


def _work_of(row: Row[Any]) -> ChunkWork:
    return ChunkWork(
        id=row.id,
        kb_id=KbId(row.kb_id),
        document_id=DocumentId(row.document_id),
        version_id=VersionId(row.version_id),
        number=row.number,
        kind=WorkKind(row.kind),
        passage=Passage(
            span=Span(row.start, row.stop),
            quote=json.loads(row.quote),
            before=json.loads(row.before),
            after=json.loads(row.after),
        ),
        cuts=tuple(json.loads(row.cuts)),
        said=row.said,
        by=row.author,
        note=row.note,
        at=row.created_at,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        ended_by=row.ended_by,
        ended_at=row.ended_at,
    )
