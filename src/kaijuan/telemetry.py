"""Events, counters, timings and spans without a vendor. Exporters plug in here; nothing configures a root logger."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

_log = logging.getLogger("kaijuan")
_log.addHandler(logging.NullHandler())
_counts: Counter[str] = Counter()
_lock = threading.Lock()
Attributes = Mapping[str, str | int | float | bool]


class Spans(Protocol):
    """Whoever wants to know which step ran within which, and how long."""

    def around(self, name: str) -> AbstractContextManager[object]:
        """Return what encloses a step, and the steps that begin within it."""

    def ended(self, name: str, seconds: float, attributes: Attributes, failure: str) -> None:
        """A step has ended that took this long; `failure` is the code of an error, or "" for none."""


_spans: Spans | None = None


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


def tell_spans(spans: Spans | None) -> None:
    """Tell steps to somebody from now on, in this whole process; None for nobody, as at first."""
    global _spans
    _spans = spans


def ended(name: str, seconds: float, attributes: Attributes, failure: str = "") -> None:
    """Tell of a step that has ended now. For what runs in pieces, such as streams, which nothing can enclose."""
    if _spans is not None:
        _spans.ended(name, seconds, attributes, failure)


@contextmanager
def timed(into: dict[str, float], name: str, span: str | None = None) -> Iterator[None]:
    """Store the milliseconds that the block took under `name`.

    It is a step named `span` (by default `name`) with those within it; "" for none, as generators must say: what
    happens between their items is not theirs.
    """
    start = time.perf_counter()
    step = name if span is None else span
    try:
        with _spans.around(step) if _spans is not None and step else nullcontext():
            yield
    finally:
        into[name] = round((time.perf_counter() - start) * 1000, 3)
