"""Answers for people: numbered sentences, and the exact words that each number stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.passages import location
from kaijuan.core.text.language import language_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.answer.results import Answer
    from kaijuan.core.citations import Citation

QUOTE_CHARACTERS = 300
STATUS_STYLES = {"answered": "green", "partial": "yellow", "refused": "red", "clarify": "yellow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The words around an answer, in the language of its question."""

    note: str
    sources: str
    page: str
    status: Mapping[str, str]
    snapshot: str
    spent: str
    end: str
    model: Mapping[str, str]


ENGLISH = Labels(
    note="Note: ",
    sources="Sources",
    page="p.{}",
    status={"answered": "Answered", "partial": "Answered in part", "refused": "Not answered", "clarify": "Unclear"},
    snapshot=" from snapshot {}",
    spent=" in {:.1f} s",
    end=".",
    model={"extractive": ", in the documents' own words,"},
)
CHINESE = Labels(
    note="说明：",
    sources="来源",
    page="第{}页",
    status={"answered": "已回答", "partial": "部分回答", "refused": "未回答", "clarify": "需要澄清"},
    snapshot="，快照 {}",
    spent="，用时 {:.1f} 秒",
    end="。",
    model={"extractive": "，文档原句"},
)


def answered(answer: Answer) -> Iterator[RenderableType]:
    """Show an answer with its sources."""
    labels = CHINESE if language_of(answer.question) == "zh" else ENGLISH
    status = str(answer.status)
    if not answer.sentences:
        yield Text(screen.lines(answer.answer), style=STATUS_STYLES.get(status, ""))
    for sentence in answer.sentences:
        shown = Text(screen.lines(sentence.text))
        shown.append("".join(f" [{screen.line(id)}]" for id in sentence.citations), style="bold cyan")
        yield shown
    for note in answer.notes:
        yield Text(f"{labels.note}{screen.line(note)}", style="yellow")
    if answer.citations:
        yield Text(f"\n{labels.sources}", style="bold")
    for citation in answer.citations:
        yield from _source(citation, labels)
    yield Text(f"\n{_foot(answer, labels)}", style="dim")


def _foot(answer: Answer, labels: Labels) -> str:
    status = str(answer.status)
    parts = [labels.status.get(status, status), labels.snapshot.format(answer.snapshot)]
    if answer.sentences:
        parts.append(labels.model.get(answer.model, f" ({screen.line(answer.model)})"))
    if (total := answer.timings_ms.get("total")) is not None:
        parts.append(labels.spent.format(total / 1000))
    return "".join(parts) + labels.end


def _source(citation: Citation, labels: Labels) -> Iterator[RenderableType]:
    head = Text().append(f"[{screen.line(citation.id)}] ", style="bold cyan")
    yield head.append_text(location(citation.title, citation.source, citation.title_path, citation.pages, labels.page))
    quote = citation.quote
    cut = quote if len(quote) <= QUOTE_CHARACTERS else quote[:QUOTE_CHARACTERS] + " …"
    yield Padding(Text(f"“{screen.lines(cut)}”", style="italic"), (0, 0, 0, 4), expand=False)
    yield Padding(Text(screen.place(citation.source), style="dim"), (0, 0, 0, 4), expand=False)
