"""Documents that are at another place now: who may read them there.

Whoever could not read a document must not read it because it was moved. Its own readers go with it. The rule of a
folder goes with it where nothing at the new place takes its stead: a folder that was renamed has no rule any more,
and those above it are wider. A folder elsewhere with a rule of its own decides for what is put there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select, update

from kaijuan.core.documents import Version
from kaijuan.core.identity import FOLDER, Role
from kaijuan.core.ids import DocumentId, KbId
from kaijuan.stores.catalog import rows, tables
from kaijuan.stores.catalog.access import NOBODY
from kaijuan.stores.catalog.connection import batches, insert_missing, rows_with
from kaijuan.stores.catalog.publishing import visible_at

_bindings, _versions = tables.acl_binding, tables.document_version
_SOURCES = select(tables.document.c.id, tables.document.c.source)


@dataclass(frozen=True, slots=True)
class _Rules:
    """Who is named by documents and folders; those of the base count where neither says anything."""

    named: Mapping[str, frozenset[str]]
    sources: Mapping[str, str]

    def governing(self, document: DocumentId) -> str:
        """Return the document itself or the folder that says who reads it, "" where the base does."""
        if document in self.named:
            return document
        source = self.sources.get(document, "")
        above = [one for one in self.named if one.startswith(FOLDER) and source.startswith(one.removeprefix(FOLDER))]
        return max(above, key=len, default="")

    def carried(self, before: DocumentId, after: DocumentId) -> frozenset[str] | None:
        """Return the names that must stand at the new place for it to be no more open than the old one; None where
        what stands there will do."""
        old, new = self.governing(before), self.governing(after)
        if not old:
            return None
        readers = self.named[old]
        if new == after:
            # It was closed by itself before, and its earlier versions still are: only who may read both reads it.
            kept = self.named[new] & readers
            return None if kept == self.named[new] else kept
        if old == before:
            return readers
        wider = new != old and self.sources.get(before, "").startswith(new.removeprefix(FOLDER))
        return readers if wider else None


def _rules(connection: Connection, kb: KbId, documents: Collection[DocumentId]) -> _Rules:
    named: dict[str, set[str]] = {}
    query = select(_bindings.c.resource, _bindings.c.principal).where(
        _bindings.c.kb_id == kb, _bindings.c.resource != kb, _bindings.c.role != Role.AUDITOR.value
    )
    for resource, principal in connection.execute(query):
        named.setdefault(resource, set()).add(principal)
    found = rows_with(connection, _SOURCES, tables.document.c.id, documents) if named else []
    return _Rules({one: frozenset(names) for one, names in named.items()}, {row.id: row.source for row in found})


def move_access(connection: Connection, kb: KbId, before: DocumentId, after: DocumentId) -> bool:
    """Close the document that took another's place as that one is closed; say whether anything had to be done."""
    readers = _rules(connection, kb, {before, after}).carried(before, after)
    if readers is None:
        return False
    names = sorted(readers | {NOBODY})
    this = (_bindings.c.kb_id == kb, _bindings.c.resource == after, _bindings.c.role == Role.READER.value)
    connection.execute(delete(_bindings).where(*this, _bindings.c.principal.not_in(names)))
    common = {"kb_id": kb, "resource": after, "role": Role.READER.value}
    insert_missing(connection, _bindings, [common | {"principal": name} for name in names])
    bases = tables.knowledge_base
    connection.execute(update(bases).where(bases.c.id == kb).values(policy_version=bases.c.policy_version + 1))
    return True


def closed_alike(
    connection: Connection, kb: KbId, snapshot: int, contents: Mapping[DocumentId, str]
) -> dict[DocumentId, list[str]]:
    """Return for documents, given with the hash of what they hold now, where the snapshot shows the same to fewer."""
    restricted = select(_bindings.c.resource).where(_bindings.c.kb_id == kb, _bindings.c.resource != kb).limit(1)
    if connection.execute(restricted).first() is None:
        return {}
    alike = versions_by_content(connection, kb, snapshot, set(contents.values()))
    if not alike:
        return {}
    rules = _rules(connection, kb, {*contents, *(version.document_id for version in alike)})
    found: dict[DocumentId, list[str]] = {}
    for document, content in contents.items():
        for version in alike:
            same = version.content_hash == content and version.document_id != document
            if same and rules.carried(version.document_id, document) is not None:
                found.setdefault(document, []).append(version.source)
    return found


def versions_by_content(
    connection: Connection, kb: KbId, snapshot: int | None, hashes: Collection[str]
) -> list[Version]:
    """Return versions with one of these content hashes that a snapshot shows, of None all that are kept, by source."""
    shown = (_versions.c.kb_id == kb,) if snapshot is None else visible_at(kb, snapshot)
    found: list[Version] = []
    for batch in batches(sorted(hashes)):
        query = select(_versions).where(*shown, _versions.c.content_hash.in_(batch))
        found += [rows.version_of(row) for row in connection.execute(query)]
    return sorted(found, key=lambda version: version.source)
