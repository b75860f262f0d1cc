"""Progress of something that is counted, on standard error: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kaijuan.cli import screen

if TYPE_CHECKING:
    from kaijuan.cli.progress import Report
    from kaijuan.jobs.report import Progress

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


@dataclass(slots=True)
class Stages:
    """Shows a corpus being taken in and then its questions being asked: never two bars at once. Use with `with`."""

    words: str
    """What the asking is called ("asking cmrc2018_zh")."""
    _stack: ExitStack = field(default_factory=ExitStack, init=False)
    _taking: Report | None = field(default=None, init=False)
    _asking: Counted | None = field(default=None, init=False)

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def taken_in(self, progress: Progress) -> None:
        """Show how far the taking in is."""
        if self._taking is None:
            from kaijuan.cli.progress import shown_progress

            self._taking = self._stack.enter_context(shown_progress())
        self._taking(progress)

    def asked(self, done: int, total: int) -> None:
        """Show how many questions have been asked."""
        if self._asking is None:
            self._stack.close()
            self._asking = self._stack.enter_context(shown_count(self.words))
        self._asking(done, total)
