"""A whole knowledge base as rows of its tables, out and in; and what the database finds wrong with itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Select, Table, delete, func, insert, select, update

from kaijuan.core.ids import KbId, RunId, stable_id
from kaijuan.errors import CorruptStoreError, UsageError
from kaijuan.index.catalog import RunState
from kaijuan.stores.catalog import tables

_LEFT_OUT = frozenset(
    {"tenant", "lease", "outbox", "trace", "source_mark", "embedding_space", "model_trial", "alembic_version"}
)
"""What belongs to this home: who is at work, what was asked, how files looked here, and which index serves."""
IMPORT = "import"
_MANY = 1000
_bases, _runs, _versions = tables.knowledge_base, tables.ingestion_run, tables.document_version


def carried() -> list[Table]:
    """Return the tables whose rows belong to one base and go with it, parents first."""
    return [
        table
        for table in tables.metadata.sorted_tables
        if table.name not in _LEFT_OUT and _rows_of(table, KbId("")) is not None
    ]


def _rows_of(table: Table, kb: KbId) -> Select[Any] | None:
    """Return the rows of a base in a table; None when the table is not about bases."""
    if table is _bases:
        return select(table).where(table.c.id == kb)
    if "kb_id" in table.c:
        return select(table).where(table.c.kb_id == kb)
    for column, parent in (("version_id", _versions), ("run_id", _runs)):
        if column in table.c:
            return select(table).where(table.c[column].in_(select(parent.c.id).where(parent.c.kb_id == kb)))
    return None


def dump(connection: Connection, kb: KbId) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (table, row) of everything that belongs to a base and was published, parents first."""
    streaming = connection.execution_options(stream_results=True)
    for table in carried():
        query = _rows_of(table, kb)
        assert query is not None
        for row in streaming.execute(query):
            yield table.name, dict(row._mapping)


def load(connection: Connection, kb: KbId, found: Iterator[tuple[str, Mapping[str, Any]]], now: float) -> RunId:
    """Fill an empty base with rows that readers do not see yet, with one unfinished run that empties it again."""
    held = select(func.count()).select_from(_versions).where(_versions.c.kb_id == kb)
    base = connection.execute(select(_bases).where(_bases.c.id == kb)).one()
    if base.head or connection.execute(held).scalar_one():
        raise UsageError(
            f"The knowledge base {base.name!r} of this home is not empty.", hint="Import into another home with --home."
        )
    empty_base(connection, kb)
    bindings = tables.acl_binding
    connection.execute(delete(bindings).where(bindings.c.kb_id == kb))
    known = {table.name: table for table in carried()}
    waiting: list[dict[str, Any]] = []
    current = ""
    for name, row in found:
        if name not in known:
            raise CorruptStoreError(f"The archive has rows of {name!r}, which is no table of a knowledge base.")
        if name != current or len(waiting) >= _MANY:
            _insert(connection, known.get(current), waiting)
            current, waiting = name, []
        waiting.append({column.name: row[column.name] for column in known[name].c if column.name in row})
    _insert(connection, known.get(current), waiting)
    return _begin(connection, kb, now)


def _insert(connection: Connection, table: Table | None, values: list[dict[str, Any]]) -> None:
    if table is None or not values:
        return
    if table is _bases:
        kept = {name: values[0][name] for name in ("policy_version", "created_at")}
        connection.execute(update(_bases).where(_bases.c.id == values[0]["id"]).values(**kept))
        return
    # Numbers that a database gives are its own: those of the archive may be taken here.
    given = [column.name for column in table.primary_key if column.autoincrement is True]
    connection.execute(insert(table), [{k: v for k, v in row.items() if k not in given} for row in values])


def _begin(connection: Connection, kb: KbId, now: float) -> RunId:
    last = connection.execute(select(func.max(_runs.c.number)).where(_runs.c.kb_id == kb)).scalar() or 0
    values = {
        "id": stable_id("run", kb, last + 1),
        "kb_id": kb,
        "kind": IMPORT,
        "target": 0,
        "state": RunState.RUNNING.value,
        "started_at": now,
        "number": last + 1,
    }
    connection.execute(insert(_runs), values)
    return RunId(str(values["id"]))


def finish_import(connection: Connection, run: RunId, head: int, space: str, now: float) -> None:
    """Let readers see the base that was loaded."""
    kb = connection.execute(select(_runs.c.kb_id).where(_runs.c.id == run)).scalar_one()
    connection.execute(update(_bases).where(_bases.c.id == kb).values(head=head, space=space))
    ended = {"state": RunState.PUBLISHED.value, "finished_at": now, "target": head}
    connection.execute(update(_runs).where(_runs.c.id == run).values(**ended))


def empty_base(connection: Connection, kb: KbId) -> None:
    """Remove everything of a base but its name and who holds its lease."""
    for table in reversed(tables.metadata.sorted_tables):
        if "kb_id" in table.c and table.name != "lease":
            # What hangs on versions and runs goes with them. Who may read the base stays: else nobody could.
            mine = [table.c.kb_id == kb] + ([table.c.resource != kb] if table is tables.acl_binding else [])
            connection.execute(delete(table).where(*mine))


def check_integrity(connection: Connection) -> list[str]:
    """Return what the database finds wrong with itself."""
    if connection.dialect.name != "sqlite":
        return []
    found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
    faults = [] if found == ["ok"] else found
    lost = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(20)
    return faults + [f"a row of {row[0]} refers to a row of {row[2]} that is missing" for row in lost]
