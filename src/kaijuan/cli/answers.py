"""Answers for people: numbered sentences, and the exact words that each number stands for."""

from __future__ import annotations

import json
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

    from kaijuan.answer.results import Answer, Structured
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
    unstructured: Mapping[str, str]
    """Why there is no object, by status; a fault follows."""
    opening: str
    """How a source is opened: command and number."""


ENGLISH = Labels(
    note="Note: ",
    sources="Sources",
    page="p.{}",
    status={"answered": "Answered", "partial": "Answered in part", "refused": "Not answered", "clarify": "Unclear"},
    snapshot=" from snapshot {}",
    spent=" in {:.1f} s",
    end=".",
    model={"extractive": ", in the documents' own words,"},
    unstructured={
        "unanswered": "There is no answer to put into the form asked for.",
        "unfit": "The language model gave nothing that fits the schema: ",
        "failed": "The language model failed to put the answer into the form: ",
    },
    opening="Open a source: {} {}",
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
    unstructured={
        "unanswered": "没有回答，无法按要求的格式输出。",
        "unfit": "语言模型的输出不符合 schema：",
        "failed": "语言模型没能按格式输出：",
    },
    opening="查看原文：{} {}",
)


def answered(answer: Answer, cite: str = "") -> Iterator[RenderableType]:
    """Show an answer with its sources; `cite` is the command that opens one by its number."""
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
    if answer.structured is not None:
        yield from _structured(answer.structured, labels)
    if answer.citations:
        yield Text(f"\n{labels.sources}", style="bold")
    for citation in answer.citations:
        yield from _source(citation, labels)
    if answer.citations and cite:
        yield Text(labels.opening.format(cite, screen.line(answer.citations[0].id)), style="dim", no_wrap=True)
    yield Text(f"\n{_foot(answer, labels)}", style="dim")


def _structured(made: Structured, labels: Labels) -> Iterator[RenderableType]:
    """Show the answer as an object, or why there is none."""
    if made.data is not None:
        yield Text(screen.lines(json.dumps(made.data, ensure_ascii=False, indent=2)), style="bold")
        return
    why = labels.unstructured[str(made.status)]
    yield Text(f"{why}{screen.line(made.fault)}", style="yellow")


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
