"""Who asks, and what a role allows (spec O3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

OPERATOR = "all"
"""The principal of whoever runs the home: the local command, the local user of a service without identity, and the
owners of a tenant. Every new base is readable by it, and by nobody else."""

FOLDER = "folder:"
"""Begins the resource that stands for all documents whose address begins with what follows."""


class Action(StrEnum):
    """What a caller wants to do with a base."""

    READ = "read"
    """Search, ask, list and open what the caller's principals may read."""
    WRITE = "write"
    """Add and remove documents, decide about reviews and duplicates, keep the glossary."""
    MANAGE = "manage"
    """Grant and revoke access, make and drop bases, make keys."""
    AUDIT = "audit"
    """Read the audit log."""


class Role(StrEnum):
    """What somebody is to a tenant or a base."""

    OWNER = "owner"
    EDITOR = "editor"
    READER = "reader"
    AUDITOR = "auditor"
    """Reads the audit log and no document."""


ALLOWED: dict[Role, frozenset[Action]] = {
    Role.OWNER: frozenset(Action),
    Role.EDITOR: frozenset({Action.READ, Action.WRITE}),
    Role.READER: frozenset({Action.READ}),
    Role.AUDITOR: frozenset({Action.AUDIT}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """The caller of one request, as far as it could be proved."""

    tenant: str
    name: str
    """Of the user."""
    role: Role
    """In the tenant. A base may give a higher one."""
    groups: frozenset[str] = frozenset()
    scopes: frozenset[Action] = frozenset(Action)
    """What the key in use may do at most, whatever the role."""
    bases: frozenset[str] | None = None
    """Names of the only bases that the key in use opens; None for all."""
    key: str = ""
    """Id of the key in use."""
    local: bool = False
    """Whether this is the one user of a service without identity, or the command line."""

    @property
    def principals(self) -> frozenset[str]:
        """The names under which documents are shared with the caller."""
        own = {user_principal(self.name), TENANT, *map(group_principal, self.groups)}
        if self.local:
            return frozenset({OPERATOR})
        return frozenset(own | {OPERATOR}) if self.role is Role.OWNER else frozenset(own)

    @property
    def is_owner(self) -> bool:
        """Whether the caller runs the tenant."""
        return self.local or self.role is Role.OWNER


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user of a tenant. Users of tokens need none; it gives them a role, or shuts them out."""

    tenant: str
    name: str
    role: Role
    created_at: float
    """Seconds since 1970, UTC."""
    disabled_at: float | None = None
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key without its secret, of which only `digest` is kept."""

    id: str
    tenant: str
    user: str
    label: str
    digest: str
    scopes: frozenset[Action]
    created_at: float
    bases: frozenset[str] | None = None
    """Names of the only bases that it opens; None for all that its user may use."""
    expires_at: float | None = None
    revoked_at: float | None = None
    used_at: float | None = None

    def is_valid(self, now: float) -> bool:
        """Say whether it opens anything at this moment."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One line of the audit log: who did what to what, and whether they might."""

    at: float
    tenant: str
    who: str
    action: str
    resource: str
    decision: str
    """"allowed" or "denied"."""
    key: str = ""
    snapshot: int | None = None
    request: str = ""
    detail: str = ""
    sequence: int = 0
    previous: str = ""
    """Hash of the line before."""
    hash: str = ""
    """Of this line and `previous`, so that no line can be changed or dropped unseen."""


TENANT = "tenant"
"""The principal that every user of the tenant has. A base belongs to one tenant, so that no name is needed."""


def user_principal(name: str) -> str:
    """Return the principal of a user."""
    return f"user:{name}"


def group_principal(name: str) -> str:
    """Return the principal of a group."""
    return f"group:{name}"


def actions_of(roles: Collection[Role]) -> frozenset[Action]:
    """Return what several roles allow together."""
    return frozenset(action for role in roles for action in ALLOWED[role])


def local_user(tenant: str = "default") -> Who:
    """Return the one user of a service without identity."""
    return Who(tenant=tenant, name="local", role=Role.OWNER, local=True)
