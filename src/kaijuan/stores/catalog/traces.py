"""Saved traces of requests, the newest of each knowledge base."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from kaijuan.core.ids import KbId
from kaijuan.index.catalog import StoredTrace
from kaijuan.stores.catalog import rows, tables

_traces = tables.trace


def save_trace(connection: Connection, trace: StoredTrace, keep: int) -> None:
    """Store a trace (again, if its id is known) and drop all but the newest `keep` of its base."""
    connection.execute(delete(_traces).where(_traces.c.id == trace.id))
    connection.execute(insert(_traces), rows.trace_values(trace))
    ours = select(_traces.c.id).where(_traces.c.kb_id == trace.kb_id)
    newest = ours.order_by(_traces.c.created_at.desc(), _traces.c.id.desc()).limit(keep)
    connection.execute(delete(_traces).where(_traces.c.kb_id == trace.kb_id, _traces.c.id.not_in(newest)))


def traces(connection: Connection, kb: KbId, limit: int) -> list[StoredTrace]:
    """Return the newest traces of a base, newest first."""
    query = select(_traces).where(_traces.c.kb_id == kb).order_by(_traces.c.created_at.desc(), _traces.c.id.desc())
    return [rows.trace_of(row) for row in connection.execute(query.limit(limit))]
