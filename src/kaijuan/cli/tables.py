"""Lists and reports for people: run reports, documents, snapshots, status, health."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.passages import page_words
from kaijuan.core.documents import ChunkLevel

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.core.documents import Block, Version
    from kaijuan.core.snapshots import Snapshot
    from kaijuan.jobs.doctor import DoctorReport
    from kaijuan.jobs.report import RunReport
    from kaijuan.jobs.views import DocumentView, Status

BLOCK_CHARACTERS = 400
"""Shown of each block by `show`; `--json` gives the whole text."""


def run(report: RunReport) -> Iterator[RenderableType]:
    """Show what a run did, and what to do about each failure."""
    counts = [
        f"{count} {word}"
        for word, count in (
            ("added", report.added),
            ("updated", report.updated),
            ("unchanged", report.unchanged),
            ("removed", report.removed),
            ("failed", len(report.failed)),
        )
        if count
    ]
    yield Text(", ".join(counts) or "nothing to do", style="bold")
    sizes = f"{screen.count(report.documents, 'document')}, {screen.count(report.chunks, 'chunk')}"
    yield Text(f"Snapshot {report.snapshot}: {sizes} ({report.seconds:.1f} s).", style="dim")
    for item in report.failed:
        yield Text.assemble(("✗ ", "red"), screen.place(item.source))
        yield Padding(Text.assemble((item.code, "red"), ": ", screen.lines(item.message)), (0, 0, 0, 4), expand=False)


def documents(versions: Sequence[Version]) -> Iterator[RenderableType]:
    """Show one document a line."""
    if not versions:
        yield Text("No documents. Add some with `kaijuan add PATH`.")
        return
    table = _table("id", "document", "kind", "language", "pages", "version", "added")
    for version in versions:
        table.add_row(
            Text(version.document_id[:8], style="dim"),
            _named(version),
            Text(screen.line(version.kind)),
            Text(screen.line(version.language)),
            Text(str(version.pages or "")),
            Text(str(version.number)),
            Text(_when(version.created_at)),
        )
    yield table
    yield Text(f"{screen.count(len(versions), 'document')}.", style="dim")


def document(view: DocumentView) -> Iterator[RenderableType]:
    """Show one document: its head, its blocks, its history."""
    version = view.version
    yield Text(screen.line(version.title) or screen.name(version.source), style="bold")
    children = sum(chunk.level is ChunkLevel.CHILD for chunk in view.chunks)
    yield _facts(
        ("source", screen.place(version.source)),
        ("document", version.document_id),
        ("version", f"{version.id} (number {version.number}, {_when(version.created_at)})"),
        ("kind", f"{version.kind}, {version.language or 'language unknown'}"),
        ("size", f"{len(view.text)} characters, {version.pages or 'no'} pages, {len(view.blocks)} blocks"),
        ("chunks", f"{children} to search, {len(view.chunks) - children} to read"),
        *((f"  {key}", _value(value)) for key, value in sorted(version.metadata.items())),
    )
    for warning in version.warnings:
        yield Text(f"Warning: {screen.line(warning)}", style="yellow")
    yield Text("")
    for block in view.blocks:
        yield _block(block, view.text)
    if len(view.history) > 1:
        yield Text("\nVersions", style="bold")
        yield from _history(view.history, version)


def snapshots(found: Sequence[Snapshot]) -> Iterator[RenderableType]:
    """Show one snapshot a line, oldest first."""
    if not found:
        yield Text("Nothing has been published yet.")
        return
    table = _table("snapshot", "published", "documents", "chunks")
    for snapshot in found:
        cells = (snapshot.number, _when(snapshot.created_at), snapshot.documents, snapshot.chunks)
        table.add_row(*(Text(str(cell)) for cell in cells))
    yield table


def status(found: Status) -> Iterator[RenderableType]:
    """Show a knowledge base at a glance."""
    yield Text(f"Knowledge base {screen.line(found.kb)}", style="bold")
    published = f", published {_when(found.published_at)}" if found.published_at is not None else ""
    yield _facts(
        ("snapshot", f"{found.head}{published}"),
        ("documents", str(found.documents)),
        ("chunks", str(found.chunks)),
        ("index", f"{found.points} points in {found.space or 'no space yet'}"),
        ("model", f"{found.model}, {found.dimensions} dimensions"),
    )
    for unfinished in found.unfinished_runs:
        started = _when(unfinished.started_at)
        yield Text(f"Run {unfinished.id[:8]}, begun {started}, has not finished.", style="yellow")
    if found.recent_runs:
        table = _table("run", "kind", "snapshot", "state", "begun")
        for each in found.recent_runs:
            cells = (each.id[:8], each.kind, each.target, each.state.value, _when(each.started_at))
            table.add_row(*(Text(str(cell)) for cell in cells))
        yield Text("")
        yield table


def health(report: DoctorReport) -> Iterator[RenderableType]:
    """Show each check, and what to do where one fails."""
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for check in report.checks:
        mark = Text("✓", style="green") if check.ok else Text("✗", style="bold red")
        detail = Text(screen.lines(check.detail))
        if not check.ok and check.hint:
            detail.append(f"\n{screen.lines(check.hint)}", style="yellow")
        table.add_row(mark, Text(screen.line(check.name)), detail)
    yield table
    wrong = sum(not check.ok for check in report.checks)
    yield Text("All is well." if not wrong else f"{wrong} of {len(report.checks)} checks failed.", style="bold")


def _table(*heads: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in heads:
        # Only the names may wrap; everything else is short.
        table.add_column(Text(head), no_wrap=head != "document", overflow="fold")
    return table


def _facts(*pairs: tuple[str, str]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for key, value in pairs:
        table.add_row(Text(screen.line(key), style="dim"), Text(value, overflow="fold"))
    return table


def _named(version: Version) -> Text:
    file = screen.name(version.source)
    title = screen.line(version.title)
    shown = Text(title or file, overflow="fold")
    return shown.append(f"\n{file}", style="dim") if title and title != file else shown


def _block(block: Block, text: str) -> RenderableType:
    content = block.span.of(text)
    cut = content if len(content) <= BLOCK_CHARACTERS else content[:BLOCK_CHARACTERS] + " …"
    style = "bold" if block.kind.value == "heading" else ""
    note = f"{block.kind.value}{', ' + page_words(block.pages) if block.pages else ''}"
    shown = Text.assemble((f"{note}\n", "dim"), (screen.lines(cut), style))
    return Padding(shown, (0, 0, 0, 2), expand=False)


def _history(history: Sequence[Version], current: Version) -> Iterator[RenderableType]:
    for version in history:
        mark = " (shown)" if version.id == current.id else ""
        yield Text(
            f"  {version.number}  {_when(version.created_at)}  from snapshot {version.valid_from}  {version.id}{mark}"
        )


def _value(value: object) -> str:
    return screen.line(", ".join(value) if isinstance(value, tuple | list) else str(value))


def _when(seconds: float) -> str:
    """Return a time as the user's clock shows it."""
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
