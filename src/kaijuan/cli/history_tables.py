"""Snapshots compared and dropped, and runs, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from kaijuan.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.jobs.history import DocumentChange, SnapshotDiff
    from kaijuan.jobs.retention import GcReport

_SHOWN = 200
"""Documents of a kind that are named; `--json` names all."""


def diff(found: SnapshotDiff, *, chunks: bool = False) -> Iterator[RenderableType]:
    """Show what came, changed and went between two snapshots."""
    yield Text(f"From snapshot {found.before} to {found.after}", style="bold")
    kinds = (("+", "green", found.added), ("~", "yellow", found.changed), ("-", "red", found.removed))
    for mark, style, some in kinds:
        for one in some[:_SHOWN]:
            yield Text.assemble((f"{mark} ", style), screen.place(one.source), (f"  {_chunks(one)}", "dim"))
            if chunks:
                yield from _texts(one)
        if len(some) > _SHOWN:
            yield Text(f"{mark} and {len(some) - _SHOWN} more", style="dim")
    counts = f"{len(found.added)} added, {len(found.changed)} changed, {len(found.removed)} removed"
    yield Text(
        f"{counts}, {found.unchanged} unchanged; chunks: +{found.chunks_added}, -{found.chunks_removed}.", style="dim"
    )


def _chunks(one: DocumentChange) -> str:
    parts = [f"+{one.chunks_added}"] if one.chunks_added else []
    parts += [f"-{one.chunks_removed}"] if one.chunks_removed else []
    parts += [f"{one.chunks_kept} the same"] if one.chunks_kept else []
    return f"{', '.join(parts) or 'no'} chunks"


def _texts(one: DocumentChange) -> Iterator[RenderableType]:
    pairs: tuple[tuple[str, str, Sequence[str]], ...] = (
        ("- ", "red", one.removed_texts),
        ("+ ", "green", one.added_texts),
    )
    for mark, style, texts in pairs:
        for text in texts:
            yield Padding(Text.assemble((mark, style), screen.line(text)), (0, 0, 0, 4), expand=False)


def collected(report: GcReport) -> Iterator[RenderableType]:
    """Say what was dropped, or would be."""
    done = "Would drop" if report.dry else "Dropped"
    parts = [screen.count(len(report.dropped), "snapshot"), screen.count(report.versions, "version")]
    parts.append(screen.count(report.points, "point"))
    if not report.dry:
        parts.append(f"{screen.count(report.blobs, 'blob')} ({report.bytes / 2**20:.1f} MiB)")
    if report.reports:
        parts.append(f"the lines of {screen.count(report.reports, 'report')}")
    yield Text(f"{done} {', '.join(parts)}.", style="bold")
    if report.dropped:
        what = "would be dropped" if report.dry else "can no longer be read"
        yield Text(f"{_numbers(report.dropped)}: {what}.", style="dim")
    yield Text(f"Kept: {_numbers(report.kept) or 'none'}.", style="dim")
    if report.busy:
        yield Text(f"Blobs that nothing needs were left for another time: {screen.lines(report.busy)}", style="yellow")


def _numbers(numbers: Sequence[int]) -> str:
    """Return 1-3, 7, 9-12."""
    parts: list[str] = []
    start = previous = None
    for number in [*numbers, None]:
        if previous is not None and number != previous + 1:
            parts.append(str(previous) if start == previous else f"{start}-{previous}")
            start = number
        start = number if start is None else start
        previous = number
    return ", ".join(parts)
