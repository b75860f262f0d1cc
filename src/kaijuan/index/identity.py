"""The catalog port, its page of people: accounts, groups, keys, the audit log, and what readers say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kaijuan.core.audit import Chain
from kaijuan.core.feedback import Feedback
from kaijuan.core.identity import Account, ApiKey, AuditEvent
from kaijuan.core.ids import KbId


class People(Protocol):
    """Who may use the service. Each method is one transaction."""

    async def put_account(self, account: Account) -> None:
        """Make a user, or change role and state of one; groups are not read."""

    async def account(self, tenant: str, name: str) -> Account | None:
        """The user with its groups; None when there is none."""

    async def accounts(self, tenant: str) -> list[Account]:
        """All users of a tenant, by name."""

    async def join_group(self, tenant: str, group: str, user: str) -> None:
        """Put a user into a group; NotFoundError when there is no such user."""

    async def leave_group(self, tenant: str, group: str, user: str) -> None:
        """Take a user out of a group. Quiet when they are not in it."""

    async def put_key(self, key: ApiKey) -> None:
        """Store a new key."""

    async def key(self, id: str) -> ApiKey | None:
        """The key of any tenant, valid or not."""

    async def keys(self, tenant: str) -> list[ApiKey]:
        """All keys of a tenant, oldest first."""

    async def any_key(self) -> bool:
        """Say whether any tenant ever had a key: identity stays on when the last one is revoked."""

    async def revoke_key(self, tenant: str, id: str, *, now: float) -> None:
        """Let a key open nothing from now on; NotFoundError when the tenant has none of that id."""

    async def use_key(self, id: str, *, now: float) -> None:
        """Note that a key was used."""

    async def record(self, events: Sequence[AuditEvent]) -> None:
        """Add lines to the audit log; the catalog numbers and chains them."""

    async def audit(self, tenant: str | None, *, after: int = 0, limit: int = 1000) -> list[AuditEvent]:
        """Lines of a tenant (None: of all) with a sequence above `after`, in order."""

    async def newest_audit(self, tenant: str | None, *, limit: int = 100) -> list[AuditEvent]:
        """The newest lines, newest first."""

    async def check_audit(self) -> Chain:
        """Check the chain of the whole log."""

    async def put_feedback(self, feedback: Feedback) -> None:
        """Store an opinion."""

    async def feedback(self, kb: KbId, *, limit: int = 100) -> list[Feedback]:
        """The newest first."""
