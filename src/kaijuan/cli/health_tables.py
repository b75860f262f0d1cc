"""How a base is doing, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.run_tables import duration

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.jobs.health import Drift, Health, Queue

_CAUSES = 10


def health(found: Health) -> Iterator[RenderableType]:
    """Show freshness, queue, sizes, failures and drift."""
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for key, value in _facts(found):
        table.add_row(Text(key, style="dim"), Text(value, overflow="fold"))
    yield Text("")
    yield table
    if found.queue.stalled:
        yield Text("A run died; the next one undoes it.", style="red")
    for cause in found.failures[:_CAUSES]:
        yield Text.assemble(("✗ ", "red"), (cause.code, "red"), f": {screen.count(cause.sources, 'source')}")
        told = Text.assemble(screen.place(cause.example), ": ", screen.lines(cause.message))
        yield Padding(told, (0, 0, 0, 4), expand=False)
    for one in found.drift:
        yield _drift(one)


def _facts(found: Health) -> Iterator[tuple[str, str]]:
    fresh = found.freshness
    if fresh.seconds_p50 is not None and fresh.seconds_max is not None:
        runs = screen.count(fresh.runs, "run")
        typical, longest = duration(fresh.seconds_p50), duration(fresh.seconds_max)
        yield "change to searchable", f"{typical} typically, {longest} at most, in the last {runs}"
    yield "waiting", _waiting(found.queue)
    sizes = found.sizes
    spaces = sum(sizes.spaces.values())
    hidden = sizes.points - sizes.points_shown
    earlier = f", {hidden} chunks of earlier snapshots" if hidden else ""
    yield "index", f"{size(spaces)} in {screen.count(len(sizes.spaces), 'space')}{earlier}"
    yield "home", f"catalog {size(sizes.catalog)}, texts {size(sizes.blobs)}, caches {size(sizes.cache)}"
    if found.refused:
        parts = [f"{100 * share:.0f} % {name}" for name, share in found.refused.items()]
        yield "refused", ", ".join(parts)


def _waiting(queue: Queue) -> str:
    parts = []
    if queue.running:
        left = "" if queue.documents is None else f", {screen.count(queue.documents, 'document')} to go"
        since = "" if queue.oldest_seconds is None else f" for {duration(queue.oldest_seconds)}"
        parts.append(f"{screen.count(queue.running, 'run')} under way{since}{left}")
    if queue.reviews:
        since = "" if queue.oldest_review_seconds is None else f", for {duration(queue.oldest_review_seconds)}"
        parts.append(f"{screen.count(queue.reviews, 'document')} for review{since}")
    return "; ".join(parts) or "nothing"


def _drift(one: Drift) -> Text:
    middle = f"{one.before_quartiles[1]:.3g} → {one.recent_quartiles[1]:.3g}"
    said = f"Best {one.measure} scores of the last {one.recent} questions: median {middle}"
    if one.moved:
        return Text(f"{said}; they have moved (p = {one.p_value:.2g}).", style="yellow")
    return Text(f"{said}, as before.", style="dim")


def size(count: int) -> str:
    """Return 812 KB, 3.4 MB, 1.2 GB."""
    value = float(count)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if value >= 100 or unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
