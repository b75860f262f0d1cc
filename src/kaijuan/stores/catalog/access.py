"""Who may read what. A document with bindings of its own is governed by them alone, otherwise by those of the longest
folder that has some, otherwise by its base's."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import Connection, bindparam, delete, select, update

from kaijuan.core.identity import FOLDER, Role
from kaijuan.core.ids import ChunkId, DocumentId, KbId, document_id
from kaijuan.core.snapshots import visible
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.access import Binding
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.bases import kb_by_id
from kaijuan.stores.catalog.connection import batches, insert_missing, rows_with

_bindings, _versions, _chunks = tables.acl_binding, tables.document_version, tables.chunk
_FEW = 100
NOBODY = ""
"""The principal nobody is. Its binding keeps a document closed when the last of its readers is revoked; without
it that revocation would open the document to all readers of the base."""
_PAST_FOLDERS = FOLDER[:-1] + chr(ord(FOLDER[-1]) + 1)
"""The least text that is greater than everything that begins with FOLDER."""


_PLACES = select(
    _chunks.c.id, _versions.c.document_id, _versions.c.kb_id, _versions.c.valid_from, _versions.c.valid_to
).join_from(_chunks, _versions, _versions.c.id == _chunks.c.version_id)
_FIRST_BOUND = (
    select(_bindings.c.resource, _bindings.c.principal)
    .where(_bindings.c.kb_id == bindparam("kb"), _bindings.c.role != Role.AUDITOR.value)
    .limit(_FEW + 1)
)
_SOURCES = select(tables.document.c.id, tables.document.c.source)


def grant(connection: Connection, kb: KbId, resource: str, principal: str, role: Role) -> None:
    """Give a principal a role in a base, or let it read a folder or a document of it."""
    _check(connection, kb, resource, principal)
    if resource != kb and role is not Role.READER:
        raise UsageError(f"A document has readers, no {role.value}s.", hint="Give the role for the whole base.")
    names = {principal} if resource == kb else {principal, NOBODY}
    bindings = [{"kb_id": kb, "resource": resource, "principal": name, "role": role.value} for name in sorted(names)]
    insert_missing(connection, _bindings, bindings)
    this = (_bindings.c.kb_id == kb, _bindings.c.resource == resource, _bindings.c.principal == principal)
    connection.execute(update(_bindings).where(*this).values(role=role.value))
    _bump(connection, kb)


def revoke(connection: Connection, kb: KbId, resource: str, principal: str) -> None:
    """Take a binding away. A document whose last reader goes is closed to all, not opened to its base's readers."""
    _check(connection, kb, resource, principal)
    gone = (_bindings.c.kb_id == kb, _bindings.c.resource == resource, _bindings.c.principal == principal)
    connection.execute(delete(_bindings).where(*gone))
    _bump(connection, kb)


def inherit(connection: Connection, kb: KbId, resource: str) -> None:
    """Let a document or folder be governed by what is above it again."""
    _check(connection, kb, resource, "anyone")
    if resource == kb:
        raise UsageError("A knowledge base has nothing to inherit from.")
    connection.execute(delete(_bindings).where(_bindings.c.kb_id == kb, _bindings.c.resource == resource))
    _bump(connection, kb)


def bindings(connection: Connection, kb: KbId) -> list[Binding]:
    """Return all bindings of a base by resource and principal; a resource closed to everybody has principal ""."""
    query = select(_bindings).where(_bindings.c.kb_id == kb).order_by(_bindings.c.resource, _bindings.c.principal)
    found = [
        Binding(resource=row.resource, principal=row.principal, role=Role(row.role))
        for row in connection.execute(query)
    ]
    open_ = {one.resource for one in found if one.principal != NOBODY}
    return [one for one in found if one.principal != NOBODY or one.resource not in open_]


def roles(connection: Connection, kb: KbId, principals: Collection[str]) -> frozenset[Role]:
    """Return the roles that principals have in a base; whoever may read a part of it is a reader."""
    names = sorted(set(principals) - {NOBODY})
    query = select(_bindings.c.role).where(_bindings.c.kb_id == kb, _bindings.c.principal.in_(names)).distinct()
    return frozenset(Role(row[0]) for row in connection.execute(query))


def _check(connection: Connection, kb: KbId, resource: str, principal: str) -> None:
    kb_by_id(connection, kb)
    if principal == NOBODY:
        raise UsageError("A principal needs a name.")
    if resource.startswith(FOLDER) and len(resource) > len(FOLDER):
        return
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
    names = set(principals) - {NOBODY}
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
    """Yield (resource, principal) of the base, its folders and these documents, and perhaps of others: the readers."""
    # Most bases have few bindings; reading all of them is several times quicker than asking for a hundred documents.
    few = connection.execute(_FIRST_BOUND, {"kb": kb}).all()
    if len(few) <= _FEW:
        yield from ((row[0], row[1]) for row in few)
        return
    query = select(_bindings.c.resource, _bindings.c.principal).where(
        _bindings.c.kb_id == kb, _bindings.c.role != Role.AUDITOR.value
    )
    folders = query.where(_bindings.c.resource >= FOLDER, _bindings.c.resource < _PAST_FOLDERS)
    yield from ((row[0], row[1]) for row in connection.execute(folders))
    for batch in batches([kb, *documents]):
        yield from ((row[0], row[1]) for row in connection.execute(query.where(_bindings.c.resource.in_(batch))))


def principals_of(
    connection: Connection, kb: KbId, documents: Collection[DocumentId]
) -> dict[DocumentId, frozenset[str]]:
    """Return who may read each document now."""
    return _readers(connection, kb, documents, {})


def readers_of(connection: Connection, kb: KbId, sources: Collection[str]) -> dict[str, frozenset[str]]:
    """Return who may read the documents of these sources, stored or not."""
    named = {document_id(kb, source): source for source in sources}
    found = _readers(connection, kb, set(named), named)
    return {named[document]: readers for document, readers in found.items()}


def _readers(
    connection: Connection, kb: KbId, documents: Collection[DocumentId], named: Mapping[DocumentId, str]
) -> dict[DocumentId, frozenset[str]]:
    own: dict[str, set[str]] = {}
    for resource, principal in _bound(connection, kb, documents):
        own.setdefault(resource, set()).add(principal)
    base = own.get(kb, set())
    # The longest comes first: of two folders, one within the other, the inner one governs.
    folders = sorted((each for each in own if each.startswith(FOLDER)), key=len, reverse=True)
    sources: dict[DocumentId, str] = dict(named)
    if folders:
        wanted = [document for document in documents if document not in own and document not in sources]
        sources |= {
            DocumentId(row.id): row.source for row in rows_with(connection, _SOURCES, tables.document.c.id, wanted)
        }

    def governing(document: DocumentId) -> set[str]:
        if document in own:
            return own[document]
        source = sources.get(document, "")
        return next((own[each] for each in folders if source.startswith(each.removeprefix(FOLDER))), base)

    return {document: frozenset(governing(document) - {NOBODY}) for document in documents}
