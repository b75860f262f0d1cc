"""Commands about a whole home: backup, restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.jobs.backup import BackedUp

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The backup.")]


def backup(context: typer.Context, folder: Folder, json: Json = False) -> None:
    """Copy the whole home to a folder, index and all, while it serves. The copy is a home that --home can name."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress(noun="blob") as progress:
        made = base.back_up(folder, progress=progress)
    _say(made, "Backed up to", as_json=session.json)


def restore(context: typer.Context, folder: Folder, json: Json = False) -> None:
    """Make the home from a backup. It must be empty; every hash is compared."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress(noun="blob") as progress:
        made = base.restore(folder, progress=progress)
    _say(made, "Restored to", as_json=session.json)


def _say(made: BackedUp, verb: str, *, as_json: bool) -> None:
    if as_json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    from kaijuan.cli.health_tables import size

    told = made.backup
    parts = (
        screen.count(told.bases, "base"),
        screen.count(told.blobs, "blob"),
        screen.count(len(told.spaces), "index space"),
    )
    screen.show(Text(f"{verb} {screen.line(made.path)}: {', '.join(parts)}, {size(made.bytes)}."))
