"""The pages of the catalog port about people and access over SQLAlchemy: each method one transaction, as in `sql`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kaijuan.core.audit import Chain
from kaijuan.core.feedback import Feedback
from kaijuan.core.identity import Account, ApiKey, AuditEvent, Role
from kaijuan.core.ids import DocumentId, KbId
from kaijuan.index.access import Binding
from kaijuan.stores.catalog import access, people
from kaijuan.stores.catalog.upkeep import Upkeep


class PeopleAndAccess(Upkeep):
    """Methods of `SqlCatalog`."""

    async def grant(self, kb: KbId, resource: str, principal: str, role: Role = Role.READER) -> None:
        """Give a principal a role in a base, or let it read a folder or a document."""
        await self._write(access.grant, kb, resource, principal, role, durable=True)

    async def revoke(self, kb: KbId, resource: str, principal: str) -> None:
        """Take a binding away."""
        await self._write(access.revoke, kb, resource, principal, durable=True)

    async def inherit(self, kb: KbId, resource: str) -> None:
        """Let a document or folder be governed by what is above it again."""
        await self._write(access.inherit, kb, resource, durable=True)

    async def principals_of(self, kb: KbId, documents: Collection[DocumentId]) -> dict[DocumentId, frozenset[str]]:
        """Return who may read each document now."""
        return await self._read(access.principals_of, kb, documents)

    async def readers_of(self, kb: KbId, sources: Collection[str]) -> dict[str, frozenset[str]]:
        """Return who may read the documents of these sources, stored or not."""
        return await self._read(access.readers_of, kb, sources)

    async def bindings(self, kb: KbId) -> list[Binding]:
        """Return all bindings by resource and principal."""
        return await self._read(access.bindings, kb)

    async def roles(self, kb: KbId, principals: Collection[str]) -> frozenset[Role]:
        """Return the roles that principals have together."""
        return await self._read(access.roles, kb, principals)

    async def put_account(self, account: Account) -> None:
        """Make a user, or change one."""
        await self._write(people.put_account, account, durable=True)

    async def account(self, tenant: str, name: str) -> Account | None:
        """Return a user with its groups."""
        return await self._read(people.account, tenant, name)

    async def accounts(self, tenant: str) -> list[Account]:
        """Return all users of a tenant, by name."""
        return await self._read(people.accounts, tenant)

    async def join_group(self, tenant: str, group: str, user: str) -> None:
        """Put a user into a group."""
        await self._write(people.join_group, tenant, group, user, durable=True)

    async def leave_group(self, tenant: str, group: str, user: str) -> None:
        """Take a user out of a group."""
        await self._write(people.leave_group, tenant, group, user, durable=True)

    async def put_key(self, key: ApiKey) -> None:
        """Store a new key."""
        await self._write(people.put_key, key, durable=True)

    async def key(self, id: str) -> ApiKey | None:
        """Return a key of any tenant."""
        return await self._read(people.key, id)

    async def keys(self, tenant: str) -> list[ApiKey]:
        """Return the keys of a tenant, oldest first."""
        return await self._read(people.keys, tenant)

    async def any_key(self) -> bool:
        """Say whether there ever was a key."""
        return await self._read(people.any_key)

    async def revoke_key(self, tenant: str, id: str, *, now: float) -> None:
        """Let a key open nothing any more."""
        await self._write(people.revoke_key, tenant, id, now, durable=True)

    async def use_key(self, id: str, *, now: float) -> None:
        """Note that a key was used."""
        await self._write(people.use_key, id, now)

    async def record(self, events: Sequence[AuditEvent]) -> None:
        """Add lines to the audit log."""
        await self._write(people.record, events)

    async def audit(self, tenant: str | None, *, after: int = 0, limit: int = 1000) -> list[AuditEvent]:
        """Return lines of the audit log in order."""
        return await self._read(people.audit, tenant, after, limit)

    async def newest_audit(self, tenant: str | None, *, limit: int = 100) -> list[AuditEvent]:
        """Return the newest lines, newest first."""
        return await self._read(people.newest_audit, tenant, limit)

    async def check_audit(self) -> Chain:
        """Check the chain of the whole log."""
        return await self._read(people.check_audit)

    async def put_feedback(self, feedback: Feedback) -> None:
        """Store an opinion."""
        await self._write(people.put_feedback, feedback, durable=True)

    async def feedback(self, kb: KbId, *, limit: int = 100) -> list[Feedback]:
        """Return opinions, the newest first."""
        return await self._read(people.feedback, kb, limit)
