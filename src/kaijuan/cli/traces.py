"""Commands about traces: what was done for a question, what models were asked, and the answer made again from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli import trace_views as views
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Full, Json, session_of
from kaijuan.errors import NotFoundError

if TYPE_CHECKING:
    from kaijuan.sync import Kaijuan

app = typer.Typer(
    name="trace",
    cls=Group,
    help="Look at what was done for a question: steps, times, prompts as sent, tokens, cost. Make an answer again.",
    no_args_is_help=True,
)

Id = Annotated[str, typer.Argument(metavar="ID", help="A trace's id, its beginning, or `last`.")]


def list_(
    context: typer.Context,
    count: Annotated[int, typer.Option("-n", min=1, max=1000, metavar="N", help="How many at most.")] = 20,
    json: Json = False,
) -> None:
    """List the newest questions that you may see."""
    session = session_of(context, json)
    with session.open() as base:
        found = [views.of(one) for one in base.traces(limit=count)]
    if session.json:
        screen.show_json({"traces": [views.head_shape(one) for one in found]})
        return
    from kaijuan.cli import talk_tables

    screen.show(*talk_tables.traces(found))


def show(context: typer.Context, word: Id = "last", full: Full = False, json: Json = False) -> None:
    """Show one question with every step, and every prompt as it was sent."""
    session = session_of(context, json)
    with session.open() as base:
        found = views.of(base.trace(_id(base, word)))
    if session.json:
        screen.show_json(views.whole_shape(found))
        return
    from kaijuan.cli import talk_tables

    screen.show(*talk_tables.trace(found, full=full))


def replay(context: typer.Context, word: Id = "last", json: Json = False) -> None:
    """Make an answer again at its snapshot, with the replies that models gave then, and compare. Asks no model."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.replay_trace(_id(base, word))
    if session.json:
        screen.show_json(
            {"same": found.same, "reason": found.reason, "trace_id": found.id, **shapes.answer_shape(found.answer)}
        )
        return
    from kaijuan.cli import talk_tables

    screen.show(*talk_tables.replayed(found))


def _id(base: Kaijuan, word: str) -> str:
    """Return the id of the newest trace that a word means."""
    found = base.traces(limit=1000)
    known = [one.id for one in found if word == "last" or one.id.startswith(word)]
    if not known:
        raise NotFoundError(f"There is no trace {word!r}.", hint="`kaijuan trace list` shows what there is.")
    return known[0]


for command in (list_, show, replay):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
