"""Runs a blocking walk on a named thread, so that disk reads never stop the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from kaijuan.ingest.ports import SourceFailure, SourceItem

_MOST_ITEMS = 64
_MOST_BYTES = 256 * 1024


async def stepped(
    items: Iterator[SourceItem | SourceFailure], *, leaving: Callable[[], None] = lambda: None
) -> AsyncIterator[SourceItem | SourceFailure]:
    """Yield from `items`, which advance on one thread of their own.

    Small items are fetched some at a time, because a corpus of 26,000 lines would spend its time changing threads;
    what is held at once is a quarter of a MiB and one item. `leaving` is called when the walk ends or is left, and
    must free the thread should it wait for something.
    """
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="kaijuan-source") as reader:
        try:
            while some := await loop.run_in_executor(reader, _some, items):
                for item in some:
                    yield item
        finally:
            leaving()
            # On the same thread: connections to databases may be closed on no other.
            await loop.run_in_executor(reader, _close, items)


def _close(items: Iterator[SourceItem | SourceFailure]) -> None:
    close = getattr(items, "close", None)
    if close is not None:
        close()


def _some(items: Iterator[SourceItem | SourceFailure]) -> list[SourceItem | SourceFailure]:
    some: list[SourceItem | SourceFailure] = []
    held = 0
    for item in items:
        some.append(item)
        held += item.size if isinstance(item, SourceItem) else 0
        if held >= _MOST_BYTES or len(some) >= _MOST_ITEMS:
            break
    return some
