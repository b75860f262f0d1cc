"""Routes that fail again and again are left out for a while, so that not every search waits for them (spec G1)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Standing:
    failures: int = 0
    open_until: float = 0.0


@dataclass(slots=True)
class Breakers:
    """Counts failures in a row by route. Shared by the searches of one engine."""

    clock: Callable[[], float] = time.monotonic
    _routes: dict[str, _Standing] = field(default_factory=dict)

    def shut_out(self, names: Collection[str]) -> set[str]:
        """Return the routes that are left out now; never all of them, since then nothing could be found."""
        now = self.clock()
        out = {name for name in names if name in self._routes and self._routes[name].open_until > now}
        return set() if len(out) == len(names) else out

    def failures(self, name: str) -> int:
        """Return how often in a row a route has failed."""
        return self._routes[name].failures if name in self._routes else 0

    def record(self, name: str, *, ok: bool, after: int, seconds: float) -> None:
        """Note how a route fared; from the failure number `after` on, each leaves it out for so many seconds."""
        if ok:
            self._routes.pop(name, None)
            return
        standing = self._routes.setdefault(name, _Standing())
        standing.failures += 1
        if standing.failures >= after:
            standing.open_until = self.clock() + seconds
