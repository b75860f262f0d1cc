"""The one gate before every base: who calls, what they may do there, how often, and the record of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

from fastapi import Request

from kaijuan.core import keys
from kaijuan.core.identity import Action, AuditEvent, Role, Who, actions_of, local_user
from kaijuan.engine import Kaijuan
from kaijuan.errors import AccessError, KaijuanError, NotFoundError, UnauthenticatedError
from kaijuan.index.catalog import Catalog
from kaijuan.server.limits import Limiter
from kaijuan.server.problems import request_id
from kaijuan.server.tokens import Tokens, is_token
from kaijuan.verbs.wiring import viewed

_log = logging.getLogger("kaijuan.server")
_FAILURES_PER_MINUTE = 60
"""Wrong keys from one address."""
_USED_SECONDS = 60.0
_FLUSH_SECONDS = 0.5
_MOST_WAITING = 500


class Gate:
    """Lets callers through to the bases that are theirs. Nothing is remembered of rights: each request asks anew."""

    def __init__(self, engine: Kaijuan, clock: Callable[[], float]) -> None:
        settings = engine.config.identity
        self._engine = engine
        self._clock = clock
        self._settings = settings
        self._tokens = Tokens(settings, clock) if settings.issuer else None
        self._on = settings.mode == "on" or (settings.mode == "auto" and bool(settings.issuer))
        self._callers = Limiter(settings.requests_per_minute, clock)
        self._tenants = Limiter(settings.tenant_requests_per_minute, clock)
        self._failures = Limiter(_FAILURES_PER_MINUTE, clock)
        self._used: dict[str, float] = {}
        self._waiting: list[AuditEvent] = []
        self._flushing: asyncio.Task[None] | None = None

    @property
    def _catalog(self) -> Catalog:
        return self._engine.catalog

    async def is_on(self) -> bool:
        """Say whether callers must say who they are. Once on, it stays on."""
        if not self._on and self._settings.mode == "auto" and self._engine.home.exists():
            self._on = await self._catalog.any_key()
        return self._on

    # --- who ----------------------------------------------------------------------------------------------------

    async def caller(self, request: Request) -> Who:
        """Return who calls, or refuse; counts against their limits. The log is told too."""
        request.state.who = who = await self._counted(request)
        return who

    async def _counted(self, request: Request) -> Who:
        if not await self.is_on():
            return local_user(self._engine.tenant)
        try:
            who = await self._known(_bearer(request))
        except UnauthenticatedError:
            # Right keys are let through all the same: many callers may come from the one address of a proxy.
            self._failures.take(request.client.host if request.client else "")
            raise
        self._callers.take(who.key or f"{who.tenant}/{who.name}")
        self._tenants.take(who.tenant)
        return who

    async def _known(self, text: str) -> Who:
        if not text:
            raise UnauthenticatedError("Say who you are.")
        if id := keys.id_of(text):
            return await self._holder(id, text)
        if self._tokens is not None and is_token(text):
            return await self._bearer_of(await self._tokens.who(text))
        raise UnauthenticatedError("The key is not accepted.")

    async def _holder(self, id: str, text: str) -> Who:
        key = await self._catalog.key(id)
        now = self._clock()
        if key is None or not keys.opens(key, text) or not key.is_valid(now):
            # The same words for all: which keys there are is nobody's business.
            raise UnauthenticatedError("The key is not accepted.")
        account = await self._catalog.account(key.tenant, key.user)
        if account is None or account.disabled_at is not None:
            raise UnauthenticatedError("The key is not accepted.")
        if now - self._used.get(id, 0.0) > _USED_SECONDS:
            self._used[id] = now
            await self._catalog.use_key(id, now=now)
        return Who(
            tenant=key.tenant,
            name=key.user,
            role=account.role,
            groups=frozenset(account.groups),
            scopes=key.scopes,
            bases=key.bases,
            key=id,
        )

    async def _bearer_of(self, who: Who) -> Who:
        """Return the holder of a token with what is known here about them."""
        account = await self._catalog.account(who.tenant, who.name)
        if account is None:
            return who
        if account.disabled_at is not None:
            raise UnauthenticatedError("The token is not accepted: the user is shut out.")
        role = who.role if self._settings.role_claim else account.role
        return replace(who, role=role, groups=who.groups | set(account.groups))

    # --- what ---------------------------------------------------------------------------------------------------

    async def actions(self, who: Who, kb: str) -> frozenset[Action]:
        """Return what the caller may do with a base; nothing where it is not theirs or not there."""
        return (await self._standing(who, kb))[0]

    async def _standing(self, who: Who, kb: str) -> tuple[frozenset[Action], int | None]:
        """Return what the caller may do with a base, and the base's newest snapshot."""
        if (who.bases is not None and kb not in who.bases) or not self._engine.home.exists():
            return frozenset(), None
        try:
            base = await self._catalog.kb(who.tenant, kb)
        except NotFoundError:
            return frozenset(), None
        if who.is_owner:
            return actions_of([Role.OWNER]) & who.scopes, base.head
        return actions_of(await self._catalog.roles(base.id, who.principals)) & who.scopes, base.head

    async def enter(self, request: Request, who: Who, kb: str, action: Action) -> Kaijuan:
        """Return the engine for one base as the caller sees it, or refuse, and record either."""
        allowed, head = await self._standing(who, kb)
        if allowed:
            request.state.kb, request.state.snapshot = kb, head
        await self.note(request, who, action, kb, allowed=action in allowed, snapshot=head)
        if not allowed:
            # A base that is not the caller's is not there: its name, too, may tell something.
            raise NotFoundError(f"There is no knowledge base {kb!r}.", hint="/api/v1/kbs and /v1/models list yours.")
        if action not in allowed:
            raise AccessError(f"You may not {action.value} here.")
        return self.view(who, kb)

    def view(self, who: Who, kb: str) -> Kaijuan:
        """Return the engine for one base as the caller sees it, unasked."""
        return viewed(self._engine, kb=kb, tenant=who.tenant, principals=who.principals, actor=who.name)

    async def owning(self, request: Request, who: Who, action: Action) -> Kaijuan:
        """Return the engine for what belongs to the whole tenant, or refuse."""
        fits = who.is_owner or (action is Action.AUDIT and who.role is Role.AUDITOR)
        fits = fits and action in who.scopes and who.bases is None
        await self.note(request, who, action, "tenant", allowed=fits)
        if not fits:
            raise AccessError(f"Only who runs the tenant may {action.value} here.")
        return self.view(who, self._engine.kb_name)

    # --- the record ---------------------------------------------------------------------------------------------

    async def note(
        self, request: Request, who: Who, action: Action, resource: str, *, allowed: bool, snapshot: int | None = None
    ) -> None:
        """Record a decision, with the newest snapshot of its moment.

        What changes something is recorded before it happens, the rest within a moment.
        """
        if who.local or not self._settings.audit:
            return
        event = AuditEvent(
            at=self._clock(),
            tenant=who.tenant,
            who=who.name,
            key=who.key,
            action=action.value,
            resource=resource,
            decision="allowed" if allowed else "denied",
            snapshot=snapshot,
            request=request_id(request),
            # Without the query: a question may be private.
            detail=f"{request.method} {request.url.path}"[:500],
        )
        self._waiting.append(event)
        if action in (Action.WRITE, Action.MANAGE) or len(self._waiting) >= _MOST_WAITING:
            await self.flush()
        elif self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush_soon())

    async def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            await self._catalog.record(waiting)

    async def _flush_soon(self) -> None:
        await asyncio.sleep(_FLUSH_SECONDS)
        try:
            await self.flush()
        except KaijuanError as error:
            _log.error("the audit log cannot be written: %s", error)

    async def close(self) -> None:
        """Write what waits, and end."""
        if self._flushing is not None:
            self._flushing.cancel()
        await self.flush()


def _bearer(request: Request) -> str:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if kind.lower() == "bearer" else request.headers.get("x-api-key", "").strip()
