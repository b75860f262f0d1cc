"""Readers that ask without pause while something else goes on, and check each answer."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Ask = Callable[[int], Awaitable[str]]
"""Asks one question; returns what is wrong with the answer, "" when nothing is."""
READERS = 4
_KEPT = 5


@dataclass(slots=True)
class Watched:
    """What readers saw during one phase."""

    name: str
    seconds: list[float] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    spent: float = 0.0

    def row(self) -> dict[str, Any]:
        """Return the phase as it is stored."""
        ordered = sorted(self.seconds)

        def at(share: float) -> float:
            return round(1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2) if ordered else 0.0

        return {
            "phase": self.name,
            "seconds": round(self.spent, 1),
            "searches": len(ordered),
            "ms": {"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "longest": at(1.0)},
            "faults": dict(self.faults.most_common(_KEPT)),
        }


async def beside(name: str, ask: Ask, work: Awaitable[T], *, readers: int = READERS) -> tuple[Watched, T]:
    """Let readers ask until the work is done; return what they saw, and what the work came to."""
    watched = Watched(name)
    done = asyncio.Event()

    async def reader(number: int) -> None:
        at = number
        while not done.is_set():
            started = time.perf_counter()
            try:
                fault = await ask(at)
            except Exception as error:  # noqa: BLE001 whatever a reader meets is what this counts
                fault = f"{type(error).__name__}: {error}"
            watched.seconds.append(time.perf_counter() - started)
            if fault:
                watched.faults[fault] += 1
            at += readers

    started = time.perf_counter()
    tasks = [asyncio.create_task(reader(number)) for number in range(readers)]
    try:
        result = await work
    finally:
        done.set()
        await asyncio.gather(*tasks)
        watched.spent = time.perf_counter() - started
    return watched, result
