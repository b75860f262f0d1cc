"""Passages for people: where they stand, what was found in them, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.core.spans import Span, merge

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.retrieve.explain import ChunkExplanation, Explanation
    from kaijuan.retrieve.results import Passage, RouteReport, SearchResult

SHOWN_CHARACTERS = 600
"""Of a passage; `--json` gives it whole."""
LEAD_CHARACTERS = 120
"""Shown before the first hit when the passage is cut."""
HIT_STYLE = "bold yellow"


def found(result: SearchResult) -> Iterator[RenderableType]:
    """Show a search's passages, best first."""
    if not result.passages:
        yield Text(f"Nothing found in snapshot {result.snapshot}.")
    for passage in result.passages:
        yield from _head(passage)
        yield Padding(excerpt(passage.text, passage.span, passage.hits), (0, 0, 1, 4), expand=False)
    yield Text(_summary(result), style="dim")
    yield from _troubles(result.trace.routes)


def location(title: str, source: str, title_path: Sequence[str], pages: Sequence[int]) -> Text:
    """Return title, headings and pages on one line."""
    shown = Text().append(screen.line(title) or screen.name(source), style="bold")
    # Many parsers begin the path with the document's own title.
    below = title_path[1:] if title_path and title_path[0] == title else title_path
    if below:
        shown.append(f" › {screen.join(below)}")
    if pages:
        shown.append(f"  {page_words(pages)}", style="cyan")
    return shown


def page_words(pages: Sequence[int]) -> str:
    """Return "p. 2" or "p. 2-4"."""
    return f"p. {pages[0]}" if len(pages) == 1 else f"p. {pages[0]}-{pages[-1]}"


def excerpt(text: str, span: Span, hits: Sequence[Span]) -> Text:
    """Return the passage with its hits marked, cut around the first when it is long."""
    places = [hit.shift(-span.start) for hit in merge(hits) if span.contains(hit)]
    whole = len(places) == 1 and len(places[0]) == len(text)
    start = max(0, places[0].start - LEAD_CHARACTERS) if places and len(text) > SHOWN_CHARACTERS else 0
    end = min(len(text), start + SHOWN_CHARACTERS)
    shown = Text("… " if start else "")
    at = start
    for hit in [] if whole else places:
        shared = hit.intersect(Span(start, end))
        if shared is None:
            continue
        shown.append(screen.lines(text[at : shared.start]))
        shown.append(screen.lines(shared.of(text)), style=HIT_STYLE)
        at = shared.end
    shown.append(screen.lines(text[at:end]))
    return shown.append(" …" if end < len(text) else "")


def explained(explanation: Explanation) -> Iterator[RenderableType]:
    """Show the way of each chunk through the stages."""
    for target in explanation.targets:
        yield from _target(target)
    yield Text(f"Snapshot {explanation.snapshot}.", style="dim")
    yield from _troubles(explanation.trace.routes)


def _head(passage: Passage) -> Iterator[RenderableType]:
    head = Text().append(f"{passage.rank:>2}  ", style="bold green")
    yield head.append_text(location(passage.title, passage.source, passage.title_path, passage.pages))
    ranks = ", ".join(f"{route} {score.rank}" for route, score in passage.routes.items())
    scores = f"score {passage.score:.4f}, relevance {passage.relevance:.2f} ({ranks})"
    for words in (screen.place(passage.source), scores):
        yield Padding(Text(words, style="dim", overflow="fold"), (0, 0, 0, 4), expand=False)


def _summary(result: SearchResult) -> str:
    total = result.timings_ms.get("total")
    spent = f" in {total:.0f} ms" if total is not None else ""
    return f"{screen.count(len(result.passages), 'passage')}, snapshot {result.snapshot}{spent}."


def _troubles(routes: Sequence[RouteReport]) -> Iterator[RenderableType]:
    for route in routes:
        if route.state != "ok":
            yield Text(f"The {route.name} route gave nothing: {screen.line(route.state)}.", style="yellow")


def _target(target: ChunkExplanation) -> Iterator[RenderableType]:
    yield location(target.title, target.source, target.title_path, ())
    for words in (screen.place(target.source), f"chunk {target.chunk_id}"):
        yield Padding(Text(words, style="dim", overflow="fold"), (0, 0, 0, 4), expand=False)
    yield Padding(excerpt(target.text, target.span, ()), (0, 0, 0, 4), expand=False)
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for stage in target.stages:
        mark = Text("✓", style="green") if stage.passed else Text("✗", style="red")
        table.add_row(mark, Text(stage.stage), Text(screen.line(stage.detail)))
    yield Padding(table, (0, 0, 0, 4), expand=False)
    yield Padding(Text(screen.line(target.verdict), style="bold"), (0, 0, 1, 4), expand=False)
