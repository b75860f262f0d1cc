"""Progress of a long run on standard error: a live line on a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kaijuan.cli import screen

if TYPE_CHECKING:
    from rich.console import Console

    from kaijuan.jobs.report import Progress, Stage

PLAIN_SECONDS = 5.0
"""Least time between two plain lines, unless the stage changes."""

Report = Callable[["Progress"], None]


@contextmanager
def shown_progress(clock: Callable[[], float] = time.monotonic) -> Iterator[Report]:
    """Give a function that shows each Progress handed to it."""
    console = screen.err()
    if console.is_terminal and not console.is_dumb_terminal:
        with _live(console, clock) as report:
            yield report
    else:
        yield _plain(console, clock)


def _plain(console: Console, clock: Callable[[], float]) -> Report:
    last_stage: Stage | None = None
    last_time = started = clock()

    def report(progress: Progress) -> None:
        nonlocal last_stage, last_time
        now = clock()
        if progress.stage == last_stage and now - last_time < PLAIN_SECONDS:
            return
        last_stage, last_time = progress.stage, now
        console.print(describe(progress, now - started), soft_wrap=True)

    return report


@contextmanager
def _live(console: Console, clock: Callable[[], float]) -> Iterator[Report]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    started = clock()
    columns = (SpinnerColumn(), BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(progress: Progress) -> None:
            # No total while folders are still being walked; the bar then pulses.
            words = describe(progress, clock() - started)
            bar.update(task, completed=progress.done, total=progress.total, description=words)

        yield report


def describe(progress: Progress, seconds: float) -> str:
    """Return the stage, what is done and how fast on one line."""
    done = f"{progress.done} of " if progress.total is not None else ""
    of_all = progress.done if progress.total is None else progress.total
    parts = [f"{progress.stage.value}: {done}{screen.count(of_all, 'document')}"]
    if progress.chunks:
        rate = progress.indexed / seconds if seconds > 0 else 0.0
        parts.append(f"{progress.indexed} of {progress.chunks} chunks indexed ({rate:.0f}/s)")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.source and progress.stage.value == "reading":
        parts.append(screen.name(progress.source))
    return ", ".join(parts)
