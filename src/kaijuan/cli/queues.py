"""Commands about work that waits: queue add, list, work, retry, drop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from kaijuan.cli.session import Session
    from kaijuan.index.catalog_queue import Job
    from kaijuan.jobs.queue import Done

app = typer.Typer(
    name="queue",
    cls=Group,
    help="Let sources be taken in later, by a worker: nothing is lost when one dies, and what fails is tried again.",
    no_args_is_help=True,
)
FAILED = 3
Id = Annotated[str, typer.Argument(metavar="ID", help="A job's id, or its beginning.")]


def add(
    context: typer.Context,
    targets: Annotated[
        list[str], typer.Argument(metavar="PATH|ADDRESS|NAME:", help="What to take in, as for `kaijuan add`.")
    ],
    mirror: Annotated[
        bool, typer.Option("--mirror", metavar="", help="Also remove documents that have gone from the folders given.")
    ] = False,
    json: Json = False,
) -> None:
    """Ask for sources to be taken in, a job each. What waits already is not asked for twice."""
    session = session_of(context, json)
    with session.open() as base:
        kept = base.enqueue(targets, mirror=mirror)
    _show(session, kept)


def list_(context: typer.Context, json: Json = False) -> None:
    """List what waits, is under way or was given up, with the reason. What is done is among `kaijuan runs`."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.jobs()
    _show(session, found)


def work(
    context: typer.Context,
    forever: Annotated[bool, typer.Option("--forever", metavar="", help="Go on, and wait for more until Ctrl-C.")] = (
        False
    ),
    json: Json = False,
) -> None:
    """Do what waits, one job after the other. Any number of these may run at once."""
    session = session_of(context, json)

    def told(done: Done) -> None:
        if session.json:
            screen.show_json(shapes.plain(done))
        else:
            screen.show(*_told(done))

    with session.open() as base:
        came = base.work_off(forever=forever, told=told)
        left = base.jobs()
    if not session.json and left:
        screen.show(f"{len(left)} not done: `kaijuan queue list` says why.")
    if any(done.error for done in came):
        raise typer.Exit(FAILED)


def retry(context: typer.Context, word: Id, json: Json = False) -> None:
    """Let a job that was given up, or that waits for its time, be done by the next worker."""
    session = session_of(context, json)
    with session.open() as base:
        job = base.revive_job(word)
    _show(session, [job])


def drop(context: typer.Context, word: Id, json: Json = False) -> None:
    """Forget a job that nobody is at. What it has published stays."""
    session = session_of(context, json)
    with session.open() as base:
        job = base.drop_job(word)
    if session.json:
        screen.show_json(shapes.fields_of(job))
        return
    screen.show(f"Job {job.id[:8]} is forgotten.")


def _show(session: Session, found: Sequence[Job]) -> None:
    if session.json:
        screen.show_json({"jobs": [shapes.plain(job) for job in found]})
        return
    screen.show(*_table(found))


def _table(found: Sequence[Job]) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from kaijuan.cli import tables

    if not found:
        yield Text("Nothing waits.")
        return
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("job", "state", "tried", "not before", "what", "why"):
        table.add_column(Text(head), no_wrap=head not in ("what", "why"), overflow="fold")
    for job in found:
        later = tables.when(job.not_before) if job.not_before else ""
        cells = (job.id[:8], job.state.value, str(job.attempts), later, screen.line(job.key), screen.line(job.reason))
        table.add_row(*(Text(cell) for cell in cells))
    yield table


def _told(done: Done) -> Iterator[RenderableType]:
    from rich.text import Text

    from kaijuan.cli import tables

    yield Text(screen.line(done.job.key), style="bold")
    if done.report is not None:
        yield from tables.run(done.report)
    if not done.error:
        return
    later = f" It is tried again at {tables.when(done.again_at)}." if done.again_at else " It is given up."
    yield Text(screen.line(done.error) + later)


for command in (add, list_, work, retry, drop):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
