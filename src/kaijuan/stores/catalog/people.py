"""Users, groups, keys, the audit log and feedback: rows and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from kaijuan.core.audit import Chain, chained, check
from kaijuan.core.feedback import Feedback, FeedbackVerdict
from kaijuan.core.identity import Account, Action, ApiKey, AuditEvent, Role
from kaijuan.core.ids import KbId
from kaijuan.errors import NotFoundError
from kaijuan.stores.catalog import tables, tables_of_people
from kaijuan.stores.catalog.connection import insert_missing

_accounts, _members, _keys = tables_of_people.account, tables_of_people.membership, tables_of_people.api_key
_audit, _feedback = tables_of_people.audit_event, tables_of_people.feedback
_STREAM = 1000


def _tenant(connection: Connection, tenant: str, now: float) -> None:
    insert_missing(connection, tables.tenant, [{"id": tenant, "created_at": now}])


def put_account(connection: Connection, account: Account) -> None:
    """Make a user, or change one."""
    _tenant(connection, account.tenant, account.created_at)
    this = (_accounts.c.tenant_id == account.tenant, _accounts.c.name == account.name)
    values = {"role": account.role.value, "disabled_at": account.disabled_at}
    new = {"tenant_id": account.tenant, "name": account.name, "created_at": account.created_at, **values}
    if not insert_missing(connection, _accounts, [new]):
        connection.execute(update(_accounts).where(*this).values(**values))


def account(connection: Connection, tenant: str, name: str) -> Account | None:
    """Return a user with its groups."""
    query = select(_accounts).where(_accounts.c.tenant_id == tenant, _accounts.c.name == name)
    row = connection.execute(query).one_or_none()
    groups = select(_members.c.group_name).where(_members.c.tenant_id == tenant, _members.c.user_name == name)
    return None if row is None else _account_of(row, sorted(each[0] for each in connection.execute(groups)))


def accounts(connection: Connection, tenant: str) -> list[Account]:
    """Return all users of a tenant."""
    groups: dict[str, list[str]] = {}
    for row in connection.execute(select(_members).where(_members.c.tenant_id == tenant)):
        groups.setdefault(row.user_name, []).append(row.group_name)
    query = select(_accounts).where(_accounts.c.tenant_id == tenant).order_by(_accounts.c.name)
    return [_account_of(row, sorted(groups.get(row.name, ()))) for row in connection.execute(query)]


def _account_of(row: Row[Any], groups: Sequence[str]) -> Account:
    return Account(
        tenant=row.tenant_id,
        name=row.name,
        role=Role(row.role),
        created_at=row.created_at,
        disabled_at=row.disabled_at,
        groups=tuple(groups),
    )


def join_group(connection: Connection, tenant: str, group: str, user: str) -> None:
    """Put a user into a group; NotFoundError when there is no such user."""
    if account(connection, tenant, user) is None:
        raise NotFoundError(f"There is no user {user!r}.", hint="`kaijuan access user` makes one.")
    insert_missing(connection, _members, [{"tenant_id": tenant, "group_name": group, "user_name": user}])


def leave_group(connection: Connection, tenant: str, group: str, user: str) -> None:
    """Take a user out of a group. Quiet when they are not in it."""
    this = (_members.c.tenant_id == tenant, _members.c.group_name == group, _members.c.user_name == user)
    connection.execute(delete(_members).where(*this))


def put_key(connection: Connection, key: ApiKey) -> None:
    """Store a new key."""
    _tenant(connection, key.tenant, key.created_at)
    values = {
        "id": key.id,
        "tenant_id": key.tenant,
        "user_name": key.user,
        "label": key.label,
        "digest": key.digest,
        "scopes": json.dumps(sorted(scope.value for scope in key.scopes)),
        "bases": "" if key.bases is None else json.dumps(sorted(key.bases)),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "used_at": key.used_at,
    }
    connection.execute(insert(_keys), values)


def key(connection: Connection, id: str) -> ApiKey | None:
    """Return a key of any tenant."""
    row = connection.execute(select(_keys).where(_keys.c.id == id)).one_or_none()
    return None if row is None else _key_of(row)


def keys(connection: Connection, tenant: str) -> list[ApiKey]:
    """Return the keys of a tenant, oldest first."""
    query = select(_keys).where(_keys.c.tenant_id == tenant).order_by(_keys.c.created_at, _keys.c.id)
    return [_key_of(row) for row in connection.execute(query)]


def any_key(connection: Connection) -> bool:
    """Say whether there ever was a key."""
    return connection.execute(select(_keys.c.id).limit(1)).first() is not None


def revoke_key(connection: Connection, tenant: str, id: str, now: float) -> None:
    """Let a key open nothing any more."""
    this = (_keys.c.id == id, _keys.c.tenant_id == tenant)
    if connection.execute(select(_keys.c.id).where(*this)).first() is None:
        raise NotFoundError(f"There is no key {id!r}.", hint="`kaijuan keys list` shows them.")
    connection.execute(update(_keys).where(*this, _keys.c.revoked_at.is_(None)).values(revoked_at=now))


def use_key(connection: Connection, id: str, now: float) -> None:
    """Note that a key was used."""
    connection.execute(update(_keys).where(_keys.c.id == id).values(used_at=now))


def _key_of(row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        tenant=row.tenant_id,
        user=row.user_name,
        label=row.label,
        digest=row.digest,
        scopes=frozenset(Action(scope) for scope in json.loads(row.scopes)),
        bases=frozenset(json.loads(row.bases)) if row.bases else None,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        used_at=row.used_at,
    )


def record(connection: Connection, events: Sequence[AuditEvent]) -> None:
    """Add lines to the audit log. The write lock is held: nobody else numbers lines meanwhile."""
    row = connection.execute(select(_audit).order_by(_audit.c.sequence.desc()).limit(1)).one_or_none()
    before = None if row is None else _event_of(row)
    for event in events:
        before = chained(event, before)
        connection.execute(insert(_audit), _event_values(before))


def audit(connection: Connection, tenant: str | None, after: int, limit: int) -> list[AuditEvent]:
    """Return lines in order."""
    query = select(_audit).where(_audit.c.sequence > after).order_by(_audit.c.sequence).limit(limit)
    if tenant is not None:
        query = query.where(_audit.c.tenant_id == tenant)
    return [_event_of(row) for row in connection.execute(query)]


def newest_audit(connection: Connection, tenant: str | None, limit: int) -> list[AuditEvent]:
    """Return the newest lines, newest first."""
    query = select(_audit).order_by(_audit.c.sequence.desc()).limit(limit)
    if tenant is not None:
        query = query.where(_audit.c.tenant_id == tenant)
    return [_event_of(row) for row in connection.execute(query)]


def check_audit(connection: Connection) -> Chain:
    """Check the chain."""

    def lines() -> Iterator[AuditEvent]:
        result = connection.execution_options(stream_results=True).execute(select(_audit).order_by(_audit.c.sequence))
        for part in result.partitions(_STREAM):
            yield from map(_event_of, part)

    return check(lines())


def _event_of(row: Row[Any]) -> AuditEvent:
    return AuditEvent(
        sequence=row.sequence,
        at=row.at,
        tenant=row.tenant_id,
        who=row.who,
        key=row.key_id,
        action=row.action,
        resource=row.resource,
        decision=row.decision,
        snapshot=row.snapshot,
        request=row.request_id,
        detail=row.detail,
        previous=row.previous,
        hash=row.hash,
    )


def _event_values(event: AuditEvent) -> dict[str, Any]:
    return {
        "sequence": event.sequence,
        "at": event.at,
        "tenant_id": event.tenant,
        "who": event.who,
        "key_id": event.key,
        "action": event.action,
        "resource": event.resource,
        "decision": event.decision,
        "snapshot": event.snapshot,
        "request_id": event.request,
        "detail": event.detail,
        "previous": event.previous,
        "hash": event.hash,
    }


def put_feedback(connection: Connection, feedback: Feedback) -> None:
    """Store an opinion."""
    values = {
        "id": feedback.id,
        "kb_id": feedback.kb_id,
        "trace_id": feedback.trace_id,
        "at": feedback.at,
        "by": feedback.by,
        "verdict": feedback.verdict.value,
        "question": feedback.question,
        "body": json.dumps(dict(feedback.body), ensure_ascii=True),
    }
    connection.execute(insert(_feedback), values)


def feedback(connection: Connection, kb: KbId, limit: int) -> list[Feedback]:
    """Return opinions, the newest first."""
    query = select(_feedback).where(_feedback.c.kb_id == kb)
    ordered = query.order_by(_feedback.c.at.desc(), _feedback.c.id).limit(limit)
    return [
        Feedback(
            id=row.id,
            kb_id=KbId(row.kb_id),
            trace_id=row.trace_id,
            at=row.at,
            by=row.by,
            verdict=FeedbackVerdict(row.verdict),
            question=row.question,
            body=json.loads(row.body),
        )
        for row in connection.execute(ordered)
    ]
