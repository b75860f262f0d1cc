"""The command `demo`: the bundled documents in, three questions answered with citations, one refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import Json, session_of
from kaijuan.cli.session import command
from kaijuan.samples import questions, sample_folder

if TYPE_CHECKING:
    from kaijuan.answer.results import Answer
    from kaijuan.jobs.report import RunReport

DEMO_KB = "demo"
"""The knowledge base of the samples, apart from the user's own documents."""


def demo(context: typer.Context, json: Json = False) -> None:
    """Take in the bundled Chinese and English documents and ask four questions, the last beyond what they say."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    with session.open(DEMO_KB) as base:
        with shown_progress() as progress:
            report = base.add([str(sample_folder())], progress=progress)
        if not session.json:
            _say_added(report)
        answers = []
        for asked in questions():
            answers.append(base.ask(asked.question))
            if not session.json:
                _say_answer(asked.question, answers[-1])
    if session.json:
        screen.show_json({"run": shapes.run_shape(report), "answers": [shapes.answer_shape(each) for each in answers]})
        return
    _say_next(session.home, session.kb or DEMO_KB)


def _say_added(report: RunReport) -> None:
    from rich.text import Text

    from kaijuan.cli import tables

    folder = screen.place(sample_folder().as_uri())
    screen.show(Text(f"The bundled documents of an invented company, from {folder}:"), *tables.run(report))


def _say_answer(question: str, answer: Answer) -> None:
    from rich.rule import Rule
    from rich.text import Text

    from kaijuan.cli import answers

    screen.show(Text(""), Rule(Text(screen.line(question), style="bold"), align="left"), *answers.answered(answer))


def _say_next(home: Path, kb: str) -> None:
    from rich.text import Text

    start = command(home, kb)
    # On one line each, however narrow the screen: a command that is broken in two cannot be copied.
    ask = Text(f"  {start} ask 'How long are full backups kept?'", no_wrap=True)
    search = Text(f"  {start} search '螺栓 M8×1.25' --filter 'kind = pdf'", no_wrap=True)
    browse = Text(f"  {start} serve   # in the browser: http://127.0.0.1:8470", no_wrap=True)
    screen.show(Text(""), Text("Go on with your own words:", style="bold"), ask, search, browse)
