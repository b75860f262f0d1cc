"""Commands about earlier states: snapshots list, diff, tag, untag, rollback."""

from __future__ import annotations

from typing import Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of
from kaijuan.cli.session import read_as_of

app = typer.Typer(
    name="snapshots",
    cls=Group,
    help="List the snapshots, compare two, name one, or publish an earlier one anew.",
    invoke_without_command=True,
)

Moment = Annotated[str, typer.Argument(metavar="SNAPSHOT|TIME|TAG", help="A number, a date or time, or a tag.")]
Later = Annotated[str | None, typer.Argument(metavar="SNAPSHOT|TIME|TAG", help="The later one; by default the newest.")]


@app.callback()
def snapshots(context: typer.Context, json: Json = False) -> None:
    """List the snapshots where no command is given."""
    session_of(context, json)
    if context.invoked_subcommand is None:
        list_(context, json)


def list_(context: typer.Context, json: Json = False) -> None:
    """List the snapshots that --as-of can name, oldest first, with their tags."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.snapshots()
    if session.json:
        screen.show_json(shapes.snapshots_shape(found))
        return
    from kaijuan.cli import tables

    screen.show(*tables.snapshots(found))


def diff(
    context: typer.Context,
    before: Moment,
    after: Later = None,
    chunks: Annotated[
        bool, typer.Option("--chunks", metavar="", help="Also show the beginnings of new and of missing chunks.")
    ] = False,
    json: Json = False,
) -> None:
    """Show which documents came, went and changed between two snapshots, and how many chunks."""
    session = session_of(context, json)
    moments = (read_as_of(before), read_as_of(after))
    with session.open() as base:
        found = base.diff(*moments)
    if session.json:
        screen.show_json(shapes.plain(found))
        return
    from kaijuan.cli import history_tables

    screen.show(*history_tables.diff(found, chunks=chunks))


def tag(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TAG", help="A name that begins with a letter: before-audit, 发布一.")],
    snapshot: Annotated[
        str | None, typer.Argument(metavar="SNAPSHOT|TIME", help="What to name; by default the newest.")
    ] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")] = "",
    json: Json = False,
) -> None:
    """Name a snapshot. It is kept as long as it has a name, and --as-of finds it by it."""
    session = session_of(context, json)
    moment = read_as_of(snapshot)
    with session.open() as base:
        made = base.tag(name, moment, note=note)
    if session.json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    screen.show(Text(f"Snapshot {made.number} is called {screen.line(made.name)} and will be kept."))


def untag(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TAG", help="The name to take away.")],
    json: Json = False,
) -> None:
    """Take a name away. The snapshot is then kept as long as any other."""
    session = session_of(context, json)
    with session.open() as base:
        base.untag(name)
    if session.json:
        screen.show_json({"untagged": name})
        return
    from rich.text import Text

    screen.show(Text(f"The tag {screen.line(name)} is gone; its snapshot stays as long as any other."))


def rollback(context: typer.Context, snapshot: Moment, json: Json = False) -> None:
    """Publish an earlier snapshot anew, as the newest one. Nothing is lost: those between stay."""
    session = session_of(context, json)
    moment = read_as_of(snapshot)
    from kaijuan.cli.documents import end_run
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress() as progress:
        report = base.roll_back(moment, progress=progress)
    end_run(session, report)


for command in (list_, diff, tag, untag, rollback):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
