"""Commands about documents: add, list, show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import AsOf, Json, Word, session_of
from kaijuan.cli.session import Session, read_as_of
from kaijuan.errors import NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kaijuan.jobs.report import RunReport

FAILED_ITEMS = 3
"""Exit code of a run that ended well but could not take some of the sources, or holds some back for review."""


def add(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH|ADDRESS|NAME:", help="Files, folders, addresses (https, s3, git+...) or named sources."
        ),
    ],
    mirror: Annotated[
        bool, typer.Option("--mirror", metavar="", help="Also remove documents that have gone from the folders given.")
    ] = False,
    include: Annotated[
        list[str] | None,
        typer.Option("--include", metavar="GLOB", help="Only paths that fit, written as in .gitignore: '*.pdf'."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="GLOB", help="No paths that fit: 'drafts/'.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", metavar="N", min=0, max=20, help="Follow links of a page or sitemap so far."),
    ] = None,
    check_content: Annotated[
        bool,
        typer.Option(
            "--check-content", metavar="", help="Read files in full that look unchanged by size and times, too."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Take in new and changed documents and publish them; a long run publishes on the way."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    chosen = {"include": include or (), "exclude": exclude or ()}
    with session.open() as base, shown_progress() as progress:
        report = base.add(targets, mirror=mirror, **chosen, depth=depth, check_content=check_content, progress=progress)
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
    """Print what a run did; failed and held items make the exit code 3."""
    if session.json:
        screen.show_json(shapes.run_shape(report))
    else:
        from kaijuan.cli import tables

        screen.show(*tables.run(report))
    if report.failed or report.held:
        raise typer.Exit(FAILED_ITEMS)


def end_syncs(session: Session, reports: Mapping[str, RunReport]) -> None:
    """Print what the runs of several sources did; failed and held items make the exit code 3."""
    if session.json:
        screen.show_json({"runs": [{"name": name, **shapes.run_shape(report)} for name, report in reports.items()]})
    else:
        from kaijuan.cli import tables

        for name, report in reports.items():
            screen.show(f"{name}:", *tables.run(report))
    if any(report.failed or report.held for report in reports.values()):
        raise typer.Exit(FAILED_ITEMS)
