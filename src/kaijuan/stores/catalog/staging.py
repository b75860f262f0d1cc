"""Runs before they are published: staged versions, retirements, the outbox, and taking it all back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, func, insert, select, update

from kaijuan.core.boilerplate import Boilerplate
from kaijuan.core.chunk_work import ChunkWork
from kaijuan.core.documents import ChunkLevel, Version
from kaijuan.core.ids import DocumentId, KbId, RunId, VersionId, stable_id
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import BusyError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import IndexChange, OutboxEntry, Run, RunItem, RunState, Staged
from kaijuan.stores.catalog import boilerplate, chunk_works, rows, tables
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import batches, rows_with
from kaijuan.stores.catalog.marks import forget_marks
from kaijuan.stores.catalog.transfer import IMPORT, empty_base

_runs, _versions, _documents, _outbox = (
    tables.ingestion_run,
    tables.document_version,
    tables.document,
    tables.outbox,
)
_LONGEST_REASON = 1000
_OPEN_VERSIONS = select(_versions.c.id).where(_versions.c.valid_to == OPEN)
_BEGINNINGS = select(_versions.c.id, _versions.c.valid_from)
_ENDS = select(_versions.c.id, _versions.c.kb_id, _versions.c.valid_to)
_END = update(_versions).where(_versions.c.id == bindparam("version")).values(valid_to=bindparam("target"))
_SOURCES = select(_versions.c.id, _versions.c.source)
_NUMBERS = select(_documents.c.id, _documents.c.last_number)
_RENUMBER = update(_documents).where(_documents.c.id == bindparam("document")).values(last_number=bindparam("number"))


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


def stage(connection: Connection, run: Run, staged: Sequence[Staged]) -> None:
    """Insert versions with their blocks, chunks and outbox entries, and retire what they replace. Repeatable."""
    target = running(connection, run).target
    there = _staged(connection, [one.version.id for one in staged], target)
    fresh = [one for one in staged if one.version.id not in there]
    documents = _number(connection, [one.version for one in fresh])
    replaced = rows_with(connection, _OPEN_VERSIONS, _versions.c.document_id, documents)
    _close(connection, run, target, [row.id for row in replaced])
    _insert(connection, _versions, [_version_values(one, run, target) for one in fresh])
    _insert(
        connection, tables.block, [rows.block_values(block, one.version.id) for one in fresh for block in one.blocks]
    )
    _insert(connection, tables.chunk, [rows.chunk_values(chunk) for one in fresh for chunk in one.chunks])
    _insert(
        connection,
        tables.abbreviation,
        [
            rows.abbreviation_values(found, one.version.id, at)
            for one in fresh
            for at, found in enumerate(one.abbreviations)
        ],
    )
    chunk_works.stage_misses(connection, fresh)
    _enqueue(connection, run, target, [one.version.id for one in fresh], IndexChange.UPSERT)


def _insert(connection: Connection, table: Table, values: Sequence[rows.Values]) -> None:
    if values:  # an empty list would insert a row of defaults
        connection.execute(insert(table), values)


def _version_values(one: Staged, run: Run, target: int) -> rows.Values:
    children = sum(chunk.level is ChunkLevel.CHILD for chunk in one.chunks)
    return rows.version_values(one.version, run, children) | {"valid_from": target, "valid_to": OPEN}


def _staged(connection: Connection, versions: Sequence[VersionId], target: int) -> set[VersionId]:
    there = set()
    for row in rows_with(connection, _BEGINNINGS, _versions.c.id, versions):
        if row.valid_from != target:
            raise UsageError(f"Version {row.id} was published in snapshot {row.valid_from}; versions never change.")
        there.add(VersionId(row.id))
    return there


def _number(connection: Connection, versions: Sequence[Version]) -> list[DocumentId]:
    """Give the documents of these versions their new last number; return those that had versions before."""
    known = {row.id: row.last_number for row in rows_with(connection, _NUMBERS, _documents.c.id, _ids(versions))}
    for version in versions:
        if known.get(version.document_id, 0) >= version.number:
            raise UsageError(f"{version.source} already has a version {version.number} or a later one.")
    new = [version for version in versions if version.document_id not in known]
    _insert(connection, _documents, [_document_values(version) for version in new])
    _renumber(connection, {one.document_id: one.number for one in versions if one.document_id in known})
    return [DocumentId(id) for id in known]


def _ids(versions: Sequence[Version]) -> list[DocumentId]:
    ids = [version.document_id for version in versions]
    if len(set(ids)) < len(ids):
        raise UsageError("Two versions of one document cannot be staged at once.")
    return ids


def _document_values(version: Version) -> rows.Values:
    return {
        "id": version.document_id,
        "kb_id": version.kb_id,
        "source": version.source,
        "last_number": version.number,
    }


def _renumber(connection: Connection, numbers: Mapping[DocumentId, int]) -> None:
    if numbers:
        connection.execute(_RENUMBER, [{"document": id, "number": number} for id, number in numbers.items()])


def retire(connection: Connection, run: Run, versions: Sequence[VersionId]) -> None:
    """Close versions at the run's target, with their outbox entries. What is closed already stays as it is."""
    target = running(connection, run).target
    wanted = list(dict.fromkeys(versions))
    ends = {row.id: row for row in rows_with(connection, _ENDS, _versions.c.id, wanted)}
    for version in wanted:
        if version not in ends or ends[version].kb_id != run.kb_id:
            raise NotFoundError(f"There is no version {version!r}.")
    _close(connection, run, target, [version for version in wanted if ends[version].valid_to == OPEN])


def _close(connection: Connection, run: Run, target: int, versions: Sequence[VersionId]) -> None:
    if versions:
        connection.execute(_END, [{"version": version, "target": target} for version in versions])
        sources = [row.source for row in rows_with(connection, _SOURCES, _versions.c.id, versions)]
        # What left by hand must come back when its unchanged file is added again.
        forget_marks(connection, run.kb_id, sources)
        _enqueue(connection, run, target, versions, IndexChange.CLOSE)


def _enqueue(connection: Connection, run: Run, target: int, versions: Sequence[VersionId], change: IndexChange) -> None:
    common = {"kb_id": run.kb_id, "change": change.value, "snapshot": target}
    _insert(connection, _outbox, [common | {"version_id": version} for version in versions])


def record_work(connection: Connection, run: Run, work: Sequence[ChunkWork]) -> None:
    """Insert what somebody did to chunks, in force from the run's target on. Repeatable."""
    chunk_works.record(connection, run, running(connection, run).target, work)


def end_work(connection: Connection, run: Run, ids: Collection[str], by: str, now: float) -> None:
    """Put work out of force from the run's target on."""
    chunk_works.end(connection, run, running(connection, run).target, ids, by, now)


def record_boilerplate(connection: Connection, run: Run, wanted: Sequence[Boilerplate]) -> None:
    """Let these and no other decisions be in force from the run's target on. Repeatable."""
    boilerplate.record(connection, run.kb_id, running(connection, run).target, wanted)


def record_items(connection: Connection, run: RunId, items: Sequence[RunItem]) -> None:
    """Add lines to the run's report."""
    _insert(connection, tables.ingestion_item, [_item_values(run, item) for item in items])


def _item_values(run: RunId, item: RunItem) -> rows.Values:
    return {
        "run_id": run,
        "source": _shown(item.source),
        "state": item.state.value,
        "code": item.code,
        "message": _shown(item.message),
        "version_id": item.version_id,
    }


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
    if stored.kind == IMPORT:
        # What was loaded was never seen by readers, and is whole in its archive.
        empty_base(connection, run.kb_id)
        return
    mine = _versions.c.run_id == run.id
    _lower_numbers(connection, mine)
    connection.execute(delete(_versions).where(mine))
    unused = (_documents.c.kb_id == run.kb_id, _documents.c.last_number == 0)
    connection.execute(delete(_documents).where(*unused))
    closed = (_versions.c.kb_id == run.kb_id, _versions.c.valid_to == stored.target)
    connection.execute(update(_versions).where(*closed).values(valid_to=OPEN))
    chunk_works.take_back(connection, run, stored.target)
    boilerplate.take_back(connection, run.kb_id, stored.target)
    connection.execute(delete(_outbox).where(_outbox.c.kb_id == run.kb_id, _outbox.c.snapshot == stored.target))
    finish(connection, run, RunState.ROLLED_BACK, now, reason)


def _lower_numbers(connection: Connection, mine: ColumnElement[bool]) -> None:
    # The same run made again must give the same numbers, and so the same ids.
    staged: list[Any] = list(connection.execute(select(_versions.c.document_id, _versions.c.number).where(mine)))
    downwards = sorted(staged, key=lambda row: -row.number)
    _renumber(connection, {DocumentId(row.document_id): row.number - 1 for row in downwards})


def finish(connection: Connection, run: Run, state: RunState, now: float, reason: str = "") -> None:
    """End a run."""
    values = {"state": state.value, "finished_at": now, "reason": _shown(reason[:_LONGEST_REASON])}
    connection.execute(update(_runs).where(_runs.c.id == run.id).values(**values))
