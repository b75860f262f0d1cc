"""One line for each request: who asked what of which route, and how it ended. No key, no question, no document's word.

Paths are told as the routes have them, since their parts may be names of documents, terms and citations.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from starlette.types import Scope

from kaijuan.core.identity import Who

_log = logging.getLogger("kaijuan.server.access")
_PREFIXES = ("/api/v1", "/v1")
_CONSOLE = "/console"
_FIXED = frozenset({"/", "/mcp", "/openapi.json"})
"""Paths of routes without parts, which leave no template behind."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"
"""A method or a route that the service does not have: what callers make up must not fill the figures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request that has ended. `status` is 0 where the caller went before anything was sent."""

    request_id: str
    method: str
    route: str
    status: int
    ms: float
    tenant: str = ""
    user: str = ""
    kb: str = ""
    snapshot: int | None = None
    """The newest of the base as the request came in; a question may have named an older one."""
    question: str = ""
    """Only where telemetry.questions allows it."""


def served(scope: Scope, status: int, seconds: float) -> Served:
    """Return what is told of a request, from what its way through the service has left in its state."""
    state: Mapping[str, Any] = scope.get("state", {})
    who = state.get("who")
    return Served(
        request_id=str(state.get("request_id", "")),
        method=scope["method"] if scope["method"] in _METHODS else OTHER,
        route=route_of(scope),
        status=status,
        ms=round(seconds * 1000, 1),
        tenant=who.tenant if isinstance(who, Who) else "",
        user=who.name if isinstance(who, Who) else "",
        kb=str(state.get("kb", "")),
        snapshot=state.get("snapshot"),
        question=str(state.get("question", "")),
    )


def route_of(scope: Scope) -> str:
    """Return the template of the route that served a request, `other` where there was none."""
    path = scope["path"]
    found = getattr(scope.get("route"), "path", "")
    if not found and path in _FIXED:
        return str(path)
    if not found:
        return f"{_CONSOLE}/{{path}}" if path.startswith(f"{_CONSOLE}/") else OTHER
    # Some versions of FastAPI tell a router's routes without the prefix that it was included under.
    prefix = next((one for one in _PREFIXES if path.startswith(f"{one}/")), "")
    return found if found.startswith(prefix) else prefix + found


def tell(request: Served) -> None:
    """Log a request at level INFO."""
    said = f"{request.method} {request.route} {request.status} {request.ms:.1f}ms {request.request_id}"
    _log.info(said, extra={"request": request})


class JsonLines(logging.Formatter):
    """Log records as JSON, one object a line: `at`, `level`, `logger`, and either `message` or a request's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {"at": at, "level": record.levelname.lower(), "logger": record.name}
        request = getattr(record, "request", None)
        if isinstance(request, Served):
            line |= {name: value for name, value in asdict(request).items() if value not in ("", None)}
        else:
            line["message"] = record.getMessage()
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        # Half a surrogate pair, which names may hold, is no UTF-8: ASCII can write it.
        return json.dumps(line, ensure_ascii=not _is_text(line))


def _is_text(line: Mapping[str, object]) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for value in line.values() for letter in str(value))


def start_json() -> None:
    """Let the process log JSON lines where it logged text, and every request."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(JsonLines())
    _log.setLevel(logging.INFO)
