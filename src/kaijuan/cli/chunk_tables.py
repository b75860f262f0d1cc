"""What the chunk commands show to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import chunk_work_tables, screen
from kaijuan.core.documents import Chunk, ChunkLevel
from kaijuan.ingest.chunkers.preview import Comparison, Row, Trial
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.reading import Reading
from kaijuan.jobs.chunk_report import BUCKET, TINY, ChunkReport, excerpt
from kaijuan.jobs.views import ChunkView, DocumentView

if TYPE_CHECKING:
    from rich.console import RenderableType

_BAR = 40
_LISTED = 10
_ROWS = 200
_CHARACTERS = 1200


def listed(view: DocumentView) -> Iterator[RenderableType]:
    """Show the chunks of a document, children under their parents."""
    version = view.version
    yield Text(screen.line(version.title) or screen.name(version.source), style="bold")
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("chunk", "tokens", "title path and beginning"):
        table.add_column(Text(head), no_wrap=head != "title path and beginning", overflow="fold")
    for each in view.chunks:
        table.add_row(*_row(each, view.text))
    yield table
    levels = Counter(each.level for each in view.chunks)
    strategy = next((each.strategy.split("-")[0] for each in view.chunks), "")
    out = f", {levels[ChunkLevel.EXCLUDED]} excluded" if levels[ChunkLevel.EXCLUDED] else ""
    yield Text(
        f"{screen.count(levels[ChunkLevel.CHILD], 'chunk')} to search under "
        f"{screen.count(levels[ChunkLevel.PARENT], 'parent')}, cut by {screen.line(strategy)}{out}.",
        style="dim",
    )


def _row(each: Chunk, text: str) -> tuple[Text, Text, Text]:
    path = f"{screen.join(each.title_path)} · " if each.title_path else ""
    if each.level is ChunkLevel.DOCUMENT:
        said = Text("summary ", style="dim") + Text(screen.line(excerpt(each.search_text)))
        return Text(each.id, style="dim"), Text(str(each.tokens)), said
    if each.level is ChunkLevel.PARENT:
        return Text(each.id, style="dim"), Text(str(each.tokens)), Text(path or "parent", style="dim")
    made = chunk_work_tables.origin(each.origin)
    said = Text.assemble((f"[{made}] " if made else "", "yellow"), (path, "dim"))
    said += Text(screen.line(excerpt(each.search_text or each.span.of(text))))
    out = each.level is ChunkLevel.EXCLUDED
    return Text(f"  {each.id}", style="dim" if out else ""), Text(str(each.tokens)), said


def chunk(view: ChunkView, *, full: bool) -> Iterator[RenderableType]:
    """Show one chunk."""
    own = view.chunk
    yield Text(screen.line(view.version.title) or screen.name(view.version.source), style="bold")
    facts = [
        ("source", screen.place(view.version.source)),
        ("level", own.level.value),
        ("title path", screen.join(own.title_path)),
        ("tokens", str(own.tokens)),
        ("characters", f"{own.span.start} to {own.span.end}"),
        ("pages", ", ".join(map(str, view.pages))),
        ("strategy", screen.line(own.strategy)),
        ("origin", own.origin if own.origin != "auto" else ""),
        ("found by", screen.line(own.search_text)),
        ("context", screen.line(own.context)),
        ("parent", own.parent_id or ""),
        ("beside it", ", ".join(each.id for each in view.neighbours)),
        ("children", ", ".join(each.id for each in view.children)),
        ("refers to", screen.line(", ".join(view.references))),
    ]
    yield _facts(facts)
    yield Text("")
    yield Text(screen.lines(_beginning(view.text, full=full)))
    if view.parent is not None and view.parent.span != own.span:
        yield Text("\nIts parent, which is what is read", style="bold")
        yield Padding(Text(screen.lines(_beginning(view.parent_text, full=full)), style="dim"), (0, 0, 0, 2))


def _facts(facts: Sequence[tuple[str, str]]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for name, value in facts:
        if value:
            table.add_row(Text(name, style="dim"), Text(value, overflow="fold"))
    return table


def _beginning(text: str, *, full: bool) -> str:
    return text if full or len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}… (--full shows it whole)"


def report(found: ChunkReport) -> Iterator[RenderableType]:
    """Show the report on all chunks."""
    yield Text(
        f"{screen.count(found.children, 'chunk')} to search under {screen.count(found.parents, 'parent')} "
        f"of {screen.count(found.documents, 'document')}, snapshot {found.snapshot}",
        style="bold",
    )
    if not found.children:
        return
    strategies = ", ".join(f"{screen.line(name)} {number}" for name, number in found.strategies.items())
    yield _facts(
        [
            ("strategies", strategies),
            ("tokens", f"{found.shortest} to {found.longest}, half of them up to {found.median_tokens:g}"),
            ("very short", f"{found.tiny} below {TINY} tokens"),
            ("cut structures", f"{found.cut_count} tables, codes, lists and formulas"),
            ("cut sentences", f"{found.parted_sentences} chunks end within one"),
            ("duplicates", f"{found.duplicate_count} chunks say what another says"),
            ("coverage", f"{found.coverage:.4%}"),
            ("by hand", ", ".join(f"{chunk_work_tables.origin(word)} {n}" for word, n in found.manual.items())),
        ]
    )
    yield Text("\nLengths in tokens", style="bold")
    yield from _histogram(found)
    yield from _details(found)


def _histogram(found: ChunkReport) -> Iterator[Text]:
    most = max(found.lengths.values())
    for low in range(min(found.lengths), max(found.lengths) + 1, BUCKET):
        number = found.lengths.get(low, 0)
        bar = "█" * round(_BAR * number / most) or ("▏" if number else "")
        yield Text.assemble(f"{low:>5} – {low + BUCKET - 1:<5}", (bar, "cyan"), f" {number}" if number else "")


def _details(found: ChunkReport) -> Iterator[RenderableType]:
    """Show the first of every list; the page and --json have them all."""
    lists: list[tuple[str, list[tuple[str, str]]]] = [
        (
            "Cut structures",
            [
                (f"{each.kind.value} in {each.pieces} chunks", f"{screen.place(each.source)}: {each.excerpt}")
                for each in found.cut
            ],
        ),
        (
            "Duplicates",
            [
                (f"{each.count} times", f"{each.excerpt} ({', '.join(map(screen.name, each.sources))})")
                for each in found.duplicates
            ],
        ),
        (
            "Outliers",
            [(screen.place(each.source), f"{each.why}, in {each.children} chunks") for each in found.outliers],
        ),
        (
            "Work by hand that has to be looked at",
            [
                (f"{each.kind} {each.id[:8]} by {each.by}", f"{screen.place(each.source)}: {each.why}: {each.excerpt}")
                for each in found.stale
            ],
        ),
        ("In no chunk", [(screen.place(source), said) for source, said in found.lost]),
        ("Cannot be read", [(screen.place(source), "its text is missing or damaged") for source in found.unreadable]),
    ]
    for title, entries in lists:
        if entries:
            yield Text(f"\n{title}", style="bold")
            for first, second in entries[:_LISTED]:
                yield Text.assemble((screen.line(first), "yellow"), " ", screen.line(second))
            if len(entries) > _LISTED:
                yield Text(f"… and more: --html or --json shows up to {len(entries)}.", style="dim")


def preview(readings: Sequence[Reading], compared: Sequence[Comparison | None]) -> Iterator[RenderableType]:
    """Show each document of a file under every strategy."""
    for reading, one in zip(readings, compared, strict=True):
        yield Text(screen.place(reading.source), style="bold")
        if one is None or reading.document is None:
            yield Text(screen.lines(f"{reading.code}: {reading.message} {reading.hint}".strip()), style="red")
            continue
        yield Text(f"Looks like {one.shape}; the settings choose {screen.line(one.chosen)}.", style="dim")
        yield _summary(one.trials)
        yield Text("")
        yield from _side_by_side(one, reading.document.text)


def _summary(trials: Sequence[Trial]) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    heads = ("strategy", "chunks", "parents", "tokens", "median", "cut structures", "cut sentences", "coverage")
    for head in heads:
        table.add_column(Text(head), overflow="fold")
    for trial in trials:
        found = trial.quality
        sizes = f"{min(found.tokens, default=0)}–{max(found.tokens, default=0)}"
        middle = f"{median(found.tokens):g}" if found.tokens else "0"
        cells = (
            *(screen.line(trial.strategy), str(len(found.tokens)), str(found.parents), sizes, middle),
            *(str(len(found.cut)), str(found.parted_sentences), f"{found.coverage:.2%}"),
        )
        table.add_row(*map(Text, cells))
    return table


def _side_by_side(one: Comparison, text: str) -> Iterator[RenderableType]:
    rows = one.rows()
    table = Table(header_style="bold", show_lines=True, expand=True)
    for trial in one.trials:
        table.add_column(Text(screen.line(trial.strategy)), ratio=1, overflow="fold")
    for row in rows[:_ROWS]:
        table.add_row(*_cells(row, text))
    yield table
    if len(rows) > _ROWS:
        yield Text(f"The first {_ROWS} of {len(rows)} rows; --html shows all.", style="dim")


def _cells(row: Row, text: str) -> list[Text]:
    return [Text("\n").join([_draft(draft, text) for draft in drafts]) for drafts in row.children]


def _draft(draft: ChunkDraft, text: str) -> Text:
    path = f" {screen.join(draft.title_path)}" if draft.title_path else ""
    said = " ".join(draft.span.of(text).split())
    shown = said if len(said) <= 2 * 60 else f"{said[:60]} … {said[-40:]}"
    return Text.assemble((f"{draft.tokens} tokens{path}\n", "dim"), screen.line(shown))
