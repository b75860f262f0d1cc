"""Commands that remove so that it can be proved: remove --prove, purge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import Json, session_of
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from kaijuan.verbs.upkeep import Removed

NOT_PROVED = 1
"""Exit code when something of the documents can still be found by a reader."""
Words = Annotated[
    list[str], typer.Argument(metavar="SOURCE|ID", help="Paths, addresses, file names, document ids or version ids.")
]


def remove(
    context: typer.Context,
    words: Words,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove", metavar="", help="Then try every way to their words and ids, and say what remains where."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Remove documents. Earlier snapshots still show them (--as-of)."""
    session = session_of(context, json)
    if not prove:
        from kaijuan.cli.documents import end_run

        with session.open() as base:
            report = base.remove(words)
        end_run(session, report)
        return
    with session.open() as base:
        done = base.remove_and_prove(words)
    _end(done, as_json=session.json)


def purge(
    context: typer.Context,
    words: Words,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask; this cannot be undone.")] = False,
    json: Json = False,
) -> None:
    """Remove documents from every snapshot, with all copies in this home, and prove it. Cannot be undone."""
    session = session_of(context, json)
    if not yes:
        if session.json:
            raise UsageError("Purging cannot be undone.", hint="Say --yes.")
        typer.confirm(f"Remove {', '.join(words)} from every snapshot? This cannot be undone.", abort=True, err=True)
    with session.open() as base:
        done = base.purge(words)
    _end(done, as_json=session.json)


def _end(done: Removed, *, as_json: bool) -> None:
    if as_json:
        screen.show_json(_shape(done))
    else:
        from kaijuan.cli import removal_tables

        screen.show(*removal_tables.removed(done))
    if not done.proof.ok:
        raise typer.Exit(NOT_PROVED)


def _shape(done: Removed) -> dict[str, object]:
    return {
        "run": shapes.run_shape(done.report) if done.report is not None else None,
        "proved": done.proof.ok,
        "probes": [shapes.plain(probe) for probe in done.proof.probes],
        "remains": [shapes.plain(one) for one in done.proof.remains],
        "dropped": shapes.plain(done.dropped),
        "blobs": done.collected.blobs if done.collected else 0,
    }
