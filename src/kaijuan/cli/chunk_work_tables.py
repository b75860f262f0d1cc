"""What people did to chunks, shown to people."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.core.chunk_work import ChunkWork, WorkKind
from kaijuan.core.documents import ChunkLevel
from kaijuan.jobs.chunk_report import excerpt
from kaijuan.jobs.rework import Worked
from kaijuan.jobs.work_views import WorkState, WorkView

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {WorkState.APPLIED: "green", WorkState.STALE: "bold red", WorkState.GONE: "dim", WorkState.ENDED: "dim"}


def listed(views: Sequence[WorkView]) -> Iterator[RenderableType]:
    """Show one piece of work a row, the oldest first."""
    if not views:
        yield Text("Nobody has done anything to chunks by hand.")
        return
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("work", "what", "state", "by", "when", "document", "passage"):
        table.add_column(Text(head), no_wrap=head in ("work", "what", "state", "when"), overflow="fold")
    for view in views:
        work = view.work
        table.add_row(
            Text(work.id[:8], style="dim"),
            Text(work.kind.value),
            Text(view.state.value, style=_STYLES[view.state]),
            Text(screen.line(work.by)),
            Text(_when(work.at), style="dim"),
            Text(screen.name(view.source)),
            Text(screen.line(_about(work))),
        )
    yield table
    stale = [view for view in views if view.state is WorkState.STALE]
    for view in stale:
        yield Text.assemble((f"{view.work.id[:8]} ", "yellow"), f"is not done any more: {view.why}.")
    if stale:
        yield Text(
            f"Do them again where they belong now, or `{screen.go_on()} chunks restore WORK` to be rid of them.",
            style="dim",
        )


def _about(work: ChunkWork) -> str:
    if work.kind is WorkKind.STRATEGY:
        return work.said
    quote = excerpt(work.passage.quote)
    return f"{quote} ⇐ {excerpt(work.said)}" if work.said else quote


def _when(at: float) -> str:
    return f"{datetime.datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"


def worked(done: Worked) -> Iterator[RenderableType]:
    """Show what was done and undone, and the chunks that stand there now."""
    said = [f"{one.kind.value} {one.id[:8]}" for one in done.work]
    said += [f"{one.kind.value} {one.id[:8]} undone" for one in done.ended]
    yield Text(f"{', '.join(said)}: snapshot {done.report.snapshot}.", style="bold")
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("chunk", "tokens", "origin", "beginning"):
        table.add_column(Text(head), no_wrap=head != "beginning", overflow="fold")
    for chunk in done.chunks:
        text = chunk.search_text or chunk.span.of(done.text)
        out = chunk.level is ChunkLevel.EXCLUDED
        table.add_row(
            Text(chunk.id, style="dim" if out else ""),
            Text(str(chunk.tokens)),
            Text(origin(chunk.origin), style="yellow"),
            Text(screen.line(excerpt(text)), style="dim" if out else ""),
        )
    if done.chunks:
        yield table


def origin(word: str) -> str:
    """Return an origin as people are shown it: nothing for what was cut by rule."""
    return "" if word == "auto" else word.removeprefix("manual_")
