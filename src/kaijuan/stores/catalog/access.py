"""Who may read what. A document with bindings of its own is governed by them alone, otherwise by its base's."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlalchemy import Connection, delete, select, update

from kaijuan.core.ids import ChunkId, DocumentId, KbId
from kaijuan.core.snapshots import visible
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import batches, insert_missing, rows_with

_bindings, _versions, _chunks = tables.acl_binding, tables.document_version, tables.chunk
_FEW = 100
_OWN = ""
"""The principal nobody is. Its binding keeps a document closed when the last of its readers is revoked; without
it that revocation would open the document to all readers of the base."""


_PLACES = select(
    _chunks.c.id, _versions.c.document_id, _versions.c.kb_id, _versions.c.valid_from, _versions.c.valid_to
).join_from(_chunks, _versions, _versions.c.id == _chunks.c.version_id)


def grant(connection: Connection, kb: KbId, resource: str, principal: str) -> None:
    """Let a principal read a base or one document of it."""
    _check(connection, kb, resource, principal)
    names = {principal} if resource == kb else {principal, _OWN}
    bindings = [{"kb_id": kb, "resource": resource, "principal": name} for name in sorted(names)]
    insert_missing(connection, _bindings, bindings)
    _bump(connection, kb)


def revoke(connection: Connection, kb: KbId, resource: str, principal: str) -> None:
    """Take a binding away. A document whose last reader goes is closed to all, not opened to its base's readers."""
    _check(connection, kb, resource, principal)
    gone = (_bindings.c.kb_id == kb, _bindings.c.resource == resource, _bindings.c.principal == principal)
    connection.execute(delete(_bindings).where(*gone))
    _bump(connection, kb)


def inherit(connection: Connection, kb: KbId, document: DocumentId) -> None:
    """Let a document be governed by its base's bindings again."""
    _check(connection, kb, document, "anyone")
    if str(document) == str(kb):
        raise UsageError("A knowledge base has nothing to inherit from.")
    connection.execute(delete(_bindings).where(_bindings.c.kb_id == kb, _bindings.c.resource == document))
    _bump(connection, kb)


def _check(connection: Connection, kb: KbId, resource: str, principal: str) -> None:
    kb_by_id(connection, kb)
    if principal == _OWN:
        raise UsageError("A principal needs a name.")
    documents = tables.document
    known = select(documents.c.id).where(documents.c.id == resource, documents.c.kb_id == kb)
    if resource != kb and connection.execute(known).one_or_none() is None:
        raise NotFoundError(f"There is no document {resource!r} in this knowledge base.")


def _bump(connection: Connection, kb: KbId) -> None:
    bases = tables.knowledge_base
    connection.execute(update(bases).where(bases.c.id == kb).values(policy_version=bases.c.policy_version + 1))


def authorise(
    connection: Connection, kb: KbId, snapshot: int, ids: Collection[ChunkId], principals: Collection[str]
) -> set[ChunkId]:
    """Return those chunks that are visible at the snapshot and that a principal may read now."""
    names = set(principals) - {_OWN}
    # The interval is judged here and not in SQL: with the snapshot among its conditions SQLite walks the versions of
    # the base instead of looking up the ids, which took ten times as long at 24,000 chunks.
    found = [
        (ChunkId(row.id), DocumentId(row.document_id))
        for row in rows_with(connection, _PLACES, _chunks.c.id, ids)
        if row.kb_id == kb and visible(row.valid_from, row.valid_to, snapshot)
    ]
    readers = principals_of(connection, kb, {document for _, document in found})
    return {id for id, document in found if not readers[document].isdisjoint(names)}


def _bound(connection: Connection, kb: KbId, documents: Collection[DocumentId]) -> Iterator[tuple[str, str]]:
    """Yield (resource, principal) of the base and these documents, and perhaps of others."""
    query = select(_bindings.c.resource, _bindings.c.principal).where(_bindings.c.kb_id == kb)
    # Most bases have few bindings; reading all of them is several times quicker than asking for a hundred documents.
    few = connection.execute(query.limit(_FEW + 1)).all()
    if len(few) <= _FEW:
        yield from ((row[0], row[1]) for row in few)
        return
    for batch in batches([kb, *documents]):
        yield from ((row[0], row[1]) for row in connection.execute(query.where(_bindings.c.resource.in_(batch))))


def principals_of(
    connection: Connection, kb: KbId, documents: Collection[DocumentId]
) -> dict[DocumentId, frozenset[str]]:
    """Return who may read each document now."""
    own: dict[str, set[str]] = {}
    for resource, principal in _bound(connection, kb, documents):
        own.setdefault(resource, set()).add(principal)
    base = own.get(kb, set())
    return {document: frozenset(own.get(document, base) - {_OWN}) for document in documents}
