"""API keys: made, read, compared. A key is `kj_ID_SECRET`; only a hash of the secret is ever kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection

from kaijuan.core.identity import Action, ApiKey
from kaijuan.errors import UsageError

_KEY = re.compile(r"kj_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[^\s:/\\\x00-\x1f\x7f][^:/\\\x00-\x1f\x7f]{0,99}")


def new_key(
    *,
    tenant: str,
    user: str,
    now: float,
    label: str = "",
    scopes: Collection[Action] = tuple(Action),
    bases: Collection[str] | None = None,
    expires_at: float | None = None,
) -> tuple[ApiKey, str]:
    """Return a fresh key and its text, which is shown once and kept nowhere."""
    if expires_at is not None and expires_at <= now:
        raise UsageError("The key would have expired already.", hint="Give a time to come.")
    if not scopes:
        raise UsageError("A key without scopes opens nothing.", hint="Scopes: read, write, manage, audit.")
    id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    made = ApiKey(
        id=id,
        tenant=tenant,
        user=user,
        label=label,
        digest=_digest(secret),
        scopes=frozenset(scopes),
        bases=None if bases is None else frozenset(bases),
        created_at=now,
        expires_at=expires_at,
    )
    return made, f"kj_{id}_{secret}"


def id_of(text: str) -> str:
    """Return the id in a key's text; "" for what is no key."""
    found = _KEY.fullmatch(text)
    return found[1] if found else ""


def opens(key: ApiKey, text: str) -> bool:
    """Say whether this is the text of the key. Takes as long whatever is wrong."""
    found = _KEY.fullmatch(text)
    return found is not None and hmac.compare_digest(_digest(found[2]), key.digest)


def checked_name(name: str, what: str = "user") -> str:
    """Return the name of a user, group or tenant; UsageError for one that could be taken for something else."""
    if not _NAME.fullmatch(name) or name != name.strip():
        raise UsageError(f"{name[:80]!r} cannot be the name of a {what}.", hint="No blanks at the ends, no : / \\.")
    return name


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
