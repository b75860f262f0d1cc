"""Conversations in the catalog: turns as they were, a summary, pinned facts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from kaijuan.core.conversations import Conversation, Turn
from kaijuan.core.ids import DocumentId, KbId, stable_id
from kaijuan.errors import NotFoundError
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.connection import insert_missing

_talks, _turns = tables.conversation, tables.conversation_turn


def converse(connection: Connection, kb: KbId, owner: str, name: str, now: float) -> Conversation:
    """Return the conversation of that name, made now if missing."""
    values = {
        "id": stable_id("conversation", kb, owner, name, repr(now)),
        "kb_id": kb,
        "owner": owner,
        "name": name,
        "created_at": now,
        "updated_at": now,
        "summary": "",
        "summed": 0,
        "summary_documents": "[]",
        "facts": "[]",
    }
    known = (_talks.c.kb_id == kb, _talks.c.owner == owner, _talks.c.name == name)
    if connection.execute(select(_talks.c.id).where(*known)).first() is None:
        insert_missing(connection, _talks, [values])
    return conversation(connection, kb, owner, name)


def conversation(connection: Connection, kb: KbId, owner: str, name: str) -> Conversation:
    """Return the conversation of that name or id."""
    named = or_(_talks.c.name == name, _talks.c.id == name)
    # A name that looks like another conversation's id stands for itself.
    query = select(_talks).where(_talks.c.kb_id == kb, _talks.c.owner == owner, named).order_by(_talks.c.name != name)
    row = connection.execute(query).first()
    if row is None:
        raise NotFoundError(f"There is no conversation {name!r}.", hint="`kaijuan chat --list` shows those there are.")
    return _conversation_of(row, _count(connection, row.id))


def conversations(connection: Connection, kb: KbId, owner: str) -> list[Conversation]:
    """Return all of an owner, the latest used first."""
    counts = select(_turns.c.conversation_id, func.count().label("turns")).group_by(_turns.c.conversation_id).subquery()
    query = (
        select(_talks, func.coalesce(counts.c.turns, 0).label("turns"))
        .outerjoin(counts, counts.c.conversation_id == _talks.c.id)
        .where(_talks.c.kb_id == kb, _talks.c.owner == owner)
        .order_by(_talks.c.updated_at.desc(), _talks.c.name)
    )
    return [_conversation_of(row, row.turns) for row in connection.execute(query)]


def add_turn(connection: Connection, id: str, turn: Turn) -> Turn:
    """Add a turn with the next number."""
    _need(connection, id)
    numbered = replace(turn, number=1 + (_newest(connection, id) or 0))
    connection.execute(insert(_turns), {"conversation_id": id, **_turn_values(numbered)})
    connection.execute(update(_talks).where(_talks.c.id == id).values(updated_at=turn.at))
    return numbered


def turns(connection: Connection, id: str, last: int | None) -> list[Turn]:
    """Return the turns in order."""
    query = select(_turns).where(_turns.c.conversation_id == id).order_by(_turns.c.number.desc())
    if last is not None:
        query = query.limit(last)
    return [_turn_of(row) for row in reversed(connection.execute(query).all())]


def summarise(connection: Connection, id: str, summary: str, summed: int, documents: Sequence[DocumentId]) -> None:
    """Keep a summary unless there is one of more turns."""
    _need(connection, id)
    values = {"summary": _plain(summary), "summed": summed, "summary_documents": json.dumps(list(documents))}
    connection.execute(update(_talks).where(_talks.c.id == id, _talks.c.summed <= summed).values(**values))


def pin(connection: Connection, id: str, facts: Sequence[str]) -> None:
    """Keep these facts alone."""
    _need(connection, id)
    connection.execute(update(_talks).where(_talks.c.id == id).values(facts=json.dumps(list(facts))))


def forget(connection: Connection, kb: KbId, owner: str, name: str) -> None:
    """Delete a conversation with its turns."""
    found = conversation(connection, kb, owner, name)
    connection.execute(delete(_turns).where(_turns.c.conversation_id == found.id))
    connection.execute(delete(_talks).where(_talks.c.id == found.id))


def _need(connection: Connection, id: str) -> None:
    if connection.execute(select(_talks.c.id).where(_talks.c.id == id)).first() is None:
        raise NotFoundError("The conversation has been deleted.")


def _newest(connection: Connection, id: str) -> int | None:
    query = select(func.max(_turns.c.number)).where(_turns.c.conversation_id == id)
    newest: int | None = connection.execute(query).scalar()
    return newest


def _count(connection: Connection, id: str) -> int:
    query = select(func.count()).select_from(_turns).where(_turns.c.conversation_id == id)
    return int(connection.execute(query).scalar() or 0)


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "")


def _turn_values(turn: Turn) -> dict[str, object]:
    return {
        "number": turn.number,
        "at": turn.at,
        "question": _plain(turn.question),
        "standalone": _plain(turn.standalone),
        "status": turn.status,
        "answer": _plain(turn.answer),
        "documents": json.dumps(list(turn.documents)),
        "titles": json.dumps(list(turn.titles)),
        "trace_id": turn.trace_id,
        "body": json.dumps(dict(turn.body)),
    }


def _turn_of(row: Row[Any]) -> Turn:
    return Turn(
        number=row.number,
        at=row.at,
        question=row.question,
        standalone=row.standalone,
        status=row.status,
        answer=row.answer,
        documents=tuple(DocumentId(id) for id in json.loads(row.documents)),
        titles=tuple(json.loads(row.titles)),
        trace_id=row.trace_id,
        body=json.loads(row.body),
    )


def _conversation_of(row: Row[Any], turns: int) -> Conversation:
    return Conversation(
        id=row.id,
        kb_id=KbId(row.kb_id),
        owner=row.owner,
        name=row.name,
        created_at=row.created_at,
        updated_at=row.updated_at,
        turns=turns,
        summary=row.summary,
        summed=row.summed,
        summary_documents=tuple(DocumentId(id) for id in json.loads(row.summary_documents)),
        facts=tuple(json.loads(row.facts)),
    )
