"""Commands about documents: add, remove, list, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import AsOf, Json, Word, session_of
from kaijuan.cli.session import Session, read_as_of
from kaijuan.errors import NotFoundError

if TYPE_CHECKING:
    from kaijuan.jobs.report import RunReport

FAILED_ITEMS = 3
"""Exit code of a run that ended well but could not take some of the sources."""


def add(
    context: typer.Context,
    targets: Annotated[list[str], typer.Argument(metavar="PATH|URL", help="Files, folders or web addresses.")],
    mirror: Annotated[
        bool, typer.Option("--mirror", metavar="", help="Also remove documents that have gone from the folders given.")
    ] = False,
    json: Json = False,
) -> None:
    """Take in new and changed documents and publish them as one snapshot."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress() as progress:
        report = base.add(targets, mirror=mirror, progress=progress)
    end_run(session, report)


def remove(
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE|ID", help="Paths, addresses, file names, document ids or version ids."),
    ],
    json: Json = False,
) -> None:
    """Remove documents. Earlier snapshots still show them (--as-of)."""
    session = session_of(context, json)
    with session.open() as base:
        report = base.remove(words)
    end_run(session, report)


def list_(context: typer.Context, as_of: AsOf = None, json: Json = False) -> None:
    """List the documents."""
    session = session_of(context, json)
    moment = read_as_of(as_of)
    with session.open() as base:
        versions = base.list(as_of=moment)
    if session.json:
        screen.show_json(shapes.list_shape(versions))
        return
    from kaijuan.cli import tables

    screen.show(*tables.documents(versions))


def show(context: typer.Context, word: Word, as_of: AsOf = None, json: Json = False) -> None:
    """Show one document: its text in blocks, its chunks, its versions."""
    session = session_of(context, json)
    moment = read_as_of(as_of)
    with session.open() as base:
        try:
            view = base.show(word, as_of=moment)
        except NotFoundError as error:
            if moment is None and "--as-of" not in error.hint:
                error.hint = (
                    f"{error.hint} One that was removed: `show` it with --as-of and an earlier snapshot.".strip()
                )
            raise
    if session.json:
        screen.show_json(shapes.view_shape(view))
        return
    from kaijuan.cli import tables

    screen.show(*tables.document(view))


def end_run(session: Session, report: RunReport) -> None:
    """Print what a run did; failed items make the exit code 3."""
    if session.json:
        screen.show_json(shapes.run_shape(report))
    else:
        from kaijuan.cli import tables

        screen.show(*tables.run(report))
    if report.failed:
        raise typer.Exit(FAILED_ITEMS)
