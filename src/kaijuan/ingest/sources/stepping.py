"""Runs a blocking generator on a named thread, so that disk reads never stop the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

_DONE = object()


async def stepped(items: Iterator[T]) -> AsyncIterator[T]:
    """Yield from `items`, each step on one thread of its own; at most one item is held."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-source") as reader:
        while (item := await loop.run_in_executor(reader, next, items, _DONE)) is not _DONE:
            yield item  # type: ignore[misc]  # the sentinel is excluded by the condition
