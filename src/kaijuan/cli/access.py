"""Commands about who may use a knowledge base: grant, revoke, list, inherit, user, users, join, leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.keys import role_of
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.core.identity import Account
    from kaijuan.index.access import Binding

app = typer.Typer(
    name="access",
    cls=Group,
    help="Who may use a knowledge base through the service, and read which of its documents.",
    no_args_is_help=True,
)

Principal = Annotated[
    str, typer.Argument(metavar="WHO", help="A user, group:NAME, or `tenant` for every user of the tenant.")
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="DOCUMENT|FOLDER/",
        help="Only this document, or all below this folder; by default the whole base.",
    ),
]
User = Annotated[str, typer.Argument(metavar="USER", help="Name of the user.")]
GroupName = Annotated[str, typer.Argument(metavar="GROUP", help="Name of the group.")]


def grant(
    context: typer.Context,
    principal: Principal,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="In the base: owner, editor, reader or auditor.")
    ] = "reader",
    on: On = "",
    json: Json = False,
) -> None:
    """Give somebody a role in the base, or let them read a part of it, which is then closed to all others."""
    session = session_of(context, json)
    with session.open() as base:
        concerned = base.grant(principal, role=role_of(role), on=on)
    _say(session.json, f"{principal} is now {role} of", on, concerned)


def revoke(context: typer.Context, principal: Principal, on: On = "", json: Json = False) -> None:
    """Take a role or the right to read away. The next request sees it."""
    session = session_of(context, json)
    with session.open() as base:
        concerned = base.revoke(principal, on=on)
    _say(session.json, f"{principal} has nothing any more on", on, concerned)


def inherit(
    context: typer.Context,
    on: Annotated[str, typer.Argument(metavar="DOCUMENT|FOLDER/", help="What has readers of its own.")],
    json: Json = False,
) -> None:
    """Let a document or folder be read by those who may read what is around it again."""
    session = session_of(context, json)
    with session.open() as base:
        concerned = base.inherit(on)
    _say(session.json, "Readers are again those around", on, concerned)


def list_(context: typer.Context, json: Json = False) -> None:
    """List who is bound to the base, its folders and documents."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.access()
        names = {str(version.document_id): version.source for version in base.list()}
    whole = {one.resource for one in found if one.resource not in names and not one.resource.startswith("folder:")}
    shown = [(_named(one.resource, names, whole), one) for one in found]
    if session.json:
        screen.show_json(
            {
                "bindings": [
                    {"on": "" if one.resource in whole else name, "who": one.principal, "role": one.role.value}
                    for name, one in shown
                ]
            }
        )
        return
    screen.show(*_bindings(shown))


def user(
    context: typer.Context,
    name: User,
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="In the tenant: owner, editor, reader or auditor.")
    ] = "reader",
    disabled: Annotated[bool, typer.Option("--disable", metavar="", help="Shut the user out, keys and all.")] = False,
    json: Json = False,
) -> None:
    """Make a user, or change role and state of one."""
    session = session_of(context, json)
    with session.open() as base:
        made = base.put_user(name, role=role_of(role), disabled=disabled)
    _show_users(session.json, [made], alone=True)


def users(context: typer.Context, json: Json = False) -> None:
    """List the users of the tenant with their roles and groups."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.users()
    _show_users(session.json, found)


def join(context: typer.Context, group: GroupName, name: User, json: Json = False) -> None:
    """Put a user into a group."""
    session = session_of(context, json)
    with session.open() as base:
        base.join_group(group, name)
        found = [one for one in base.users() if one.name == name]
    _show_users(session.json, found, alone=True)


def leave(context: typer.Context, group: GroupName, name: User, json: Json = False) -> None:
    """Take a user out of a group."""
    session = session_of(context, json)
    with session.open() as base:
        base.leave_group(group, name)
        found = [one for one in base.users() if one.name == name]
    _show_users(session.json, found, alone=True)


def _say(as_json: bool, said: str, on: str, concerned: Sequence[str]) -> None:
    if as_json:
        screen.show_json({"documents": list(concerned)})
        return
    from rich.text import Text

    what = screen.line(on) if on else "the knowledge base"
    screen.show(Text(f"{screen.line(said)} {what}: {screen.count(len(concerned), 'document')}."))


def _named(resource: str, names: dict[str, str], whole: set[str]) -> str:
    if resource in whole:
        return "the knowledge base"
    return names.get(resource) or resource.removeprefix("folder:")


def _bindings(shown: Sequence[tuple[str, Binding]]) -> Iterator[RenderableType]:
    from rich.text import Text

    for name, one in shown:
        who = {"all": "who runs the tenant", "": "nobody", "tenant": "every user"}.get(one.principal, one.principal)
        yield Text.assemble((screen.line(who), "bold"), f" {one.role.value} of {screen.place(name)}")


def _show_users(as_json: bool, found: Sequence[Account], *, alone: bool = False) -> None:
    if as_json:
        from kaijuan.verbs.shapes import fields_of

        shapes = [fields_of(one) for one in found]
        screen.show_json(shapes[0] if alone and shapes else {"users": shapes})
        return
    from rich.text import Text

    if not found:
        screen.show(Text("There is no such user."))
    for one in found:
        groups = f" in {', '.join(map(screen.line, one.groups))}" if one.groups else ""
        gone = " shut out" if one.disabled_at is not None else ""
        screen.show(Text.assemble((screen.line(one.name), "bold"), f" {one.role.value}{groups}{gone}"))


for command in (grant, revoke, inherit, list_, user, users, join, leave):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
