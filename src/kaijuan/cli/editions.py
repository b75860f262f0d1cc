"""The command about editions: which document replaces which, and which holds on a day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import AsOf, Json, session_of
from kaijuan.cli.session import read_as_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from kaijuan.retrieve.editions import Chain, Edition


def editions(
    context: typer.Context,
    word: Annotated[
        str | None, typer.Argument(metavar="SOURCE|ID", help="One document, whose chain is shown; all by default.")
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="DAY", help="How they stood on a day (2023-06-30); today by default.")
    ] = None,
    as_of: AsOf = None,
    json: Json = False,
) -> None:
    """Show which documents replace each other, from when to when each holds, and which is current on a day."""
    session = session_of(context, json)
    moment = read_as_of(as_of)
    with session.open() as base:
        found = base.editions(word, at=at, as_of=moment)
    if session.json:
        screen.show_json(shapes.chains_shape(found))
        return
    screen.show(*_shown(found, word))


def _shown(chains: list[Chain], word: str | None) -> Iterator[RenderableType]:
    from rich.text import Text

    if not chains:
        what = f"{screen.line(word)} says" if word else "No document says"
        nothing = "nothing of " if word else ""
        yield Text(f"{what} {nothing}when it is in force or what it replaces.")
    for number, chain in enumerate(chains):
        if number:
            yield Text("")
        newest = chain.editions[-1].version
        yield Text(screen.line(newest.title) or screen.name(newest.source), style="bold")
        for one in reversed(chain.editions):
            yield _line(one)


def _line(one: Edition) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    mark = ("✓ ", "green") if not one.standing.value else ("  ", "")
    told = " ".join(part for part in (one.standing.value or "in force", one.detail) if part)
    label = f"{one.label}  " if one.label else ""
    line = Text.assemble(mark, (one.version.document_id[:8], "dim"), "  ", screen.line(label), "  ")
    line.append(f"{one.effective_from or '…'} to {one.effective_to or '…'}  " if _is_dated(one) else "")
    line.append(screen.line(told), style="green" if not one.standing.value else "yellow")
    line.append(f"  {screen.name(one.version.source)}", style="dim")
    return Padding(line, (0, 0, 0, 2), expand=False)


def _is_dated(one: Edition) -> bool:
    return bool(one.effective_from or one.effective_to)
