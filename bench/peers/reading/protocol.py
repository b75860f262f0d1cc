"""What every reader is asked. Standard library only: peers' environments import this."""

from __future__ import annotations

from typing import Protocol


class Reader(Protocol):
    """One library that turns files into Markdown on this machine, without a network, without models to fetch."""

    about: str
    """What is run, in one line for the table."""

    def read(self, path: str) -> str:
        """Return the file as Markdown; raise anything when it cannot be read."""
