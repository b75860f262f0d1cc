"""Commands about API keys of the service: create, list, revoke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of
from kaijuan.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.core.identity import Action, ApiKey, Role
    from kaijuan.sync import Kaijuan

app = typer.Typer(
    name="keys",
    cls=Group,
    help="API keys of the service. The first one turns identity on: from then on every caller needs one.",
    no_args_is_help=True,
)

User = Annotated[str, typer.Argument(metavar="USER", help="Whose key.")]


def create(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    user: User,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="ROLE",
            help="Make the user with this role in the tenant, or change it: owner (runs the tenant), editor (may make "
            "knowledge bases), reader, auditor (reads the audit log).",
        ),
    ] = "",
    scopes: Annotated[
        str, typer.Option("--scopes", metavar="WORDS", help="What the key may do at most: read,write,manage,audit.")
    ] = "read,write,manage,audit",
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="KB", help="Only this knowledge base; several times for more.")
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", help="When it expires; without, it does not.")
    ] = None,
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What it is for.")] = "",
    json: Json = False,
) -> None:
    """Make an API key and print it. It is shown this once, and only a hash of it is kept."""
    session = session_of(context, json)
    with session.open() as base:
        _know(base, user, role)
        key, text = base.create_key(user, label=label, scopes=_scopes(scopes), bases=only, days=days)
    if session.json:
        screen.show_json({**shape(key), "key": text})
        return
    from rich.text import Text

    screen.show(Text(text, style="bold", no_wrap=True))
    screen.err().print("Keep it: it is not shown again. Send it as `Authorization: Bearer KEY`.", soft_wrap=True)


def list_(context: typer.Context, json: Json = False) -> None:
    """List the keys, without their secrets."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.keys()
    if session.json:
        screen.show_json({"keys": [shape(key) for key in found]})
        return
    screen.show(*_lines(found))


def revoke(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="As `keys list` shows it.")],
    json: Json = False,
) -> None:
    """Let a key open nothing any more, from the next request on."""
    session = session_of(context, json)
    with session.open() as base:
        base.revoke_key(id)
    if session.json:
        screen.show_json({"revoked": id})
        return
    from rich.text import Text

    screen.show(Text(f"Revoked {screen.line(id)}."))


def role_of(word: str) -> Role:
    """Return the role of a word; UsageError for none."""
    from kaijuan.core.identity import Role

    try:
        return Role(word)
    except ValueError as error:
        raise UsageError(f"{word!r} is no role.", hint=f"Roles: {', '.join(Role)}.") from error


def shape(key: ApiKey) -> dict[str, object]:
    """Return a key as JSON has it, without its digest."""
    from kaijuan.verbs.shapes import fields_of

    told = fields_of(key)
    del told["digest"]
    return told


def _know(base: Kaijuan, user: str, role: str) -> None:
    """Make the user where a role is given; otherwise they must be there."""
    if role:
        base.put_user(user, role=role_of(role))
    elif user not in {one.name for one in base.users()}:
        raise NotFoundError(
            f"There is no user {user!r}.", hint="Say --role to make one: reader, editor, owner, auditor."
        )


def _scopes(words: str) -> list[Action]:
    from kaijuan.core.identity import Action

    try:
        return [Action(word) for word in words.replace(",", " ").split()]
    except ValueError as error:
        raise UsageError(f"{words!r} are no scopes.", hint=f"Scopes: {', '.join(Action)}.") from error


def _lines(found: Sequence[ApiKey]) -> Iterator[RenderableType]:
    from rich.text import Text

    from kaijuan.cli.tables import when

    if not found:
        yield Text("There is no key. `kaijuan keys create USER --role owner` makes the first.")
        return
    for key in found:
        now = datetime.now().timestamp()
        state = "revoked" if key.revoked_at is not None else "valid" if key.is_valid(now) else "expired"
        yield Text.assemble(
            (key.id, "bold"),
            f" {screen.line(key.user)} ",
            (state, "green" if state == "valid" else "red"),
            f" {', '.join(sorted(key.scopes))}",
            f" only {', '.join(sorted(map(screen.line, key.bases)))}" if key.bases is not None else "",
            f" until {when(key.expires_at)}" if key.expires_at else "",
            f" used {when(key.used_at)}" if key.used_at else " never used",
            f" ({screen.line(key.label)})" if key.label else "",
        )


for command in (create, list_, revoke):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
