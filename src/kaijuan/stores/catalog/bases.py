"""Knowledge bases: made, found, and told which index space serves them."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, select, update

from kaijuan.core.ids import KbId, stable_id
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.model_spaces import SpaceState
from kaijuan.stores.catalog import rows, tables
from kaijuan.stores.catalog.connection import insert_missing

EVERYBODY = "all"
_bases = tables.knowledge_base
# Built once: every request asks for its base first.
_NAMED = select(_bases).where(_bases.c.tenant_id == bindparam("tenant"), _bases.c.name == bindparam("name"))
_BY_ID = select(_bases).where(_bases.c.id == bindparam("kb"))


def create_kb(connection: Connection, tenant: str, name: str, now: float) -> KnowledgeBase:
    """Return the base of that name, made now if missing."""
    insert_missing(connection, tables.tenant, [{"id": tenant, "created_at": now}])
    values = {
        # From the names, so that the ids below it are the same on every machine.
        "id": stable_id("kb", tenant, name),
        "tenant_id": tenant,
        "name": name,
        "head": 0,
        "policy_version": 1,
        "space": "",
        "created_at": now,
    }
    if insert_missing(connection, _bases, [values]):
        binding = {"kb_id": values["id"], "resource": values["id"], "principal": EVERYBODY}
        insert_missing(connection, tables.acl_binding, [binding])
    return kb(connection, tenant, name)


def kb(connection: Connection, tenant: str, name: str) -> KnowledgeBase:
    """Return the base of that name, or raise NotFoundError."""
    row = connection.execute(_NAMED, {"tenant": tenant, "name": name}).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no knowledge base called {name!r}.", hint="`kaijuan add` makes it.")
    return rows.kb_of(row)


def kb_by_id(connection: Connection, kb: KbId) -> KnowledgeBase:
    """Return a base, or raise NotFoundError."""
    row = connection.execute(_BY_ID, {"kb": kb}).one_or_none()
    if row is None:
        raise NotFoundError(f"There is no knowledge base with the id {kb!r}.")
    return rows.kb_of(row)


def kbs(connection: Connection, tenant: str) -> list[KnowledgeBase]:
    """Return the bases of a tenant by name."""
    query = select(_bases).where(_bases.c.tenant_id == tenant).order_by(_bases.c.name)
    return [rows.kb_of(row) for row in connection.execute(query)]


def every_kb(connection: Connection) -> list[KnowledgeBase]:
    """Return the bases of all tenants, by id."""
    return [rows.kb_of(row) for row in connection.execute(select(_bases).order_by(_bases.c.id))]


def set_space(connection: Connection, kb: KbId, space: str) -> None:
    """Record the index space that serves readers from now on."""
    kb_by_id(connection, kb)
    connection.execute(update(_bases).where(_bases.c.id == kb).values(space=space))
    # A rebuild makes another space for the same model.
    models = tables.embedding_space
    serving = (models.c.kb_id == kb, models.c.state == SpaceState.SERVING.value)
    connection.execute(update(models).where(*serving).values(space=space))
