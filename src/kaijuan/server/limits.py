"""How often a caller may ask: token buckets by name, kept in this process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from kaijuan.errors import TooManyRequestsError

_MOST_NAMES = 100_000
_BURST_SECONDS = 20.0


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Limiter:
    """Each name may do `per_minute` things a minute, a third of them at once. The least recently seen are forgotten."""

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        self._rate = per_minute / 60.0
        self._room = max(1.0, self._rate * _BURST_SECONDS)
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, name: str) -> None:
        """Count one thing; TooManyRequestsError when the name has none left."""
        bucket = self._filled(name)
        if bucket.left < 1.0:
            raise TooManyRequestsError("Too many requests.", hint=f"Wait {(1 - bucket.left) / self._rate:.1f} seconds.")
        bucket.left -= 1.0

    def _filled(self, name: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.setdefault(name, _Bucket(self._room, now))
        self._buckets.move_to_end(name)
        bucket.left = min(self._room, bucket.left + max(0.0, now - bucket.at) * self._rate)
        bucket.at = now
        while len(self._buckets) > _MOST_NAMES:
            self._buckets.popitem(last=False)
        return bucket
