"""Commands about what the gate holds back: list, show, approve, reject."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from kaijuan.sync import Kaijuan

app = typer.Typer(
    name="review",
    cls=Group,
    help="Decide about documents that are held back: instructions to a model, hidden messages, secrets, ...",
    no_args_is_help=True,
)

Words = Annotated[
    list[str] | None, typer.Argument(metavar="ID|SOURCE", help="Review ids, their beginnings, or sources.")
]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who decides; by default the user of this machine.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")]
All = Annotated[bool, typer.Option("--all", metavar="", help="Everything that waits.")]


def list_(
    context: typer.Context,
    all_: Annotated[bool, typer.Option("--all", metavar="", help="Also what was decided or superseded.")] = False,
    json: Json = False,
) -> None:
    """List the documents that wait for a decision, and why."""
    session = session_of(context, json)
    from kaijuan.core.reviews import ReviewState

    with session.open() as base:
        found = base.reviews(list(ReviewState)) if all_ else base.reviews()
    if session.json:
        screen.show_json(shapes.reviews_shape(found))
        return
    from kaijuan.cli import review_tables

    screen.show(*review_tables.queue(found))


def show(
    context: typer.Context,
    word: Annotated[str, typer.Argument(metavar="ID|SOURCE", help="A review id, its beginning, or a source.")],
    json: Json = False,
) -> None:
    """Show one review: every finding with the words around it, and what was decided by whom."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.review(word)
    if session.json:
        screen.show_json(shapes.review_shape(found))
        return
    from kaijuan.cli import review_tables

    screen.show(*review_tables.one(found))


def approve(
    context: typer.Context,
    words: Words = None,
    all_: All = False,
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Publish documents after all, as one snapshot. The same content passes from now on."""
    session = session_of(context, json)
    from kaijuan.cli.documents import end_run
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress() as progress:
        chosen = _chosen(base, words, all_)
        report = base.approve(chosen, by=by or user(), note=note, progress=progress)
    end_run(session, report)


def reject(
    context: typer.Context,
    words: Words = None,
    all_: All = False,
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Keep documents out, also when the same content is added again. `approve` reverses it."""
    session = session_of(context, json)
    with session.open() as base:
        chosen = _chosen(base, words, all_)
        removed = base.reject(chosen, by=by or user(), note=note)
    if session.json:
        screen.show_json({"rejected": len(set(chosen)), "removed": removed})
        return
    from rich.text import Text

    gone = f", {screen.count(len(removed), 'document')} removed" if removed else ""
    screen.show(Text(f"Rejected {screen.count(len(set(chosen)), 'document')}{gone}."))


def _chosen(base: Kaijuan, words: list[str] | None, all_: bool) -> list[str]:
    if bool(words) == all_:
        raise UsageError("Name reviews, or say --all.", hint="`kaijuan review list` shows what waits.")
    chosen = words or [review.id for review in base.reviews()]
    if not chosen:
        raise UsageError("Nothing waits for a decision.")
    return chosen


def user() -> str:
    """Return the name of who uses this machine, "" where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in some containers
        return ""


for command in (list_, show, approve, reject):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
