"""The command for whoever types: suggest."""

from __future__ import annotations

from typing import Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of


def suggest(
    context: typer.Context,
    prefix: Annotated[str, typer.Argument(metavar="PREFIX", help="What was typed so far.")],
    k: Annotated[int, typer.Option("-k", min=1, max=100, metavar="N", help="How many suggestions at most.")] = 10,
    json: Json = False,
) -> None:
    """Suggest how to go on from the first letters: titles, headings and questions that were answered before."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.suggest(prefix, k=k)
    if session.json:
        from kaijuan.verbs.shapes import fields_of

        screen.show_json({"suggestions": [fields_of(one) for one in found]})
        return
    from rich.text import Text

    if not found:
        screen.show(Text("Nothing begins like that."))
        return
    screen.show(*(Text.assemble(screen.line(one.text), (f"  {one.kind.value}", "dim")) for one in found))
