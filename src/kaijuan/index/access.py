"""What is kept about access: who is bound to what, and in which role. Its part of the catalog port."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from kaijuan.core.identity import Role
from kaijuan.core.ids import DocumentId, KbId


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A principal's role for a resource: a base (its id), a folder ("folder:" and how addresses begin), a document."""

    resource: str
    principal: str
    """"" stands for nobody: the resource is closed."""
    role: Role


class AccessWriter(Protocol):
    """What changes access. Each method is one transaction, and bumps the policy version."""

    async def grant(self, kb: KbId, resource: str, principal: str, role: Role = Role.READER) -> None:
        """Give a principal a role in a base (resource = its id), or let it read a folder or one document.

        A document with bindings of its own is governed by them alone, otherwise by those of the longest folder that
        has some, otherwise by its knowledge base's. A second grant changes the role.
        """

    async def revoke(self, kb: KbId, resource: str, principal: str) -> None:
        """Take a binding away.

        A document or folder whose last reader is revoked is closed to everybody, not opened to its base's readers.
        """

    async def inherit(self, kb: KbId, resource: str) -> None:
        """Let a document or folder be governed by what is above it again."""


class AccessReader(Protocol):
    """What is asked about access."""

    async def principals_of(self, kb: KbId, documents: Collection[DocumentId]) -> dict[DocumentId, frozenset[str]]:
        """Return who may read each document now. Auditors do not."""

    async def readers_of(self, kb: KbId, sources: Collection[str]) -> dict[str, frozenset[str]]:
        """Return who may read the documents of these sources, also of those that were never stored."""

    async def bindings(self, kb: KbId) -> list[Binding]:
        """Return all bindings by resource and principal."""

    async def roles(self, kb: KbId, principals: Collection[str]) -> frozenset[Role]:
        """Return the roles that principals have together; whoever may read a part of the base is a reader."""
