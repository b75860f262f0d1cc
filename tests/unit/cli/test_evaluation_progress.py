"""Progress of evaluations: a corpus taken in, then its questions asked, one after the other."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kaijuan.cli import screen
from kaijuan.cli.evaluation.progress import Stages, shown_count
from kaijuan.jobs.report import Progress, Stage


def progress(done: int) -> Progress:
    return Progress(stage=Stage.READING, done=done, total=None, failed=0, source="", chunks=0, indexed=0)


def console(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> io.StringIO:
    file = io.StringIO()
    made = Console(file=file, force_terminal=terminal, width=100, markup=False, _environ={"TERM": "xterm"})
    monkeypatch.setattr(screen, "err", lambda: made)
    return file


def test_elsewhere_than_on_a_terminal_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = console(monkeypatch, terminal=False)
    now = iter([0.0, 0.0, 0.0, 1.0, 5.5, 5.5, 6.0])
    with shown_count("asking [red]tiny\x1b", clock=lambda: next(now)) as asked:
        for done in range(1, 5):
            asked(done, 4)
    assert shown.getvalue().splitlines() == [
        "asking [red]tiny\\x1b: 1 of 4",
        "asking [red]tiny\\x1b: 3 of 4",
        "asking [red]tiny\\x1b: 4 of 4",
    ]


def test_on_a_terminal_one_bar_ends_before_the_next_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = console(monkeypatch, terminal=True)
    # rich refuses a second live display on one console.
    with Stages("asking tiny") as stages:
        stages.taken_in(progress(1))
        stages.taken_in(progress(2))
        stages.asked(1, 2)
        stages.asked(2, 2)
    assert shown.getvalue().index("reading: 2 documents") < shown.getvalue().index("asking tiny")


def test_a_corpus_taken_in_before_shows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = console(monkeypatch, terminal=False)
    with Stages("asking tiny") as stages:
        stages.asked(2, 2)
    assert shown.getvalue() == "asking tiny: 2 of 2\n"
    with Stages("asking tiny"):
        pass
    assert shown.getvalue() == "asking tiny: 2 of 2\n"
