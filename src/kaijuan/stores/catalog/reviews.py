"""Documents that the gate holds back: held, decided, superseded. Who decided what, and when, is never overwritten."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import ColumnElement, Connection, insert, or_, select, update

from kaijuan.core.ids import KbId
from kaijuan.core.reviews import Decision, Review, ReviewState
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Run
from kaijuan.stores.catalog import rows, tables
from kaijuan.stores.catalog.connection import batches

_reviews, _versions = tables.review, tables.document_version
_PENDING = _reviews.c.state == ReviewState.PENDING.value


def hold(connection: Connection, review: Review) -> None:
    """Insert a pending review, or make the one that there is pending again."""
    others = (_reviews.c.kb_id == review.kb_id, _reviews.c.source == review.source, _reviews.c.id != review.id)
    _supersede(connection, _found(connection, _PENDING, *others), review.created_at)
    values = rows.review_values(review)
    if (before := _by_id(connection, review.id)) is None:
        connection.execute(insert(_reviews), values)
    elif before.state is not ReviewState.PENDING or before.reasons != review.reasons:
        kept = {name: values[name] for name in ("reasons", "state", "original_hash")}
        connection.execute(update(_reviews).where(_reviews.c.id == review.id).values(**kept))


def decide(connection: Connection, ids: Sequence[str], state: ReviewState, by: str, note: str, now: float) -> None:
    """Approve or reject reviews, all or none."""
    for id in dict.fromkeys(ids):
        review = _by_id(connection, id)
        if review is None:
            raise NotFoundError(f"There is no review {id!r}.")
        if review.state is ReviewState.SUPERSEDED:
            raise UsageError(
                f"Review {id[:8]} is superseded: {review.source} has other content now, or has gone.",
                hint="Add the document again; what it holds now is judged anew.",
            )
        _enter(connection, review, Decision(state=state, at=now, by=by, note=note))


def withdraw(connection: Connection, kb: KbId, sources: Collection[str], now: float) -> None:
    """Supersede what waits of these sources."""
    for batch in batches(sources):
        found = _found(connection, _PENDING, _reviews.c.kb_id == kb, _reviews.c.source.in_(batch))
        _supersede(connection, found, now)


def supersede_changed(connection: Connection, run: Run, target: int, now: float) -> None:
    """Supersede what waits of the sources that a run published or removed."""
    changed = select(_versions.c.source).where(
        _versions.c.kb_id == run.kb_id, or_(_versions.c.run_id == run.id, _versions.c.valid_to == target)
    )
    waiting = _found(connection, _PENDING, _reviews.c.kb_id == run.kb_id)
    # Asked only when something waits, which is seldom: the run may have changed a hundred thousand sources.
    if waiting:
        sources = {row.source for row in connection.execute(changed)}
        _supersede(connection, [review for review in waiting if review.source in sources], now)


def reviews(connection: Connection, kb: KbId, states: Collection[ReviewState]) -> list[Review]:
    """Return reviews in these states, oldest first."""
    return _found(connection, _reviews.c.kb_id == kb, _reviews.c.state.in_([state.value for state in states]))


def _by_id(connection: Connection, id: str) -> Review | None:
    found = _found(connection, _reviews.c.id == id)
    return found[0] if found else None


def _found(connection: Connection, *conditions: ColumnElement[bool]) -> list[Review]:
    query = select(_reviews).where(*conditions).order_by(_reviews.c.created_at, _reviews.c.id)
    return [rows.review_of(row) for row in connection.execute(query)]


def _supersede(connection: Connection, found: Iterable[Review], now: float) -> None:
    for review in found:
        _enter(connection, review, Decision(state=ReviewState.SUPERSEDED, at=now))


def _enter(connection: Connection, review: Review, decision: Decision) -> None:
    values = {"state": decision.state.value, "history": rows.history_text([*review.history, decision])}
    connection.execute(update(_reviews).where(_reviews.c.id == review.id).values(**values))
