"""The glossary of a base with the history of its terms, and the abbreviations that its documents explain."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, Select, insert, select, update

from kaijuan.core.glossary import (
    GlossaryTerm,
    LearnedAbbreviation,
    TermChange,
    TermState,
    term_id,
)
from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.snapshots import visible
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.access import principals_of
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import rows_with
from kaijuan.stores.catalog.publishing import visible_at

_terms, _learned, _versions = tables.glossary, tables.abbreviation, tables.document_version
_TERMS: Select[Any] = select(_terms)
_LEARNED: Select[Any] = select(
    _learned,
    _versions.c.kb_id,
    _versions.c.document_id,
    _versions.c.source,
    _versions.c.valid_from,
    _versions.c.valid_to,
).join_from(_learned, _versions, _versions.c.id == _learned.c.version_id)


def put_terms(connection: Connection, kb: KbId, terms: Sequence[str], changes: Sequence[TermChange]) -> None:
    """Enter one change of each term, in order, all or none."""
    kb_by_id(connection, kb)
    for term, change in zip(terms, changes, strict=True):
        id = term_id(kb, term)
        row = connection.execute(_TERMS.where(_terms.c.id == id)).one_or_none()
        if change.state is TermState.REMOVED and (row is None or row.state == TermState.REMOVED.value):
            raise NotFoundError(
                f"The glossary has no term {term!r}.", hint="`kaijuan glossary list` shows what it has."
            )
        history = [*(json.loads(row.history) if row is not None else ()), asdict(change)]
        values = {"state": change.state.value, "history": json.dumps(history)}
        if row is None:
            connection.execute(insert(_terms), values | {"id": id, "kb_id": kb, "term": term})
        elif change.state is TermState.LIVE:
            connection.execute(update(_terms).where(_terms.c.id == id).values(**values, term=term))
        else:
            connection.execute(update(_terms).where(_terms.c.id == id).values(**values))


def glossary(connection: Connection, kb: KbId, states: Collection[TermState]) -> list[GlossaryTerm]:
    """Return the terms in these states, by term."""
    query = _TERMS.where(_terms.c.kb_id == kb, _terms.c.state.in_([state.value for state in states]))
    return [_term_of(row) for row in connection.execute(query.order_by(_terms.c.term, _terms.c.id))]


def abbreviations(
    connection: Connection,
    kb: KbId,
    snapshot: int,
    shorts: Collection[str],
    heads: Collection[str],
    principals: Collection[str],
) -> list[LearnedAbbreviation]:
    """Return what visible documents that a principal may read explain, by short name, full name and source."""
    # As in `access.authorise`, the interval is judged here: SQLite would walk all versions of the base otherwise.
    rows = {
        (row.version_id, row.ordinal): row
        for column, keys in ((_learned.c.short_key, shorts), (_learned.c.long_head, heads))
        for row in (rows_with(connection, _LEARNED, column, sorted(keys)) if keys else ())
        if row.kb_id == kb and visible(row.valid_from, row.valid_to, snapshot)
    }
    readers = principals_of(connection, kb, {DocumentId(row.document_id) for row in rows.values()})
    names = set(principals) - {""}
    found = [_learned_of(row) for row in rows.values() if not readers[DocumentId(row.document_id)].isdisjoint(names)]
    return sorted(found, key=lambda one: (one.short, one.long, one.source, one.span))


def headings(connection: Connection, kb: KbId, snapshot: int, principals: Collection[str]) -> list[tuple[str, str]]:
    """Return (source, heading) of visible documents that a principal may read, each once."""
    query = (
        select(_versions.c.document_id, _versions.c.source, tables.chunk.c.title_path)
        .join_from(tables.chunk, _versions, _versions.c.id == tables.chunk.c.version_id)
        .where(*visible_at(kb, snapshot), tables.chunk.c.title_path != "[]")
        .distinct()
    )
    found = connection.execute(query).all()
    readers = principals_of(connection, kb, {DocumentId(row.document_id) for row in found})
    names = set(principals) - {""}
    return sorted(
        {
            (row.source, heading)
            for row in found
            if not readers[DocumentId(row.document_id)].isdisjoint(names)
            for heading in json.loads(row.title_path)
        }
    )


def _term_of(row: Row[Any]) -> GlossaryTerm:
    history = tuple(
        TermChange(**{**each, "state": TermState(each["state"]), "synonyms": tuple(each["synonyms"])})
        for each in json.loads(row.history)
    )
    return GlossaryTerm(
        kb_id=KbId(row.kb_id),
        term=row.term,
        synonyms=history[-1].synonyms,
        state=TermState(row.state),
        history=history,
    )


def _learned_of(row: Row[Any]) -> LearnedAbbreviation:
    return LearnedAbbreviation(
        short=row.short,
        long=row.long,
        span=Span(row.start, row.stop),
        version_id=VersionId(row.version_id),
        document_id=DocumentId(row.document_id),
        source=row.source,
    )
