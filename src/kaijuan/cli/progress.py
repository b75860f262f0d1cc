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
RATED_CHUNKS = 500
RATED_SECONDS = 10.0
"""From when on a rate says something: the start is spent on loading the model."""

Report = Callable[["Progress"], None]


@contextmanager
def shown_progress(clock: Callable[[], float] = time.monotonic, *, noun: str = "document") -> Iterator[Report]:
    """Give a function that shows each Progress handed to it; `noun` is what it counts."""
    console = screen.err()
    if console.is_terminal and not console.is_dumb_terminal:
        with _live(console, clock, noun) as report:
            yield report
    else:
        yield _plain(console, clock, noun)


def _plain(console: Console, clock: Callable[[], float], noun: str) -> Report:
    last_stage: Stage | None = None
    last_time = started = clock()

    def report(progress: Progress) -> None:
        nonlocal last_stage, last_time
        now = clock()
        if progress.stage == last_stage and now - last_time < PLAIN_SECONDS:
            return
        last_stage, last_time = progress.stage, now
        console.print(describe(progress, now - started, noun), soft_wrap=True)

    return report


@contextmanager
def _live(console: Console, clock: Callable[[], float], noun: str) -> Iterator[Report]:
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    started = clock()
    columns = (SpinnerColumn(), BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(progress: Progress) -> None:
            # No total while folders are still being walked; the bar then pulses.
            words = describe(progress, clock() - started, noun)
            bar.update(task, completed=progress.done, total=progress.total, description=words)

        yield report


def describe(progress: Progress, seconds: float, noun: str = "document") -> str:
    """Return the stage, what is done and how fast on one line."""
    done = f"{progress.done} of " if progress.total is not None else ""
    of_all = progress.done if progress.total is None else progress.total
    parts = [f"{progress.stage.value}: {done}{screen.count(of_all, noun)}"]
    if progress.chunks:
        parts.append(_indexed(progress, seconds))
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    if progress.source and progress.stage.value == "reading":
        parts.append(screen.name(progress.source))
    return ", ".join(parts)


def _indexed(progress: Progress, seconds: float) -> str:
    if not progress.indexed:
        # Nothing would move here for seconds: the model is loaded, and chunks are counted a batch at a time.
        return f"{progress.chunks} to index, loading the model for the first"
    shown = f"{progress.indexed} of {progress.chunks} index entries written"
    told = progress.indexed >= RATED_CHUNKS and seconds >= RATED_SECONDS
    return f"{shown} ({progress.indexed / seconds:.0f}/s)" if told else shown
