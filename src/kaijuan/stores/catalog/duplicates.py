"""Versions that say the same: their signatures, and what was decided about each pair, by rule or by a person."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, update

from kaijuan.core.duplicates import Duplicate, DuplicateKind, DuplicateState, Ruling
from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Run, Signed
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.connection import batches, rows_with
from kaijuan.stores.catalog.publishing import visible_at
from kaijuan.stores.catalog.staging import running

_pairs, _versions = tables.duplicate, tables.document_version
_PAIRS: Select[Any] = select(_pairs)
_GROUPS: Select[Any] = select(_pairs.c.version_id, _pairs.c.group_id).where(
    _pairs.c.state == DuplicateState.MERGED.value
)


def signatures(connection: Connection, run: Run) -> list[Signed]:
    """Return what the run leaves open for its snapshot and has a signature, oldest first."""
    query = (
        select(_versions.c.id, _versions.c.signature, _versions.c.run_id)
        .where(_versions.c.kb_id == run.kb_id, _versions.c.valid_to == OPEN, _versions.c.signature.is_not(None))
        .order_by(_versions.c.valid_from, _versions.c.source)
    )
    return [
        Signed(version=VersionId(row.id), signature=row.signature, fresh=row.run_id == run.id)
        for row in connection.execute(query)
    ]


def record(connection: Connection, run: Run, found: Sequence[Duplicate]) -> None:
    """Keep decisions about versions that the run stages. Repeatable."""
    running(connection, run)
    for batch in batches([one.version_id for one in found]):
        connection.execute(delete(_pairs).where(_pairs.c.version_id.in_(batch)))
    if found:
        connection.execute(insert(_pairs), [_values(one) for one in found])


def ruled(connection: Connection, kb: KbId) -> list[Duplicate]:
    """Return the decisions that people took, oldest first."""
    query = _PAIRS.where(_pairs.c.kb_id == kb, _pairs.c.history != "[]").order_by(_pairs.c.created_at)
    return [_pair_of(row) for row in connection.execute(query)]


def duplicates(connection: Connection, kb: KbId, snapshot: int) -> list[Duplicate]:
    """Return the decisions of which both versions are visible, oldest first."""
    shown = select(_versions.c.id).where(*visible_at(kb, snapshot))
    query = _PAIRS.where(_pairs.c.kb_id == kb, _pairs.c.version_id.in_(shown), _pairs.c.other_id.in_(shown))
    ordered = query.order_by(_pairs.c.created_at, _pairs.c.version_id)
    return [_pair_of(row) for row in connection.execute(ordered)]


def decide(connection: Connection, versions: Sequence[VersionId], ruling: Ruling) -> None:
    """Let a person's word stand over the rule's, all or none."""
    for version in versions:
        row = connection.execute(_PAIRS.where(_pairs.c.version_id == version)).one_or_none()
        if row is None:
            raise NotFoundError(f"There is no decision about version {version!r}.")
        history = json.dumps([*json.loads(row.history), asdict(ruling)])
        values = {"state": ruling.state.value, "history": history}
        connection.execute(update(_pairs).where(_pairs.c.version_id == version).values(**values))


def groups_of(connection: Connection, versions: Collection[VersionId]) -> dict[VersionId, VersionId]:
    """Return the group of each version that is merged with an earlier one."""
    found = rows_with(connection, _GROUPS, _pairs.c.version_id, versions)
    return {VersionId(row.version_id): VersionId(row.group_id) for row in found}


def _values(one: Duplicate) -> dict[str, object]:
    return {
        "version_id": one.version_id,
        "other_id": one.other_id,
        "group_id": one.group_id,
        "kb_id": one.kb_id,
        "document_id": one.document_id,
        "other_document_id": one.other_document_id,
        "kind": one.kind.value,
        "similarity": one.similarity,
        "reason": one.reason.encode("utf-8", "backslashreplace").decode(),
        "state": one.state.value,
        "created_at": one.created_at,
        "history": json.dumps([asdict(ruling) for ruling in one.history]),
    }


def _pair_of(row: Row[Any]) -> Duplicate:
    rulings: list[dict[str, Any]] = json.loads(row.history)
    return Duplicate(
        version_id=VersionId(row.version_id),
        other_id=VersionId(row.other_id),
        group_id=VersionId(row.group_id),
        kb_id=KbId(row.kb_id),
        document_id=DocumentId(row.document_id),
        other_document_id=DocumentId(row.other_document_id),
        kind=DuplicateKind(row.kind),
        similarity=row.similarity,
        reason=row.reason,
        state=DuplicateState(row.state),
        created_at=row.created_at,
        history=tuple(Ruling(**{**each, "state": DuplicateState(each["state"])}) for each in rulings),
    )
