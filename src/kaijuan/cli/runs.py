"""Commands about runs: list, show, cancel, resume, retry-failed."""

from __future__ import annotations

from typing import Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of

app = typer.Typer(
    name="runs",
    cls=Group,
    help="Look at runs: how far, how fast, what failed and why. Cancel one, or ask for it again.",
    no_args_is_help=True,
)

Id = Annotated[str, typer.Argument(metavar="ID", help="A run's id, its beginning, or `last`.")]


def list_(
    context: typer.Context,
    count: Annotated[int, typer.Option("-n", min=1, max=10_000, metavar="N", help="How many at most.")] = 20,
    json: Json = False,
) -> None:
    """List the newest runs: what became of each, and how far those under way are."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.run_views(limit=count)
    if session.json:
        screen.show_json({"runs": [shapes.plain(view) for view in found]})
        return
    from kaijuan.cli import run_tables

    screen.show(*run_tables.runs(found))


def show(context: typer.Context, word: Id = "last", json: Json = False) -> None:
    """Show one run: how far and how fast, and every source that failed or is held back, with the reason."""
    session = session_of(context, json)
    with session.open() as base:
        view, items = base.run_view(word)
    if session.json:
        screen.show_json({**_fields(view), "items": [shapes.plain(item) for item in items]})
        return
    from kaijuan.cli import run_tables

    screen.show(*run_tables.one(view, items))


def cancel(
    context: typer.Context,
    word: Annotated[str, typer.Argument(metavar="ID", help="By default the run that is under way.")] = "",
    json: Json = False,
) -> None:
    """Stop a run that is under way, also of another process. What it published before stays."""
    session = session_of(context, json)
    from kaijuan.cli.review import user

    with session.open() as base:
        view = base.cancel_run(word, by=user())
    if session.json:
        screen.show_json(_fields(view))
        return
    from rich.text import Text

    told = "is asked to stop" if view.worker else "is undone: its process had ended"
    screen.show(Text(f"Run {view.run.id[:8]} {told}."))


def resume(context: typer.Context, word: Id = "last", json: Json = False) -> None:
    """Ask again for what a run was asked for. What is published or unchanged is not done again."""
    session = session_of(context, json)
    from kaijuan.cli.documents import end_run
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress() as progress:
        report = base.resume_run(word, progress=progress)
    end_run(session, report)


def retry_failed(context: typer.Context, word: Id = "last", json: Json = False) -> None:
    """Try the sources again that failed in a run."""
    session = session_of(context, json)
    from kaijuan.cli.documents import end_run
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress() as progress:
        report = base.retry_failed(word, progress=progress)
    end_run(session, report)


def _fields(view: object) -> dict[str, object]:
    return shapes.fields_of(view)


for command in (list_, show, cancel, resume, retry_failed):
    app.command(command.__name__.rstrip("_").replace("_", "-"), cls=Command)(command)
