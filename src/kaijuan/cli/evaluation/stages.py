"""Progress of work that has several stages, each with its own count, on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kaijuan.cli import screen
from kaijuan.cli.evaluation.progress import PLAIN_SECONDS

Told = Callable[[str, int, int], None]
"""Told what is being done, and how many of how many are."""


@contextmanager
def shown_stages(clock: Callable[[], float] = time.monotonic) -> Iterator[Told]:
    """Give a function that shows how far each stage is: a bar on a terminal, now and then a line elsewhere."""
    console = screen.err()
    if console.is_terminal and not console.is_dumb_terminal:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=20), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda stage, done, total: bar.update(
                task, description=screen.line(stage), completed=done, total=total
            )
        return
    last_stage, last_time = "", clock()

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last_stage, last_time
        if stage == last_stage and done < total and clock() - last_time < PLAIN_SECONDS:
            return
        last_stage, last_time = stage, clock()
        console.print(f"{screen.line(stage)}: {done} of {total}", soft_wrap=True)

    yield report
