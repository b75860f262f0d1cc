"""Progress of something that is counted, on standard error: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kaijuan.cli import screen

PLAIN_SECONDS = 5.0
"""Least time between two plain lines."""

Counted = Callable[[int, int], None]
"""Told how many of how many are done."""


@contextmanager
def shown_count(words: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Counted]:
    """Give a function that shows how far the work called `words` is ("asking cmrc2018_zh")."""
    console = screen.err()
    label = screen.line(words)
    if console.is_terminal and not console.is_dumb_terminal:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn(label, markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    last = clock() - PLAIN_SECONDS

    def report(done: int, total: int) -> None:
        nonlocal last
        if done < total and clock() - last < PLAIN_SECONDS:
            return
        last = clock()
        console.print(f"{label}: {done} of {total}", soft_wrap=True)

    yield report
