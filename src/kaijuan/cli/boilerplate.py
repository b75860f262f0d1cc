"""Commands about paragraphs that many documents share: list, keep, lower."""

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

    from kaijuan.jobs.desk import SeenBoilerplate

app = typer.Typer(
    name="boilerplate",
    cls=Group,
    help="See which paragraphs many documents share word for word, and decide whether they rank lower.",
    no_args_is_help=True,
)
_SHOWN, _EXCERPT = 3, 160

Words = Annotated[list[str], typer.Argument(metavar="ID", help="Ids that the list shows, or their beginnings.")]


def list_(context: typer.Context, json: Json = False) -> None:
    """List paragraphs that many documents share (notices, disclaimers), what was decided, and why."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.boilerplate()
    if session.json:
        screen.show_json(shapes.boilerplate_shape(found))
        return
    screen.show(*_paragraphs(found))


def keep(context: typer.Context, words: Words, by: By = "", note: Note = "", json: Json = False) -> None:
    """Let paragraphs count like any other text."""
    _rule(context, words, lower=False, by=by, note=note, json=json)


def lower(context: typer.Context, words: Words, by: By = "", note: Note = "", json: Json = False) -> None:
    """Let passages made of these paragraphs rank lower. They stay in their documents."""
    _rule(context, words, lower=True, by=by, note=note, json=json)


def _rule(context: typer.Context, words: list[str], *, lower: bool, by: str, note: str, json: bool) -> None:
    session = session_of(context, json)
    with session.open() as base:
        count = base.rule_boilerplate(words, lower=lower, by=by or user(), note=note)
    done = "lowered" if lower else "kept"
    if session.json:
        screen.show_json({done: count})
        return
    from rich.text import Text

    screen.show(Text(f"{screen.count(count, 'paragraph')} {done}."))


def _paragraphs(found: Sequence[SeenBoilerplate]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    if not found:
        yield Text("No paragraph is shared by many documents.")
        return
    for one in found:
        decision = one.decision
        style = "yellow" if decision.state.value == "lowered" else "green"
        yield Text.assemble((decision.digest[:8], "bold"), " ", (decision.state.value, style), f" {decision.reason}")
        said = screen.line(one.excerpt)
        yield Padding(Text(said if len(said) <= _EXCERPT else said[:_EXCERPT] + "…"), (0, 0, 0, 4), expand=False)
        for source in one.sources[:_SHOWN]:
            yield Padding(Text(screen.place(source), style="dim"), (0, 0, 0, 4), expand=False)
        if len(one.sources) > _SHOWN:
            more = f"and {len(one.sources) - _SHOWN} more"
            yield Padding(Text(more, style="dim"), (0, 0, 0, 4), expand=False)
        for ruling in decision.history[-1:]:
            by = f" by {screen.line(ruling.by)}" if ruling.by else ""
            note = f": {screen.line(ruling.note)}" if ruling.note else ""
            yield Padding(Text(f"{ruling.state.value}{by}{note}"), (0, 0, 0, 4), expand=False)
    yield Text(f"{screen.count(len(found), 'paragraph')}.", style="dim")


for command in (list_, keep, lower):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
