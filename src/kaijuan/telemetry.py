"""Events, counters and timings without a vendor. Later exporters read from here; nothing configures a root logger."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("kaijuan")
_log.addHandler(logging.NullHandler())
_counts: Counter[str] = Counter()
_lock = threading.Lock()


def event(name: str, **fields: object) -> None:
    """Log one event with its fields at level INFO."""
    _log.info("%s %s", name, fields)


def count(name: str, by: int = 1) -> None:
    """Add to a counter of this process."""
    with _lock:
        _counts[name] += by


def counters() -> dict[str, int]:
    """Return a copy of all counters of this process."""
    with _lock:
        return dict(_counts)


@contextmanager
def timed(into: dict[str, float], name: str) -> Iterator[None]:
    """Store the milliseconds that the block took under `name`."""
    start = time.perf_counter()
    try:
        yield
    finally:
        into[name] = round((time.perf_counter() - start) * 1000, 3)
