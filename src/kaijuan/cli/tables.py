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
from kaijuan.core.snapshots import Changes, Snapshot

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.core.documents import Block, Version
    from kaijuan.index.catalog import Run
    from kaijuan.jobs.doctor import DoctorReport
    from kaijuan.jobs.report import RunReport
    from kaijuan.jobs.views import DocumentView, Status

WIDE = 100
"""Columns from which the list of documents has room for all it knows."""
REMOVED_SHOWN = 20
"""Removed documents that are named; `--json` names up to 1,000."""
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
            ("held for review", len(report.held)),
            ("rejected before", report.rejected),
        )
        if count
    ]
    yield Text(", ".join(counts) or "nothing to do", style="bold")
    sizes = f"{screen.count(report.documents, 'document')}, {screen.count(report.chunks, 'chunk')}"
    if report.added or report.updated or report.removed:
        several = f" to {report.snapshot}" if len(report.snapshots) > 1 else ""
        said = f"Snapshot{'s' if several else ''} {(report.snapshots or (report.snapshot,))[0]}{several}: {sizes}"
    elif report.snapshot:
        said = f"Nothing changed: still snapshot {report.snapshot}, {sizes}"
    else:
        said = "Nothing was published"
    yield Text(f"{said} ({report.seconds:.1f} s).", style="dim")
    if report.salvaged:
        stored = screen.count(report.salvaged, "document")
        yield Text(f"{stored} had been stored by a run that was killed; they are not read again.", style="dim")
    moved = {one.before for one in report.moved}
    for one in report.moved[:REMOVED_SHOWN]:
        yield Text.assemble(("→ ", "cyan"), screen.place(one.before), " is now ", screen.place(one.after))
    gone = [source for source in report.removed_sources if source not in moved]
    for source in gone[:REMOVED_SHOWN]:
        yield Text.assemble(("- ", "red"), screen.place(source))
    if len(gone) > REMOVED_SHOWN:
        yield Text(f"- and {len(gone) - REMOVED_SHOWN} more removed", style="dim")
    for item in report.failed:
        yield Text.assemble(("✗ ", "red"), screen.place(item.source))
        yield Padding(Text.assemble((item.code, "red"), ": ", screen.lines(item.message)), (0, 0, 0, 4), expand=False)
    for held in report.held:
        yield Text.assemble(("‖ ", "yellow"), screen.place(held.source))
        told = Text.assemble((held.review[:8], "yellow"), ": ", screen.lines(held.reasons))
        yield Padding(told, (0, 0, 0, 4), expand=False)
    if report.held:
        said = f"Look at them with `{screen.go_on()} review list`; then approve or reject each."
        yield Text(said, no_wrap=True)


def documents(versions: Sequence[Version]) -> Iterator[RenderableType]:
    """Show one document a line."""
    if not versions:
        yield Text(f"No documents. Add some with `{screen.go_on()} add PATH`.")
        return
    narrow = screen.out().width < WIDE
    table = _table("id", "document", *(() if narrow else ("kind", "language")), "pages", "version", "taken in")
    for version in versions:
        kinds = () if narrow else (Text(screen.line(version.kind)), Text(screen.line(version.language)))
        table.add_row(
            Text(version.document_id[:8], style="dim"),
            _named(version),
            *kinds,
            Text(str(version.pages or "")),
            Text(str(version.number)),
            Text(when(version.created_at, "%Y-%m-%d") if narrow else when(version.created_at)),
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
        ("version", f"{version.id} (number {version.number})"),
        ("taken in", when(version.created_at)),
        ("kind", f"{version.kind}, {version.language or 'language unknown'}"),
        (
            "size",
            f"{screen.count(len(view.text), 'character')}, {_pages(version)}{screen.count(len(view.blocks), 'block')}",
        ),
        ("chunks", f"{children} to search, {len(view.chunks) - children} to read"),
    )
    if version.metadata:
        # Apart, since its `created` is not the time above, which is what filters know by that name.
        yield Text("What the document says of itself", style="dim")
        yield _facts(*((f"  {key}", _value(value)) for key, value in sorted(version.metadata.items())))
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
    tagged = any(snapshot.tags for snapshot in found)
    table = _table("snapshot", "published", "documents", "chunks", "what changed", *(("tags",) if tagged else ()))
    before = Snapshot(number=0, created_at=0.0)
    for snapshot in found:
        cells = (snapshot.number, when(snapshot.created_at), snapshot.documents, snapshot.chunks)
        tags = (Text(screen.line(", ".join(snapshot.tags))),) if tagged else ()
        table.add_row(*(Text(str(cell)) for cell in cells), Text(_difference(before, snapshot)), *tags)
        before = snapshot
    yield table


def _difference(before: Snapshot, after: Snapshot) -> str:
    """Say what readers see differently than in the snapshot before that is kept."""
    seen = after.changes or Changes()
    parts = [("added", seen.added), ("changed", seen.changed), ("removed", seen.removed)]
    said = ", ".join(f"{count:,} {word}" for word, count in parts if count)
    chunks = after.chunks - before.chunks
    if not said:
        return "nothing"
    return f"{said} ({screen.count(abs(chunks), 'chunk')} {'more' if chunks > 0 else 'fewer'})" if chunks else said


def rebuilt(found: Status) -> Iterator[RenderableType]:
    """Say that a rebuild is done, and what it made."""
    yield Text(f"Rebuilt the index: {screen.count(found.points, 'chunk')} of all versions.", style="bold")
    yield from status(found)


def status(found: Status) -> Iterator[RenderableType]:
    """Show a knowledge base at a glance."""
    yield Text(f"Knowledge base {screen.line(found.kb)}", style="bold")
    published = f", published {when(found.published_at)}" if found.published_at is not None else ""
    yield _facts(
        ("snapshot", f"{found.head}{published}"),
        ("documents", str(found.documents)),
        ("chunks", str(found.chunks)),
        ("index", f"{found.points} chunks of all versions, in {found.space or 'no space yet'}"),
        ("model", f"{found.model}, {found.dimensions} dimensions"),
    )
    for unfinished in found.unfinished_runs:
        started = when(unfinished.started_at)
        yield Text(f"Run {unfinished.id[:8]}, begun {started}, has not finished.", style="yellow")
    if found.recent_runs:
        table = _table("run", "kind", "begun", "outcome")
        for each in found.recent_runs:
            cells = (each.id[:8], each.kind, when(each.started_at), _outcome(each))
            table.add_row(*(Text(str(cell)) for cell in cells))
        yield Text("")
        yield table
        if any(each.state.value == "rolled_back" for each in found.recent_runs):
            yield Text("Of an undone run nothing was kept but its report.", style="dim")


def _outcome(run: Run) -> str:
    undone = f"undone: {screen.line(' '.join(run.reason.split()))}" if run.reason else "undone"
    outcomes = {"published": f"published snapshot {run.target}", "rolled_back": undone, "running": "not finished"}
    return outcomes.get(run.state.value, run.state.value)


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
    place = screen.line(block.place) or (page_words(block.pages) if block.pages else "")
    note = f"{block.kind.value}{', ' + place if place else ''}"
    shown = Text.assemble((f"{note}\n", "dim"), (screen.lines(cut), style))
    return Padding(shown, (0, 0, 0, 2), expand=False)


def _history(history: Sequence[Version], current: Version) -> Iterator[RenderableType]:
    for version in history:
        mark = " (shown)" if version.id == current.id else ""
        yield Text(
            f"  {version.number}  {when(version.created_at)}  from snapshot {version.valid_from}  {version.id}{mark}"
        )


def _pages(version: Version) -> str:
    return f"{screen.count(version.pages, 'page')}, " if version.pages else ""


def _value(value: object) -> str:
    return screen.line(", ".join(value) if isinstance(value, tuple | list) else str(value))


def when(seconds: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a time as the user's clock shows it."""
    return datetime.datetime.fromtimestamp(seconds).astimezone().strftime(form)
