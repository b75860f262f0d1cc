"""Commands that go on until they are stopped: watch, sync --forever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.cli.session import Session
    from kaijuan.verbs.watching import Heard, Told


def watch(
    context: typer.Context,
    folders: Annotated[list[str], typer.Argument(metavar="DIR", help="Folders to mirror.")],
    quiet: Annotated[
        float, typer.Option("--quiet", min=0.05, metavar="SECONDS", help="Wait until nothing changed for so long.")
    ] = 1.6,
    sweep: Annotated[
        float, typer.Option("--sweep", min=1.0, metavar="SECONDS", help="Look at everything so often in any case.")
    ] = 300.0,
    json: Json = False,
) -> None:
    """Keep folders mirrored: new, changed, moved and deleted files are followed until Ctrl-C."""
    session = session_of(context, json)
    with session.open() as base:
        base.watch(folders, told=_teller(session), quiet_seconds=quiet, sweep_seconds=sweep)


def sync(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Sources as the configuration names them; all when none is given."),
    ] = None,
    forever: Annotated[
        bool, typer.Option("--forever", metavar="", help="Go on, and sync each source when its `schedule` says so.")
    ] = False,
    json: Json = False,
) -> None:
    """Bring named sources up to date: new, changed and gone documents."""
    session = session_of(context, json)
    if forever:
        with session.open() as base:
            base.keep_in_sync(names or (), told=_teller(session))
        return
    from kaijuan.cli.documents import end_syncs
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress() as progress:
        reports = base.sync(names or (), progress=progress)
    end_syncs(session, reports)


def _teller(session: Session) -> Told:
    """Return what shows each run: one JSON document a line, or a few lines for people."""

    def told(heard: Heard) -> None:
        if session.json:
            body: dict[str, object] = {"name": heard.name, "why": heard.why}
            if heard.report is not None:
                body["run"] = shapes.run_shape(heard.report)
            if heard.error is not None:
                body |= shapes.error_shape(heard.error)
            screen.show_json(body)
            return
        _show(heard)

    return told


def _show(heard: Heard) -> None:
    import datetime

    from rich.text import Text

    from kaijuan.cli import tables

    now = datetime.datetime.now().astimezone().strftime("%H:%M:%S")
    head = Text.assemble((f"{now} ", "dim"), (screen.place(heard.name), "bold"), (f" ({heard.why})", "dim"))
    if heard.error is not None:
        screen.show(head, Text(screen.lines(str(heard.error)), style="red"))
    elif heard.report is not None and (heard.why != "sweep" or _is_news(heard)):
        screen.show(head, *tables.run(heard.report))


def _is_news(heard: Heard) -> bool:
    report = heard.report
    return report is not None and bool(report.added or report.updated or report.removed or report.failed or report.held)
