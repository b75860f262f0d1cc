"""Work that waits: asked for, claimed, extended, settled, given up."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from kaijuan.core.ids import KbId
from kaijuan.errors import BusyError, NotFoundError
from kaijuan.index.catalog_queue import Job, JobState
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.bases import kb_by_id

_jobs = tables.job
_LONGEST_REASON = 1000


def enqueue(connection: Connection, job: Job) -> Job:
    """Keep a job, unless one of the same key and request still waits."""
    kb_by_id(connection, job.kb_id)
    same = (_jobs.c.kb_id == job.kb_id, _jobs.c.key == job.key, _jobs.c.request == job.request)
    idle = _jobs.c.state.in_([JobState.WAITING.value, JobState.DEAD.value])
    row = connection.execute(select(_jobs).where(*same, idle).order_by(_jobs.c.sequence)).first()
    if row is None:
        connection.execute(insert(_jobs), {**_values(job), "run_id": ""})
        return job
    if row.state == JobState.DEAD.value:
        _change(connection, row.id, job.created_at, state=JobState.WAITING, attempts=0, not_before=0.0, reason="")
    return _by_id(connection, row.id)


def claim(connection: Connection, kb: KbId, owner: str, now: float, seconds: float, id: str = "") -> Job | None:
    """Take the oldest job that may be done now, or the one with this id."""
    _free_expired(connection, kb, now)
    blocked: set[str] = set()
    for row in connection.execute(select(_jobs).where(_jobs.c.kb_id == kb).order_by(_jobs.c.sequence)).all():
        due = row.state == JobState.WAITING.value and row.not_before <= now
        if due and row.key not in blocked and id in ("", row.id):
            _change(
                connection,
                row.id,
                now,
                state=JobState.RUNNING,
                owner=owner,
                expires_at=now + seconds,
                attempts=row.attempts + 1,
            )
            return _by_id(connection, row.id)
        if row.state != JobState.DEAD.value:
            blocked.add(row.key)
    return None


def _free_expired(connection: Connection, kb: KbId, now: float) -> None:
    expired = (_jobs.c.kb_id == kb, _jobs.c.state == JobState.RUNNING.value, _jobs.c.expires_at <= now)
    connection.execute(update(_jobs).where(*expired).values(state=JobState.WAITING.value, owner="", changed_at=now))


def release_of(connection: Connection, kb: KbId, owner: str) -> int:
    """Make what an owner holds wait again."""
    held = (_jobs.c.kb_id == kb, _jobs.c.state == JobState.RUNNING.value, _jobs.c.owner == owner)
    return connection.execute(update(_jobs).where(*held).values(state=JobState.WAITING.value, owner="")).rowcount


def extend(connection: Connection, id: str, owner: str, now: float, seconds: float) -> None:
    """Go on holding a job."""
    _check_held(connection, id, owner)
    _change(connection, id, now, expires_at=now + seconds)


def settle(connection: Connection, id: str, owner: str) -> None:
    """Forget a job that is done."""
    _check_held(connection, id, owner)
    connection.execute(delete(_jobs).where(_jobs.c.id == id))


def fail(connection: Connection, id: str, owner: str, reason: str, now: float, again_at: float | None) -> None:
    """Let a job wait for its next attempt, or give it up."""
    _check_held(connection, id, owner)
    state = JobState.DEAD if again_at is None else JobState.WAITING
    _change(connection, id, now, state=state, owner="", reason=reason[:_LONGEST_REASON], not_before=again_at or 0.0)


def jobs(connection: Connection, kb: KbId) -> list[Job]:
    """Return all that is not done, in order."""
    query = select(_jobs).where(_jobs.c.kb_id == kb).order_by(_jobs.c.sequence)
    return [_job(row) for row in connection.execute(query)]


def revive(connection: Connection, id: str, now: float) -> None:
    """Let a job be done now that nobody is at."""
    job = _by_id(connection, id)
    if job.state is not JobState.RUNNING:
        _change(connection, id, now, state=JobState.WAITING, attempts=0, not_before=0.0)


def drop(connection: Connection, id: str) -> None:
    """Forget a job that nobody is at."""
    if _by_id(connection, id).state is JobState.RUNNING:
        raise BusyError(f"Job {id[:8]} is being done.", hint="Cancel its run: `kaijuan runs cancel`.")
    connection.execute(delete(_jobs).where(_jobs.c.id == id))


def _check_held(connection: Connection, id: str, owner: str) -> None:
    held = select(_jobs.c.id).where(_jobs.c.id == id, _jobs.c.owner == owner, _jobs.c.state == JobState.RUNNING.value)
    if connection.execute(held).first() is None:
        raise BusyError(f"Job {id[:8]} is not held by this worker any more.")


def _change(connection: Connection, id: str, now: float, **values: Any) -> None:
    connection.execute(update(_jobs).where(_jobs.c.id == id).values(changed_at=now, **values))


def _by_id(connection: Connection, id: str) -> Job:
    row = connection.execute(select(_jobs).where(_jobs.c.id == id)).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no job {id!r}.", hint="`kaijuan queue list` shows what waits.")
    return _job(row)


def _values(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "kb_id": job.kb_id,
        "key": job.key,
        "request": job.request,
        "state": job.state.value,
        "attempts": job.attempts,
        "not_before": job.not_before,
        "owner": job.owner,
        "expires_at": job.expires_at,
        "reason": job.reason,
        "created_at": job.created_at,
        "changed_at": job.created_at,
    }


def _job(row: Row[Any]) -> Job:
    return Job(
        id=row.id,
        kb_id=KbId(row.kb_id),
        key=row.key,
        request=row.request,
        state=JobState(row.state),
        attempts=row.attempts,
        not_before=row.not_before,
        owner=row.owner,
        expires_at=row.expires_at,
        reason=row.reason,
        created_at=row.created_at,
        changed_at=row.changed_at,
    )
