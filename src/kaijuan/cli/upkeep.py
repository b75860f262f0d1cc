"""Commands about the knowledge base itself: status, rebuild, doctor, version."""

from __future__ import annotations

import platform

import typer

from kaijuan import __version__
from kaijuan.cli import screen, shapes
from kaijuan.cli.options import Json, session_of

ILL = 1
"""Exit code of a doctor who found something wrong."""


def status(context: typer.Context, json: Json = False) -> None:
    """Show the state of the knowledge base: documents, index, runs; how soon changes are found, what fails, sizes."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.status()
        # What it tells is everybody's, so nobody gets it who looks with the rights of one.
        health = None if session.user else base.health()
    if session.json:
        told = {} if health is None else {"health": shapes.plain(health)}
        screen.show_json({**shapes.fields_of(found), **told})
        return
    from kaijuan.cli import health_tables, tables

    screen.show(*tables.status(found), *(() if health is None else health_tables.health(health)))


def rebuild(context: typer.Context, json: Json = False) -> None:
    """Build every index anew from the catalog, beside the one in use."""
    session = session_of(context, json)
    from kaijuan.cli.progress import shown_progress

    with session.open() as base:
        with shown_progress(noun="version") as progress:
            made = base.rebuild(progress=progress)
        found = base.status()
    for source in made.unreadable:
        screen.err().print(f"Left out, its text cannot be read: {screen.line(source)}. Run `kaijuan doctor`.")
    if session.json:
        screen.show_json(shapes.plain(found))
        return
    from kaijuan.cli import tables

    screen.show(*tables.rebuilt(found))


def optimise(context: typer.Context, json: Json = False) -> None:
    """Build the next generation of the index: faster search, less memory. Readers and runs go on meanwhile."""
    session = session_of(context, json)
    with session.open() as base:
        base.optimise()
        found = base.status()
    if session.json:
        screen.show_json(shapes.plain(found))
        return
    from rich.text import Text

    screen.show(Text(f"The index of {screen.count(found.points, 'chunk')} is optimised."))


def doctor(
    context: typer.Context,
    repair: bool = typer.Option(
        False, "--repair", metavar="", help="Also mend what can be mended without losing anything."
    ),
    deep: bool = typer.Option(
        False,
        "--deep",
        metavar="",
        help="Also read every stored text, original and cached vector, and make a sample of vectors again.",
    ),
    json: Json = False,
) -> None:
    """Check the home: stores, index against catalog, model. Exit code 1 when something is wrong."""
    session = session_of(context, json)
    with session.open() as base:
        report = base.doctor(repair=repair, deep=deep)
    if session.json:
        screen.show_json(shapes.doctor_shape(report))
    else:
        from kaijuan.cli import tables

        screen.show(*tables.health(report))
    if not all(check.ok for check in report.checks):
        raise typer.Exit(ILL)


def version(context: typer.Context, json: Json = False) -> None:
    """Print the version."""
    session = session_of(context, json)
    if session.json:
        screen.show_json({"version": __version__, "python": platform.python_version()})
        return
    from rich.text import Text

    screen.show(Text(f"kaijuan {__version__} (Python {platform.python_version()})"))
