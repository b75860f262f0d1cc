"""Verbs about who may use a base: users, groups, keys, roles and readers, the audit log, what readers say."""

from __future__ import annotations

import asyncio
import builtins
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from kaijuan.core import keys as key_texts
from kaijuan.core.audit import Chain
from kaijuan.core.feedback import Feedback, FeedbackVerdict
from kaijuan.core.identity import (
    FOLDER,
    OPERATOR,
    TENANT,
    Account,
    Action,
    ApiKey,
    AuditEvent,
    Role,
    Who,
    group_principal,
    user_principal,
)
from kaijuan.core.ids import DocumentId
from kaijuan.errors import BusyError, NotFoundError, UsageError
from kaijuan.index.access import Binding
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.verbs.holding import rests_on_readable
from kaijuan.verbs.wiring import Wired

_COMMAND = "command line"
_LONGEST = 10_000
_PATIENCE = 60.0
"""Seconds for which a run on the base is waited for."""


class Sharing(Wired):
    """Access, and the record of it."""

    async def put_user(self, name: str, *, role: Role = Role.READER, disabled: bool = False) -> Account:
        """Make a user of the tenant, or change role and state of one. A disabled user's keys open nothing."""
        self._make_home()
        now = self._clock()
        key_texts.checked_name(name)
        made = Account(tenant=self.tenant, name=name, role=role, created_at=now, disabled_at=now if disabled else None)
        await self.catalog.put_account(made)
        await self._recorded("put_user", f"user:{name}", f"{role.value}{', disabled' if disabled else ''}")
        return await self._account(name)

    async def users(self) -> builtins.list[Account]:
        """Return the users of the tenant, by name."""
        return await self.catalog.accounts(self.tenant)

    async def join_group(self, group: str, user: str) -> None:
        """Put a user into a group."""
        key_texts.checked_name(group, "group")
        await self.catalog.join_group(self.tenant, group, user)
        await self._recorded("join_group", f"group:{group}", user)

    async def leave_group(self, group: str, user: str) -> None:
        """Take a user out of a group."""
        await self.catalog.leave_group(self.tenant, group, user)
        await self._recorded("leave_group", f"group:{group}", user)

    async def create_key(
        self,
        user: str,
        *,
        label: str = "",
        scopes: Collection[Action] = tuple(Action),
        bases: Collection[str] | None = None,
        days: float | None = None,
    ) -> tuple[ApiKey, str]:
        """Return a new API key of a user, and its text, which is shown this once and kept nowhere.

        `scopes` and `bases` narrow what the user may do; without `days` the key does not expire.
        """
        await self._account(user)
        now = self._clock()
        key, text = key_texts.new_key(
            tenant=self.tenant,
            user=user,
            label=label,
            scopes=scopes,
            bases=bases,
            now=now,
            expires_at=None if days is None else now + days * 86_400,
        )
        await self.catalog.put_key(key)
        await self._recorded("create_key", f"key:{key.id}", user)
        return key, text

    async def keys(self) -> builtins.list[ApiKey]:
        """Return the API keys of the tenant, oldest first."""
        return await self.catalog.keys(self.tenant)

    async def revoke_key(self, id: str) -> None:
        """Let a key open nothing any more, from the next request on."""
        await self.catalog.revoke_key(self.tenant, id, now=self._clock())
        await self._recorded("revoke_key", f"key:{id}")

    async def who_is(self, user: str) -> Who:
        """Return a user as the service sees them."""
        account = await self._account(user)
        return Who(tenant=self.tenant, name=user, role=account.role, groups=frozenset(account.groups))

    async def access(self) -> builtins.list[Binding]:
        """Return who is bound to the base, its folders and documents."""
        return await self.catalog.bindings((await self._kb()).id)

    async def grant(self, principal: str, *, role: Role = Role.READER, on: str = "") -> builtins.list[str]:
        """Give a principal a role in the base, or let it read a part; return the addresses of the documents concerned.

        A principal is a user, `group:NAME`, or `tenant` for every user. `on` is a document, or a folder with a slash
        at its end; the whole base by default. A document or folder with readers of its own is closed to all others,
        except those who run the tenant.
        """
        kb = await self._kb()
        resource = await self._resource(kb, on)
        name = await self._principal(principal)
        if resource != kb.id and not any(one.resource == resource for one in await self.catalog.bindings(kb.id)):
            # Whoever runs the tenant keeps what they can read; revoking "all" closes it to them too.
            await self.catalog.grant(kb.id, resource, OPERATOR)
        await self.catalog.grant(kb.id, resource, name, role)
        await self._recorded("grant", on or kb.name, f"{role.value} {name}")
        return await self._refreshed(kb, resource)

    async def revoke(self, principal: str, *, on: str = "") -> builtins.list[str]:
        """Take a role or the right to read away; the next request sees it. Return the documents concerned."""
        kb = await self._kb()
        resource = await self._resource(kb, on)
        name = OPERATOR if principal == OPERATOR else await self._principal(principal, known=False)
        await self.catalog.revoke(kb.id, resource, name)
        await self._recorded("revoke", on or kb.name, name)
        return await self._refreshed(kb, resource)

    async def inherit(self, on: str) -> builtins.list[str]:
        """Let a document or folder be governed by what is above it again; return the documents concerned."""
        kb = await self._kb()
        resource = await self._resource(kb, on)
        await self.catalog.inherit(kb.id, resource)
        await self._recorded("inherit", on)
        return await self._refreshed(kb, resource)

    async def audit_log(self, *, after: int = 0, limit: int = 1000) -> builtins.list[AuditEvent]:
        """Return lines of the tenant's audit log in order, those with a sequence above `after`."""
        return await self.catalog.audit(self.tenant, after=after, limit=limit)

    async def newest_audit(self, *, limit: int = 50) -> builtins.list[AuditEvent]:
        """Return the newest lines of the tenant's audit log, the oldest of them first."""
        return (await self.catalog.newest_audit(self.tenant, limit=limit))[::-1]

    async def check_audit(self) -> Chain:
        """Check that no line of the audit log, of any tenant, was changed or dropped."""
        return await self.catalog.check_audit()

    async def give_feedback(
        self,
        question: str,
        verdict: FeedbackVerdict,
        *,
        trace_id: str = "",
        comment: str = "",
        answer: str = "",
        citations: Sequence[Mapping[str, object]] = (),
        by: str = "",
    ) -> Feedback:
        """Keep what somebody thinks of an answer."""
        kb = await self._kb()
        if max(map(len, (question, comment))) > _LONGEST or len(answer) > 10 * _LONGEST:
            raise UsageError("That is too long.", hint=f"Write at most {_LONGEST:,} characters.")
        given = Feedback(
            id=uuid.uuid4().hex,
            kb_id=kb.id,
            trace_id=trace_id,
            at=self._clock(),
            by=by,
            verdict=verdict,
            question=question,
            body={"comment": comment, "answer": answer, "citations": builtins.list(citations)},
        )
        await self.catalog.put_feedback(given)
        return given

    async def feedback(self, *, limit: int = 100) -> builtins.list[Feedback]:
        """Return what was said about answers, the newest first.

        Of those about answers that rest on what the caller may not read, or whose trace is gone, only the verdict is
        told: a question, too, may say what somebody had read.
        """
        kb = await self._kb()
        found = await self.catalog.feedback(kb.id, limit=limit)
        return [one if await self._may_read(kb, one) else _withheld(one) for one in found]

    async def _may_read(self, kb: KnowledgeBase, feedback: Feedback) -> bool:
        if self.actor and feedback.by == self.actor:
            return True
        try:
            body = (await self.catalog.trace(feedback.trace_id)).body
        except NotFoundError:
            return False
        return await rests_on_readable(self.catalog, kb, body, self._principals)

    async def _account(self, name: str) -> Account:
        found = await self.catalog.account(self.tenant, name)
        if found is None:
            raise NotFoundError(f"There is no user {name!r}.", hint=f"Make one: kaijuan access user {name}.")
        return found

    async def _principal(self, word: str, *, known: bool = True) -> str:
        if word == TENANT:
            return TENANT
        kind, _, name = word.rpartition(":")
        if kind == "group":
            return group_principal(key_texts.checked_name(name, "group"))
        if kind not in ("", "user"):
            raise UsageError(f"{word!r} is nobody.", hint="Give a user, group:NAME, or tenant for every user.")
        if known and await self.catalog.account(self.tenant, name) is None:
            # A slip would open nothing and seem to have worked; users of tokens are made known first.
            raise NotFoundError(f"There is no user {name!r}.", hint=f"Make one: kaijuan access user {name}.")
        return user_principal(name)

    async def _resource(self, kb: KnowledgeBase, on: str) -> str:
        if not on:
            return kb.id
        if on.endswith("/"):
            return FOLDER + (next(iter(self._opener.scopes(on)), on) if "://" not in on and ":/" not in on else on)
        # Whoever manages a base may also open to others what they cannot read themselves.
        found = {version.document_id for version in await self._named(kb, on, kb.head)}
        if len(found) != 1:
            kind = UsageError if found else NotFoundError
            raise kind(f"{on!r} is {len(found)} documents.", hint="Give the whole address or id that the list shows.")
        return found.pop()

    async def _refreshed(self, kb: KnowledgeBase, resource: str) -> builtins.list[str]:
        """Write the present readers to the points of all documents that the resource governs."""
        if kb.head == 0:
            return []
        prefix = resource.removeprefix(FOLDER) if resource.startswith(FOLDER) else ""
        found = await self.catalog.versions(kb.id, kb.head, prefix=prefix, limit=1_000_000)
        concerned = [one for one in found if resource in (kb.id, one.document_id) or prefix]
        documents: set[DocumentId] | None = None if resource == kb.id else {one.document_id for one in concerned}
        if documents is None or documents:
            await self._follow(kb, documents)
        return [one.source for one in concerned]

    async def _follow(self, kb: KnowledgeBase, documents: set[DocumentId] | None) -> None:
        """Let the index follow the catalog, which holds already. While a run writes to the base it is waited for."""
        until = asyncio.get_running_loop().time() + _PATIENCE
        while True:
            try:
                await self._ingest().refresh_access(kb, documents)
                return
            except BusyError as error:
                if asyncio.get_running_loop().time() >= until:
                    hint = "Access is changed; new readers find it after `kaijuan doctor --repair`."
                    raise BusyError(error.message, hint=hint) from error
            await asyncio.sleep(0.5)

    async def _recorded(self, action: str, resource: str, detail: str = "") -> None:
        event = AuditEvent(
            at=self._clock(),
            tenant=self.tenant,
            who=self.actor or _COMMAND,
            action=action,
            resource=resource,
            decision="allowed",
            detail=detail,
        )
        await self.catalog.record([event])


def _withheld(feedback: Feedback) -> Feedback:
    return replace(feedback, question="", body={"withheld": True})
