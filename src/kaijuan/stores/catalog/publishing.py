"""The lease of the one publisher, and the one transaction that moves readers to the next snapshot."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from kaijuan.core.ids import KbId
from kaijuan.core.snapshots import Snapshot
from kaijuan.errors import BusyError, NotFoundError, StoreError
from kaijuan.index.catalog import Counts, Lease, Run, RunState
from kaijuan.stores.catalog import rows, tables
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import insert_missing
from kaijuan.stores.catalog.reviews import supersede_changed
from kaijuan.stores.catalog.staging import finish, running

_leases, _snapshots, _versions = tables.lease, tables.snapshot, tables.document_version


def lease(connection: Connection, kb: KbId) -> Lease | None:
    """Return the lease of a base as it stands, expired or not."""
    row = connection.execute(select(_leases).where(_leases.c.kb_id == kb)).one_or_none()
    return None if row is None else Lease(owner=row.owner, expires_at=row.expires_at)


def acquire_lease(
    connection: Connection, kb: KbId, owner: str, now: float, seconds: float, instead_of: str | None
) -> None:
    """Become the one publisher, or renew being it; BusyError names the present owner."""
    kb_by_id(connection, kb)
    wanted = {"kb_id": kb, "owner": owner, "expires_at": now + seconds}
    if insert_missing(connection, _leases, [wanted]):
        return
    free = (_leases.c.owner == owner) | (_leases.c.expires_at <= now)
    if instead_of is not None:
        free |= _leases.c.owner == instead_of
    taken = connection.execute(
        update(_leases).where(_leases.c.kb_id == kb, free).values(owner=owner, expires_at=now + seconds)
    )
    if taken.rowcount == 0:
        present = lease(connection, kb)
        raise BusyError(f"{present.owner if present else 'Another process'} is writing to this knowledge base.")


def release_lease(connection: Connection, kb: KbId, owner: str) -> None:
    """Let others publish. Quiet when `owner` does not hold the lease."""
    connection.execute(delete(_leases).where(_leases.c.kb_id == kb, _leases.c.owner == owner))


def publish(connection: Connection, run: Run, owner: str, now: float) -> Snapshot:
    """Set head to the run's target."""
    stored = running(connection, run)
    held = lease(connection, run.kb_id)
    if held is None or held.owner != owner:
        raise BusyError(f"{held.owner if held else 'Nobody'} holds the lease of this knowledge base, not {owner}.")
    waiting = select(func.count()).select_from(tables.outbox).where(tables.outbox.c.kb_id == run.kb_id)
    if count := connection.execute(waiting).scalar_one():
        raise StoreError(f"The index has not followed {count} changes; they must be applied before publishing.")
    moved = connection.execute(
        update(tables.knowledge_base)
        .where(tables.knowledge_base.c.id == run.kb_id, tables.knowledge_base.c.head == stored.target - 1)
        .values(head=stored.target)
    )
    if moved.rowcount == 0:
        raise StoreError(f"Snapshot {stored.target} does not follow the head of this knowledge base.")
    sizes = counts(connection, run.kb_id, stored.target)
    made = Snapshot(number=stored.target, created_at=now, run_id=run.id, documents=sizes.documents, chunks=sizes.chunks)
    connection.execute(insert(_snapshots), _snapshot_values(run.kb_id, made))
    supersede_changed(connection, run, stored.target, now)
    finish(connection, run, RunState.PUBLISHED, now)
    return made


def _snapshot_values(kb: KbId, made: Snapshot) -> rows.Values:
    return {
        "kb_id": kb,
        "number": made.number,
        "created_at": made.created_at,
        "run_id": made.run_id,
        "documents": made.documents,
        "chunks": made.chunks,
    }


def visible_at(kb: KbId, number: int) -> Sequence[ColumnElement[bool]]:
    """Return the conditions on `document_version` of what a snapshot shows."""
    return (_versions.c.kb_id == kb, _versions.c.valid_from <= number, _versions.c.valid_to > number)


def counts(connection: Connection, kb: KbId, number: int) -> Counts:
    """Return the sizes at a snapshot."""
    query = select(func.count(), func.coalesce(func.sum(_versions.c.children), 0)).where(*visible_at(kb, number))
    documents, chunks = connection.execute(query).one()
    return Counts(documents=documents, chunks=int(chunks))


def snapshots(connection: Connection, kb: KbId) -> list[Snapshot]:
    """Return the snapshots of a base that are kept, oldest first."""
    kept = (_snapshots.c.kb_id == kb, _snapshots.c.dropped_at.is_(None))
    tags = tables.snapshot_tag
    named: dict[int, list[str]] = {}
    for row in connection.execute(select(tags).where(tags.c.kb_id == kb).order_by(tags.c.name)):
        named.setdefault(row.number, []).append(row.name)
    query = select(_snapshots).where(*kept).order_by(_snapshots.c.number)
    return [rows.snapshot_of(row, named.get(row.number, ())) for row in connection.execute(query)]


def snapshot_at(connection: Connection, kb: KbId, time: float) -> int:
    """Return the snapshot that was head at a time, 0 before the first."""
    kb_by_id(connection, kb)
    earlier = (_snapshots.c.kb_id == kb, _snapshots.c.created_at <= time)
    row = connection.execute(select(_snapshots).where(*earlier).order_by(_snapshots.c.number.desc()).limit(1)).first()
    if row is None:
        return 0
    if row.dropped_at is not None:
        # An earlier one that is kept shows another state than the one asked for.
        raise NotFoundError(
            f"Snapshot {row.number}, which readers saw at that time, is no longer kept.",
            hint="`kaijuan snapshots` lists those that are.",
        )
    return int(row.number)
