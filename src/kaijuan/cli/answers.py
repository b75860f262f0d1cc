"""Answers for people: numbered sentences, and the exact words that each number stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.passages import location

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.answer.results import Answer
    from kaijuan.core.citations import Citation

QUOTE_CHARACTERS = 300
STATUS_STYLES = {"answered": "green", "partial": "yellow", "refused": "red", "clarify": "yellow"}


def answered(answer: Answer) -> Iterator[RenderableType]:
    """Show an answer with its sources."""
    status = str(answer.status)
    if not answer.sentences:
        yield Text(screen.lines(answer.answer), style=STATUS_STYLES.get(status, ""))
    for sentence in answer.sentences:
        shown = Text(screen.lines(sentence.text))
        shown.append("".join(f" [{screen.line(id)}]" for id in sentence.citations), style="bold cyan")
        yield shown
    for note in answer.notes:
        yield Text(f"Note: {screen.line(note)}", style="yellow")
    if answer.citations:
        yield Text("\nSources", style="bold")
    for citation in answer.citations:
        yield from _source(citation)
    total = answer.timings_ms.get("total")
    spent = f", {total:.0f} ms" if total is not None else ""
    yield Text(f"\n{status}, snapshot {answer.snapshot}, {screen.line(answer.model)}{spent}.", style="dim")


def _source(citation: Citation) -> Iterator[RenderableType]:
    head = Text().append(f"[{screen.line(citation.id)}] ", style="bold cyan")
    yield head.append_text(location(citation.title, citation.source, citation.title_path, citation.pages))
    quote = citation.quote
    cut = quote if len(quote) <= QUOTE_CHARACTERS else quote[:QUOTE_CHARACTERS] + " …"
    yield Padding(Text(f"“{screen.lines(cut)}”", style="italic"), (0, 0, 0, 4), expand=False)
    yield Padding(Text(screen.place(citation.source), style="dim"), (0, 0, 0, 4), expand=False)
