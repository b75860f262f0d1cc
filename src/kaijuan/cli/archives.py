"""Commands that keep a home small and move a base: gc, export, import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.jobs.archive import Archived

File = Annotated[Path, typer.Argument(metavar="FILE", help="The archive.")]


def gc(
    context: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Only say what would be dropped.")] = False,
    json: Json = False,
) -> None:
    """Drop old snapshots with all that only they need, as the settings of `retention` say. What has a tag stays."""
    session = session_of(context, json)
    with session.open() as base:
        report = base.gc(dry_run=dry_run)
    if session.json:
        screen.show_json(shapes.plain(report))
        return
    from kaijuan.cli import history_tables

    screen.show(*history_tables.collected(report))


def export(
    context: typer.Context,
    file: File,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """Write the knowledge base with all kept snapshots to one archive."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress(noun="blob") as progress:
        made = base.export(file, force=force, progress=progress)
    _say(made, "Exported", as_json=session.json)


def import_(context: typer.Context, file: File, json: Json = False) -> None:
    """Make a knowledge base from an archive, under the name that it had. All of it or none; every hash is compared."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress
    from kaijuan.jobs.archive import read_manifest

    name = read_manifest(file.expanduser()).kb
    with session.open(name) as base, shown_progress(noun="version") as progress:
        made = base.import_archive(file, progress=progress)
    _say(made, "Imported", as_json=session.json)


def _say(made: Archived, done: str, *, as_json: bool) -> None:
    if as_json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    told = made.manifest
    sizes = ", ".join(
        (
            screen.count(told.documents, "document"),
            screen.count(told.snapshots, "snapshot"),
            screen.count(told.blobs, "blob"),
            f"{made.bytes / 2**20:.1f} MiB",
        )
    )
    screen.show(Text(f"{done} the knowledge base {screen.line(told.kb)}: {sizes}."))
