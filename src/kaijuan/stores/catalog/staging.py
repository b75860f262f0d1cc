"""Runs before they are published: staged versions, retirements, the outbox, and taking it all back."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from kaijuan.core.documents import Block, Chunk, ChunkLevel, Version
from kaijuan.core.ids import DocumentId, KbId, RunId, VersionId, stable_id
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import BusyError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import IndexChange, OutboxEntry, Run, RunItem, RunState
from kaijuan.stores.catalog import rows, tables
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import batches, insert_missing

_runs, _versions, _documents, _outbox = (
    tables.ingestion_run,
    tables.document_version,
    tables.document,
    tables.outbox,
)
_LONGEST_REASON = 1000


def begin_run(connection: Connection, kb: KbId, kind: str, now: float) -> Run:
    """Start the one run of a base; BusyError while another is unfinished."""
    base = kb_by_id(connection, kb)
    if running := unfinished_runs(connection, kb):
        # Two runs would share one target, and rolling one back would open what the other closed.
        raise BusyError(f"Run {running[0].id} of this knowledge base is not finished.", hint="Roll it back first.")
    last = connection.execute(select(func.max(_runs.c.number)).where(_runs.c.kb_id == kb)).scalar()
    number = (last or 0) + 1
    values = {
        "id": stable_id("run", kb, number),
        "kb_id": kb,
        "kind": kind,
        "target": base.head + 1,
        "state": RunState.RUNNING.value,
        "started_at": now,
        "finished_at": None,
        "number": number,
        "reason": "",
    }
    connection.execute(insert(_runs), values)
    return _run(connection, RunId(str(values["id"])))


def _run(connection: Connection, run: RunId) -> Run:
    row = connection.execute(select(_runs).where(_runs.c.id == run)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no run {run!r}.")
    return rows.run_of(row)


def running(connection: Connection, run: Run) -> Run:
    """Return the run as stored; StoreError when it has ended, so that a late writer changes nothing."""
    stored = _run(connection, run.id)
    if stored.state is not RunState.RUNNING:
        raise StoreError(f"Run {run.id} has ended ({stored.state.value}); it can change nothing any more.")
    return stored


def unfinished_runs(connection: Connection, kb: KbId) -> list[Run]:
    """Return the runs that were neither published nor rolled back, oldest first."""
    query = select(_runs).where(_runs.c.kb_id == kb, _runs.c.state == RunState.RUNNING.value)
    return [rows.run_of(row) for row in connection.execute(query.order_by(_runs.c.number))]


def stage(connection: Connection, run: Run, version: Version, blocks: Sequence[Block], chunks: Sequence[Chunk]) -> None:
    """Insert a version with its blocks, chunks and outbox entry, and retire what it replaces. Repeatable."""
    target = running(connection, run).target
    if _staged(connection, version.id, target):
        return
    _number(connection, version)
    children = sum(chunk.level is ChunkLevel.CHILD for chunk in chunks)
    values = rows.version_values(version, run, children) | {"valid_from": target, "valid_to": OPEN}
    replaced = (_versions.c.document_id == version.document_id, _versions.c.valid_to == OPEN)
    for row in connection.execute(select(_versions.c.id).where(*replaced)).all():
        _close(connection, run, target, row.id)
    connection.execute(insert(_versions), values)
    if blocks:
        connection.execute(insert(tables.block), [rows.block_values(block, version.id) for block in blocks])
    if chunks:
        connection.execute(insert(tables.chunk), [rows.chunk_values(chunk) for chunk in chunks])
    _enqueue(connection, run, target, version.id, IndexChange.UPSERT)


def _staged(connection: Connection, version: VersionId, target: int) -> bool:
    valid_from = connection.execute(select(_versions.c.valid_from).where(_versions.c.id == version)).scalar()
    if valid_from is not None and valid_from != target:
        raise UsageError(f"Version {version} was published in snapshot {valid_from}; versions never change.")
    return valid_from is not None


def _number(connection: Connection, version: Version) -> None:
    document = {"id": version.document_id, "kb_id": version.kb_id, "source": version.source, "last_number": 0}
    insert_missing(connection, _documents, [document])
    raised = connection.execute(
        update(_documents)
        .where(_documents.c.id == version.document_id, _documents.c.last_number < version.number)
        .values(last_number=version.number)
    )
    if raised.rowcount == 0:
        raise UsageError(f"{version.source} already has a version {version.number} or a later one.")


def retire(connection: Connection, run: Run, version: VersionId) -> None:
    """Close a version at the run's target, with its outbox entry. What is closed already stays as it is."""
    target = running(connection, run).target
    query = select(_versions.c.valid_to).where(_versions.c.id == version, _versions.c.kb_id == run.kb_id)
    valid_to = connection.execute(query).scalar()
    if valid_to is None:
        raise NotFoundError(f"There is no version {version!r}.")
    if valid_to == OPEN:
        _close(connection, run, target, version)


def _close(connection: Connection, run: Run, target: int, version: VersionId) -> None:
    connection.execute(update(_versions).where(_versions.c.id == version).values(valid_to=target))
    _enqueue(connection, run, target, version, IndexChange.CLOSE)


def _enqueue(connection: Connection, run: Run, target: int, version: VersionId, change: IndexChange) -> None:
    values = {"kb_id": run.kb_id, "version_id": version, "change": change.value, "snapshot": target}
    connection.execute(insert(_outbox), values)


def record_item(connection: Connection, run: RunId, item: RunItem) -> None:
    """Add a line to the run's report."""
    values = {
        "run_id": run,
        "source": _shown(item.source),
        "state": item.state.value,
        "code": item.code,
        "message": _shown(item.message),
        "version_id": item.version_id,
    }
    connection.execute(insert(tables.ingestion_item), values)


def _shown(text: str) -> str:
    # A line of a report is for people; odd bytes in a name or message must not end the run that reports them.
    return text.encode("utf-8", "backslashreplace").decode()


def pending(connection: Connection, kb: KbId, limit: int, after: int) -> list[OutboxEntry]:
    """Return entries not yet marked, in order of sequence."""
    query = select(_outbox).where(_outbox.c.kb_id == kb, _outbox.c.sequence > after)
    return [rows.entry_of(row) for row in connection.execute(query.order_by(_outbox.c.sequence).limit(limit))]


def mark_applied(connection: Connection, sequences: Collection[int]) -> None:
    """Drop the entries: the index has followed."""
    for batch in batches(sequences):
        connection.execute(delete(_outbox).where(_outbox.c.sequence.in_(batch)))


def roll_back(connection: Connection, run: Run, now: float, reason: str) -> None:
    """Take everything back that the run staged, and open what it closed. Repeatable."""
    stored = _run(connection, run.id)
    if stored.state is RunState.ROLLED_BACK:
        return
    if stored.state is RunState.PUBLISHED:
        raise StoreError(f"Run {run.id} is published and cannot be rolled back.")
    mine = _versions.c.run_id == run.id
    _lower_numbers(connection, mine)
    connection.execute(delete(_versions).where(mine))
    unused = (_documents.c.kb_id == run.kb_id, _documents.c.last_number == 0)
    connection.execute(delete(_documents).where(*unused))
    closed = (_versions.c.kb_id == run.kb_id, _versions.c.valid_to == stored.target)
    connection.execute(update(_versions).where(*closed).values(valid_to=OPEN))
    connection.execute(delete(_outbox).where(_outbox.c.kb_id == run.kb_id, _outbox.c.snapshot == stored.target))
    finish(connection, run, RunState.ROLLED_BACK, now, reason)


def _lower_numbers(connection: Connection, mine: ColumnElement[bool]) -> None:
    # The same run made again must give the same numbers, and so the same ids.
    staged: list[Any] = list(connection.execute(select(_versions.c.document_id, _versions.c.number).where(mine)))
    for row in sorted(staged, key=lambda row: -row.number):
        document = _documents.c.id == DocumentId(row.document_id)
        connection.execute(update(_documents).where(document).values(last_number=row.number - 1))


def finish(connection: Connection, run: Run, state: RunState, now: float, reason: str = "") -> None:
    """End a run."""
    values = {"state": state.value, "finished_at": now, "reason": _shown(reason[:_LONGEST_REASON])}
    connection.execute(update(_runs).where(_runs.c.id == run.id).values(**values))
