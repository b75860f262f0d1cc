"""What runs say of themselves."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, func, select, update

from kaijuan.core.ids import RunId, VersionId
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import RunState
from kaijuan.index.history import RunNote
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.connection import batches

_runs, _versions = tables.ingestion_run, tables.document_version


def note_run(connection: Connection, run: RunId, request: str | None, progress: str | None) -> str:
    """Keep what was asked for or how far a run is; return who wants it to stop."""
    values = {name: value for name, value in (("request", request), ("progress", progress)) if value is not None}
    if values:
        connection.execute(update(_runs).where(_runs.c.id == run).values(**values))
    return str(connection.execute(select(_runs.c.cancelled).where(_runs.c.id == run)).scalar_one_or_none() or "")


def run_notes(connection: Connection, runs: Collection[RunId]) -> dict[RunId, RunNote]:
    """Return what is known of these runs."""
    columns = (_runs.c.id, _runs.c.request, _runs.c.progress, _runs.c.cancelled)
    found: dict[RunId, RunNote] = {}
    for batch in batches(runs):
        for row in connection.execute(select(*columns).where(_runs.c.id.in_(batch))):
            found[RunId(row.id)] = RunNote(request=row.request, progress=row.progress, cancelled=row.cancelled)
    return found


def item_counts(connection: Connection, runs: Collection[RunId]) -> dict[RunId, dict[str, int]]:
    """Return how many lines of each state the reports of runs have."""
    lines = tables.ingestion_item
    found: dict[RunId, dict[str, int]] = {run: {} for run in runs}
    for batch in batches(runs):
        query = select(lines.c.run_id, lines.c.state, func.count()).where(lines.c.run_id.in_(batch))
        for run, state, count in connection.execute(query.group_by(lines.c.run_id, lines.c.state)):
            found[RunId(run)][state] = count
    return found


def cancel_run(connection: Connection, run: RunId, by: str) -> None:
    """Ask a running run to stop."""
    state = connection.execute(select(_runs.c.state).where(_runs.c.id == run)).scalar_one_or_none()
    if state is None:
        raise NotFoundError(f"There is no run {run!r}.", hint="`kaijuan runs list` shows them.")
    if state != RunState.RUNNING.value:
        raise UsageError(f"Run {run[:8]} has ended already.")
    connection.execute(update(_runs).where(_runs.c.id == run).values(cancelled=by))


def versions_staged(connection: Connection, run: RunId) -> list[VersionId]:
    """Return the versions that a run staged."""
    return [VersionId(row.id) for row in connection.execute(select(_versions.c.id).where(_versions.c.run_id == run))]
