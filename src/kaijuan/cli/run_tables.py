"""Runs for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen, tables

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.index.catalog import RunItem
    from kaijuan.jobs.run_views import RunView

_TOLD = ("failed", "held", "rejected")
_ORDER = ("added", "updated", "removed", "failed", "held", "rejected")
_SHOWN = 200
_GOOD = ("Nothing had changed.", "All of it was published already.")
"""Reasons for which a run ends well without a snapshot."""


def runs(found: Sequence[RunView]) -> Iterator[RenderableType]:
    """Show one run a line, newest first."""
    if not found:
        yield Text("No run yet.")
        return
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("run", "kind", "begun", "took", "documents", "outcome"):
        table.add_column(Text(head), no_wrap=head not in ("documents", "outcome"), overflow="fold")
    for view in found:
        run = view.run
        cells = (run.id[:8], run.kind, tables.when(run.started_at), duration(view.seconds), _counts(view))
        table.add_row(*(Text(cell) for cell in cells), _outcome(view))
    yield table


def one(view: RunView, items: Sequence[RunItem]) -> Iterator[RenderableType]:
    """Show one run with every source that is not published, and why."""
    run = view.run
    yield Text(f"Run {run.id}", style="bold")
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for key, value in _facts(view):
        table.add_row(Text(key, style="dim"), value)
    yield table
    told = [item for item in items if item.state.value in _TOLD]
    for item in told[:_SHOWN]:
        yield Text.assemble((f"{item.state.value} ", "red"), screen.place(item.source))
        words = Text.assemble((item.code, "red"), ": " if item.code else "", screen.lines(item.message))
        yield Padding(words, (0, 0, 0, 4), expand=False)
    if len(told) > _SHOWN:
        yield Text(f"and {len(told) - _SHOWN} more; `--json` names all.", style="dim")
    if any(item.state.value == "failed" for item in items):
        yield Text(f"Try them again with `{screen.go_on()} runs retry-failed {run.id[:8]}`.", no_wrap=True)
    elif run.state.value == "rolled_back" and view.can_resume and run.reason not in _GOOD:
        yield Text(f"Go on with `{screen.go_on()} runs resume {run.id[:8]}`.", no_wrap=True)


def _facts(view: RunView) -> Iterator[tuple[str, Text]]:
    run = view.run
    yield "kind", Text(run.kind)
    yield "begun", Text(f"{tables.when(run.started_at, '%Y-%m-%d %H:%M:%S')}, {duration(view.seconds)}")
    yield "outcome", _outcome(view)
    yield "documents", Text(_counts(view))
    if view.done:
        total = f" of {view.total}" if view.total is not None else ""
        rate = f", {view.documents_a_second:g} a second" if view.documents_a_second else ""
        yield "seen", Text(f"{view.done}{total}{rate}, {view.chunks} new chunks, {view.indexed} in the index")
    if view.remaining_seconds is not None:
        yield "remaining", Text(f"about {duration(view.remaining_seconds)}")
    if view.worker:
        yield "by", Text(screen.line(view.worker))
    if view.stage and view.source:
        yield "now", Text(f"{view.stage}: {screen.place(view.source)}")


def _counts(view: RunView) -> str:
    parts = [f"{view.counts[state]} {state}" for state in _ORDER if view.counts.get(state)]
    return ", ".join(parts) or ("none changed" if view.run.state.value != "running" else f"{view.done} seen")


def _outcome(view: RunView) -> Text:
    run = view.run
    if run.state.value == "running":
        if view.cancelled:
            return Text(f"stopping: cancelled by {screen.line(view.cancelled)}", style="yellow")
        return (
            Text(_under_way(view), style="cyan")
            if view.worker
            else Text(
                "died; `runs resume` goes on with it" if view.can_resume else "died; the next run undoes it",
                style="red",
            )
        )
    if run.state.value == "published":
        return Text(f"published snapshot {run.target}", style="green")
    if run.reason in _GOOD:
        return Text(f"nothing to do: {run.reason[:1].lower()}{run.reason[1:].rstrip('.')}")
    reason = screen.line(" ".join(run.reason.split()))
    return Text(f"undone: {reason}" if reason else "undone", style="yellow")


def _under_way(view: RunView) -> str:
    parts = [view.stage or "starting"]
    if view.total:
        parts.append(f"{100 * view.done // view.total} %")
    if view.remaining_seconds is not None:
        parts.append(f"about {duration(view.remaining_seconds)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return 4.2 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
