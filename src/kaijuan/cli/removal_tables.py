"""Removals and their proofs, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen, tables

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.verbs.upkeep import Removed


def removed(done: Removed) -> Iterator[RenderableType]:
    """Show what was removed, every way that was tried, and what remains where until when."""
    if done.report is not None:
        yield from tables.run(done.report)
    if done.dropped is not None:
        blobs = done.collected.blobs if done.collected else 0
        yield Text(
            f"Purged {screen.count(done.dropped.versions, 'version')} from every snapshot, "
            f"{screen.count(done.dropped.chunks, 'chunk')} and {screen.count(blobs, 'blob')}.",
            style="bold",
        )
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for probe in done.proof.probes:
        mark = Text("✓", style="green") if probe.ok else Text("✗", style="bold red")
        table.add_row(mark, Text(screen.line(probe.name)), Text(screen.lines(probe.detail)))
    yield table
    said = "No reader can find anything of them." if done.proof.ok else "Something can still be found."
    yield Text(said, style="bold" if done.proof.ok else "bold red")
    if done.proof.remains:
        yield Text("What remains, and until when", style="dim")
        for one in done.proof.remains:
            yield Text(f"  {screen.line(one.where)}: until {screen.line(one.until)}")
