"""The classes of commands and of groups of commands: typer's, with --help shown as the switch it is."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Group(TyperGroup):
    """A command with commands of its own."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return --help without a type: people read `--help <bool>` as something to fill in."""
        return _bare(super().get_help_option(ctx))


class Command(TyperCommand):
    """One command."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return --help without a type."""
        return _bare(super().get_help_option(ctx))


def _bare(option: Any) -> Any:
    if option is not None:
        option.metavar = ""
    return option
