"""Commands about documents that say the same: list, keep, merge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of
from kaijuan.cli.review import By, Note, user

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.jobs.desk import SeenDuplicate

app = typer.Typer(
    name="duplicates",
    cls=Group,
    help="See which documents say the same, and decide whether a search shows their equal passages once.",
    no_args_is_help=True,
)

Words = Annotated[
    list[str], typer.Argument(metavar="ID|SOURCE", help="Ids that the list shows, their beginnings, or sources.")
]


def list_(context: typer.Context, json: Json = False) -> None:
    """List pairs of documents that say the same, what was decided, and why."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.duplicates()
    if session.json:
        screen.show_json(shapes.duplicates_shape(found))
        return
    screen.show(*_pairs(found))


def keep(context: typer.Context, words: Words, by: By = "", note: Note = "", json: Json = False) -> None:
    """Let both documents stand for themselves: a search shows passages of each."""
    _rule(context, words, merge=False, by=by, note=note, json=json)


def merge(context: typer.Context, words: Words, by: By = "", note: Note = "", json: Json = False) -> None:
    """Let a search show equal passages of both once. Both stay documents of their own."""
    _rule(context, words, merge=True, by=by, note=note, json=json)


def _rule(context: typer.Context, words: list[str], *, merge: bool, by: str, note: str, json: bool) -> None:
    session = session_of(context, json)
    with session.open() as base:
        count = base.rule_duplicates(words, merge=merge, by=by or user(), note=note)
    done = "merged" if merge else "kept"
    if session.json:
        screen.show_json({done: count})
        return
    from rich.text import Text

    screen.show(Text(f"{screen.count(count, 'pair')} {done}."))


def _pairs(found: Sequence[SeenDuplicate]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    if not found:
        yield Text("No document says what another says.")
        return
    for one in found:
        pair = one.pair
        kind = Text(
            f"{pair.kind.value}, {pair.state.value}", style="green" if pair.state.value == "merged" else "yellow"
        )
        yield Text.assemble((pair.id[:8], "bold"), " ", kind, " ", screen.place(one.source))
        yield Padding(Text(f"= {screen.place(one.other)}"), (0, 0, 0, 4), expand=False)
        said = Text(f"{pair.similarity:.2f}: {screen.line(pair.reason)}", style="dim")
        yield Padding(said, (0, 0, 0, 4), expand=False)
        for ruling in pair.history[-1:]:
            by = f" by {screen.line(ruling.by)}" if ruling.by else ""
            note = f": {screen.line(ruling.note)}" if ruling.note else ""
            yield Padding(Text(f"{ruling.state.value}{by}{note}"), (0, 0, 0, 4), expand=False)
    yield Text(f"{screen.count(len(found), 'pair')}.", style="dim")


for command in (list_, keep, merge):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
