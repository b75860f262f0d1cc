"""What is kept how long: names of snapshots, dropping those nobody needs, removing documents from all of them."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, or_, select, update

from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.snapshots import OPEN, SnapshotTag
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import RunState
from kaijuan.index.catalog_queue import JobState
from kaijuan.index.history import Dropped
from kaijuan.stores.catalog import boilerplate, tables
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import batches
from kaijuan.stores.catalog.publishing import counts
from kaijuan.stores.catalog.reading import BEFORE_NAME, SHORTEST_ID

_jobs = tables.job
_tags, _snapshots, _versions, _runs = (
    tables.snapshot_tag,
    tables.snapshot,
    tables.document_version,
    tables.ingestion_run,
)
_UPWARDS = re.compile(r"^(\.{1,2}/)+")
_NOT_BLOBS = frozenset({"content_hash"})


def tag_snapshot(connection: Connection, kb: KbId, tag: SnapshotTag) -> None:
    """Give a kept snapshot a name."""
    wanted = (_snapshots.c.kb_id == kb, _snapshots.c.number == tag.number, _snapshots.c.dropped_at.is_(None))
    if connection.execute(select(_snapshots.c.number).where(*wanted)).one_or_none() is None:
        raise NotFoundError(
            f"There is no snapshot {tag.number}.", hint="`kaijuan snapshots` lists those that are kept."
        )
    mine = (_tags.c.kb_id == kb, _tags.c.name == tag.name)
    there = connection.execute(select(_tags.c.number).where(*mine)).scalar_one_or_none()
    if there is not None and there != tag.number:
        raise UsageError(f"The tag {tag.name!r} names snapshot {there}.", hint="Remove it first: `snapshots untag`.")
    connection.execute(delete(_tags).where(*mine))
    values = {"name": tag.name, "number": tag.number, "note": tag.note, "created_at": tag.created_at}
    connection.execute(insert(_tags), values | {"kb_id": kb})


def untag_snapshot(connection: Connection, kb: KbId, name: str) -> None:
    """Take a name away."""
    gone = connection.execute(delete(_tags).where(_tags.c.kb_id == kb, _tags.c.name == name))
    if gone.rowcount == 0:
        raise NotFoundError(f"There is no tag {name!r}.", hint="`kaijuan snapshots` shows the tags.")


def snapshot_tags(connection: Connection, kb: KbId) -> list[SnapshotTag]:
    """Return the names by snapshot, then name."""
    query = select(_tags).where(_tags.c.kb_id == kb).order_by(_tags.c.number, _tags.c.name)
    return [
        SnapshotTag(name=row.name, number=row.number, created_at=row.created_at, note=row.note)
        for row in connection.execute(query)
    ]


def drop_snapshots(connection: Connection, kb: KbId, kept: Collection[int], now: float) -> Dropped:
    """Keep only these snapshots and head, and of the versions those that one of them shows."""
    head = kb_by_id(connection, kb).head
    stay = sorted({*kept, head})
    mine = (_snapshots.c.kb_id == kb, _snapshots.c.dropped_at.is_(None))
    there = [row.number for row in connection.execute(select(_snapshots.c.number).where(*mine))]
    going = sorted(set(there) - set(stay))
    for batch in batches(going):
        connection.execute(
            update(_snapshots).where(_snapshots.c.kb_id == kb, _snapshots.c.number.in_(batch)).values(dropped_at=now)
        )
        connection.execute(delete(_tags).where(_tags.c.kb_id == kb, _tags.c.number.in_(batch)))
    columns = (_versions.c.id, _versions.c.valid_from, _versions.c.valid_to, _versions.c.children)
    ended = select(*columns).where(_versions.c.kb_id == kb, _versions.c.valid_to <= head)
    unseen = [row for row in connection.execute(ended) if not seen_in(stay, row.valid_from, row.valid_to)]
    _delete_versions(connection, [VersionId(row.id) for row in unseen])
    boilerplate.forget(connection, kb, stay[0])
    return Dropped(snapshots=tuple(going), versions=len(unseen), chunks=sum(row.children for row in unseen))


def seen_in(numbers: Sequence[int], valid_from: int, valid_to: int) -> bool:
    """Say whether one of these ascending snapshot numbers lies in an interval."""
    at = bisect_left(numbers, valid_from)
    return at < len(numbers) and numbers[at] < valid_to


def _delete_versions(connection: Connection, versions: Sequence[VersionId]) -> None:
    for batch in batches(versions):
        # Blocks, chunks and decisions about them go with their version.
        connection.execute(delete(_versions).where(_versions.c.id.in_(batch)))


def purge_documents(connection: Connection, kb: KbId, documents: Collection[DocumentId]) -> Dropped:
    """Remove every trace of documents that head does not show."""
    head = kb_by_id(connection, kb).head
    dropped: list[Any] = []
    for batch in batches(sorted(documents)):
        columns = (_versions.c.id, _versions.c.valid_to, _versions.c.children, _versions.c.source)
        mine = (_versions.c.kb_id == kb, _versions.c.document_id.in_(batch))
        found = list(connection.execute(select(*columns).where(*mine)))
        if live := [row.source for row in found if row.valid_to > head or row.valid_to == OPEN]:
            raise UsageError(f"{live[0]} is still live.", hint="Remove it first.")
        _forget(connection, kb, batch)
        _delete_versions(connection, [VersionId(row.id) for row in found])
        connection.execute(delete(tables.document).where(tables.document.c.id.in_(batch)))
        dropped += found
    _count_again(connection, kb)
    return Dropped(versions=len(dropped), chunks=sum(row.children for row in dropped))


def _forget(connection: Connection, kb: KbId, documents: Sequence[DocumentId]) -> None:
    """Remove what other tables say of documents: by their id, or by their source."""
    sources = _sources(connection, documents)
    versions = select(_versions.c.id).where(_versions.c.document_id.in_(documents))
    mine = select(_runs.c.id).where(_runs.c.kb_id == kb)
    lines = tables.ingestion_item
    connection.execute(delete(lines).where(lines.c.version_id.in_(versions)))
    connection.execute(delete(lines).where(lines.c.run_id.in_(mine), lines.c.source.in_(sources)))
    _forget_in_runs(connection, kb, documents)
    bindings = tables.acl_binding
    connection.execute(delete(bindings).where(bindings.c.kb_id == kb, bindings.c.resource.in_(documents)))
    # Which documents answered a question is kept in the trials, whatever they say of it.
    connection.execute(delete(tables.model_trial).where(tables.model_trial.c.kb_id == kb))
    for table in (tables.review, tables.source_mark):
        connection.execute(delete(table).where(table.c.kb_id == kb, table.c.source.in_(sources)))
    for table in _tables_with("document_id"):
        named = [column for column in table.c if column.name.endswith("document_id")]
        if table is not _versions and table is not tables.document:
            connection.execute(delete(table).where(or_(*(column.in_(documents) for column in named))))


def _forget_in_runs(connection: Connection, kb: KbId, documents: Sequence[DocumentId]) -> None:
    """Blank what runs were asked for, how far they were and why they failed, where it names one of the documents."""
    columns = (_versions.c.id, _versions.c.document_id, _versions.c.source)
    rows = list(connection.execute(select(*columns).where(_versions.c.document_id.in_(documents))))
    ids = {*documents, *(row.id for row in rows)}
    sources = {*(row.source for row in rows), *_sources(connection, documents)}
    marks = {*ids, *sources}
    paths = {unquote(urlsplit(source).path) for source in sources}
    kept = (_runs.c.request, _runs.c.progress, _runs.c.reason)
    for row in connection.execute(select(_runs.c.id, *kept).where(_runs.c.kb_id == kb)).all():
        said = {column.name: set(_strings(row._mapping[column.name])) for column in kept}
        blank = {name: "" for name, texts in said.items() if texts & paths or _quoted(marks, texts)}
        if any(_means(word, ids, sources) for word in _words(row.request)):
            blank["request"] = ""
        if blank:
            connection.execute(update(_runs).where(_runs.c.id == row.id).values(**blank))
    _forget_in_jobs(connection, kb, {*marks, *paths})


def _forget_in_jobs(connection: Connection, kb: KbId, names: Collection[str]) -> None:
    """Drop jobs that ask for one of the documents by itself, which would bring it back, and blank reasons that name it.

    One that is under way is left to its worker.
    """
    for row in connection.execute(select(_jobs).where(_jobs.c.kb_id == kb)).all():
        asked = {row.key, *_strings(row.request)}
        # What was sent is asked for by its path below the base.
        if asked & {*names, *(name.lstrip("/") for name in names)} and row.state != JobState.RUNNING.value:
            connection.execute(delete(_jobs).where(_jobs.c.id == row.id))
        elif _quoted(names, [row.reason]):
            connection.execute(update(_jobs).where(_jobs.c.id == row.id).values(reason=""))


def _quoted(marks: Collection[str], texts: Collection[str]) -> bool:
    return any(mark in text for mark in marks for text in texts)


def _means(word: str, ids: Collection[str], sources: Collection[str]) -> bool:
    """Say whether a word for removing means one of these documents, as readers find them by it."""
    if len(word) >= SHORTEST_ID and any(id.startswith(word) for id in ids):
        return True
    # Addresses are percent-encoded, and from the root; people write names and paths as they see them.
    seen = _UPWARDS.sub("", word)
    ends = tuple(mark + seen for mark in BEFORE_NAME)
    return bool(seen) and any(address.endswith(ends) for source in sources for address in (source, unquote(source)))


def _words(request: str) -> list[str]:
    """Return the words that a request to remove holds; none of another request."""
    try:
        asked = json.loads(request)
    except ValueError:
        return []
    return [str(word) for word in asked.get("words", ())] if isinstance(asked, dict) else []


def _sources(connection: Connection, documents: Sequence[DocumentId]) -> list[str]:
    of_them = select(tables.document.c.source).where(tables.document.c.id.in_(documents))
    return [row.source for row in connection.execute(of_them)]


def _strings(text: str) -> Iterator[str]:
    """Yield the strings of a JSON text, the text itself where it is none."""
    try:
        waiting: list[Any] = [json.loads(text)] if text else []
    except ValueError:
        waiting = [text]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list):
            waiting += value


def _tables_with(column: str) -> list[Table]:
    # Children first, so that nothing refers to a row that goes.
    return [table for table in reversed(tables.metadata.sorted_tables) if column in table.c]


def _count_again(connection: Connection, kb: KbId) -> None:
    query = select(_snapshots.c.number).where(_snapshots.c.kb_id == kb, _snapshots.c.dropped_at.is_(None))
    for number in [row.number for row in connection.execute(query)]:
        sizes = counts(connection, kb, number)
        connection.execute(
            update(_snapshots)
            .where(_snapshots.c.kb_id == kb, _snapshots.c.number == number)
            .values(documents=sizes.documents, chunks=sizes.chunks)
        )


def drop_run_lines(connection: Connection, kb: KbId, before: float) -> int:
    """Remove the lines of reports of runs that ended before a time; return how many runs lost them."""
    lines = tables.ingestion_item
    old = select(_runs.c.id).where(
        _runs.c.kb_id == kb, _runs.c.state != RunState.RUNNING.value, _runs.c.finished_at < before
    )
    having = select(func.count(func.distinct(lines.c.run_id))).where(lines.c.run_id.in_(old))
    runs = int(connection.execute(having).scalar_one())
    connection.execute(delete(lines).where(lines.c.run_id.in_(old)))
    return runs


def referenced_blobs(connection: Connection) -> set[str]:
    """Return the names of all blobs that something needs: every column that ends with _hash names one."""
    found: set[str] = set()
    for table in tables.metadata.sorted_tables:
        for column in _blob_columns(table):
            found.update(row[0] for row in connection.execute(select(column).distinct()) if row[0])
    return found


def _blob_columns(table: Table) -> list[ColumnElement[Any]]:
    return [column for column in table.c if column.name.endswith("_hash") and column.name not in _NOT_BLOBS]


def trace_texts(connection: Connection, kb: KbId) -> list[tuple[str, str]]:
    """Return (id, JSON) of every saved trace, oldest first."""
    traces = tables.trace
    query = select(traces.c.id, traces.c.body).where(traces.c.kb_id == kb).order_by(traces.c.created_at)
    return [(row.id, row.body) for row in connection.execute(query)]


def drop_traces(connection: Connection, kb: KbId, ids: Collection[str]) -> None:
    """Remove saved traces."""
    for batch in batches(ids):
        connection.execute(delete(tables.trace).where(tables.trace.c.kb_id == kb, tables.trace.c.id.in_(batch)))
