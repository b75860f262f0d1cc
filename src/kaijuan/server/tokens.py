"""JSON web tokens of an OpenID Connect provider: whose they are, by the provider's public keys (RFC 7519)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt

from kaijuan.core.identity import Role, Who
from kaijuan.core.keys import checked_name
from kaijuan.core.service_settings import IdentitySettings
from kaijuan.errors import UnauthenticatedError, UsageError

_FRESH_SECONDS = 300.0
"""How long fetched keys are used."""
_PAUSE_SECONDS = 30.0
"""Least time between two fetches that an unknown key asks for, so that forged tokens cannot make us ask at will."""
_FETCH_SECONDS = 10.0
_MOST_BYTES = 1 << 20
_LONGEST = 16_384
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def is_token(text: str) -> bool:
    """Say whether a text has the form of a signed token."""
    return text.count(".") == 2 and len(text) <= _LONGEST


class Tokens:
    """Tells who a token stands for."""

    def __init__(self, settings: IdentitySettings, clock: Callable[[], float]) -> None:
        if not settings.audience or not settings.jwks:
            raise UsageError(
                "An issuer needs an audience and keys.", hint="Set identity.audience and identity.jwks, or no issuer."
            )
        self._settings = settings
        self._keys = _Keys(settings.jwks, clock)

    async def who(self, token: str) -> Who:
        """Return the caller; UnauthenticatedError for a token that is wrong in any way."""
        try:
            head = jwt.get_unverified_header(token)
            if head.get("alg") not in self._settings.algorithms:
                raise jwt.InvalidAlgorithmError("the algorithm is not accepted")
            key = await self._keys.find(str(head.get("kid", "")))
            claims = jwt.decode(
                token,
                key,
                algorithms=[str(head["alg"])],
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=self._settings.skew_seconds,
                options={"require": ["exp", "iss", "aud", self._settings.user_claim]},
            )
            return self._caller(claims)
        except (jwt.PyJWTError, UsageError, KeyError) as error:
            raise UnauthenticatedError(f"The token is not accepted: {_said(error)}.", hint="Sign in again.") from error

    def _caller(self, claims: Mapping[str, Any]) -> Who:
        settings = self._settings
        groups = claims.get(settings.groups_claim, ())
        names = [str(one) for one in groups] if isinstance(groups, list | tuple) else []
        tenant = str(claims[settings.tenant_claim]) if settings.tenant_claim else settings.tenant
        role = str(claims.get(settings.role_claim, "")) if settings.role_claim else ""
        return Who(
            tenant=checked_name(tenant, "tenant"),
            name=checked_name(str(claims[settings.user_claim])),
            role=Role(role) if role in set(Role) else Role.READER,
            groups=frozenset(checked_name(name, "group") for name in names),
        )


def _said(error: Exception) -> str:
    return error.message if isinstance(error, UsageError) else str(error)[:200] or type(error).__name__


class _Keys:
    """The provider's public keys by id, from a file or an address."""

    def __init__(self, place: str, clock: Callable[[], float]) -> None:
        parts = urlsplit(place)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise UsageError("Keys fetched without encryption prove nothing.", hint="Give an https address.")
        self._place = place
        self._clock = clock
        self._found: dict[str, jwt.PyJWK] = {}
        self._fetched: float | None = None
        self._lock = asyncio.Lock()

    async def find(self, id: str) -> jwt.PyJWK:
        async with self._lock:
            age = None if self._fetched is None else self._clock() - self._fetched
            if age is None or age > _FRESH_SECONDS or (id not in self._found and age > _PAUSE_SECONDS):
                await self._fetch()
        if id not in self._found and len(self._found) == 1 and not id:
            return next(iter(self._found.values()))
        if id not in self._found:
            raise jwt.InvalidKeyError("its key is not known")
        return self._found[id]

    async def _fetch(self) -> None:
        data = await (self._asked() if urlsplit(self._place).scheme in ("http", "https") else self._read())
        try:
            found = jwt.PyJWKSet.from_dict(json.loads(data)).keys
        except (ValueError, jwt.PyJWTError) as error:
            raise jwt.InvalidKeyError("the keys of the issuer cannot be read") from error
        self._found = {str(key.key_id or ""): key for key in found}
        self._fetched = self._clock()

    async def _read(self) -> bytes:
        try:
            return await asyncio.to_thread(Path(self._place.removeprefix("file://")).read_bytes)
        except OSError as error:
            raise jwt.InvalidKeyError("the keys of the issuer cannot be read") from error

    async def _asked(self) -> bytes:
        import httpx

        try:
            async with httpx.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False) as client:
                answer = await client.get(self._place)
        except httpx.HTTPError as error:
            raise jwt.InvalidKeyError("the issuer does not answer") from error
        if answer.status_code != httpx.codes.OK or len(answer.content) > _MOST_BYTES:
            raise jwt.InvalidKeyError("the issuer does not give its keys")
        return answer.content
