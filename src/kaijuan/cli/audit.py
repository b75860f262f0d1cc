"""Commands about the audit log: list, verify, export."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of

app = typer.Typer(
    name="audit",
    cls=Group,
    help="Who did what through the service, and what was changed of access. Lines are only ever added.",
    no_args_is_help=True,
)
_PAGE = 1000
BROKEN = 1
"""Exit code where the log was tampered with."""


def list_(
    context: typer.Context,
    count: Annotated[int, typer.Option("-n", min=1, max=_PAGE, metavar="N", help="How many lines.")] = 50,
    json: Json = False,
) -> None:
    """List the newest lines, the oldest of them first."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.newest_audit(limit=count)
    if session.json:
        from kaijuan.verbs.shapes import fields_of

        screen.show_json({"events": [fields_of(one) for one in found]})
        return
    from rich.text import Text

    from kaijuan.cli.tables import when

    if not found:
        screen.show(Text("The audit log is empty."))
    for one in found:
        key = f" by key {one.key}" if one.key else ""
        screen.show(
            Text.assemble(
                f"{one.sequence} {when(one.at)} ",
                (screen.line(one.who), "bold"),
                f"{key} ",
                (one.decision, "green" if one.decision == "allowed" else "red"),
                f" {screen.line(one.action)} {screen.line(one.resource)} {screen.line(one.detail)}".rstrip(),
            )
        )


def verify(context: typer.Context, json: Json = False) -> None:
    """Check that no line was changed or dropped; prints the last hash, which proves it later if kept elsewhere."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.check_audit()
    ok = found.broken_at is None
    if session.json:
        screen.show_json({"ok": ok, "lines": found.lines, "broken_at": found.broken_at, "last": found.last})
    else:
        from rich.text import Text

        said = "every line fits." if ok else f"the log does not fit at line {found.broken_at}."
        screen.show(Text(f"{screen.count(found.lines, 'line')}: {said}"), Text(f"last {found.last}", no_wrap=True))
    if not ok:
        raise typer.Exit(BROKEN)


def export(context: typer.Context, json: Json = False) -> None:
    """Print the log as JSON lines, oldest first (with --json as one document)."""
    session = session_of(context, json)
    from kaijuan.verbs.shapes import fields_of

    lines = []
    with session.open() as base:
        after = 0
        while page := base.audit_log(after=after, limit=_PAGE):
            after = page[-1].sequence
            lines += [fields_of(one) for one in page]
    if session.json:
        screen.show_json({"events": lines})
        return
    screen.show_text("".join(json_text.dumps(line, ensure_ascii=True) + "\n" for line in lines))


for command in (list_, verify, export):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
