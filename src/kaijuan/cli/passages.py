"""Passages for people: where they stand, what was found in them, and why."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.core.spans import Span, merge
from kaijuan.core.text.analyse import TermKind, analyse
from kaijuan.core.text.language import language_of
from kaijuan.retrieve.understanding.words import sentences

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from kaijuan.retrieve.explain import ChunkExplanation, Explanation
    from kaijuan.retrieve.results import Passage, SearchResult, Trace

SHOWN_ALSO = 3
"""Other places of the same words that a passage names."""
SHOWN_LINES = 8
"""Of a passage, unless all of it is asked for; `--json` gives it whole."""
TARGET_LINES = 4
HIT_STYLE = "bold yellow"
ROUTES = {
    "en": {"dense": "{} by meaning", "lexical": "{} by words"},
    "zh": {"dense": "按意思第 {}", "lexical": "按字词第 {}"},
}
"""What people call the routes, by language of the question. Meaning may be looked for in one language at a time."""
ROUTES_LIKE = {"en": "{{}} by {route}", "zh": "按 {route} 第 {{}}"}
BANDS = {
    "en": {"evidence": "strong", "supporting": "fair", "weak": "weak"},
    "zh": {"evidence": "强", "supporting": "中", "weak": "弱"},
}
EVIDENCE = {"en": "evidence: {} ({:.0%})", "zh": "证据：{}（{:.0%}）"}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a text that hold most of what is marked in it; all of them when `lines` is 0.

    Which lines those are is known only when the width is.
    """

    text: Text
    near: Span
    """Where to look, in characters of `text`; the best lines begin in here."""
    lines: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        rows = list(self.text.wrap(console, options.max_width))
        if not self.lines or len(rows) <= self.lines:
            yield from rows
            return
        ends = accumulate(len(row.plain) + 1 for row in rows)
        # Blank lines would take the room of what is to be read.
        written = [(row, end) for row, end in zip(rows, ends, strict=True) if row.plain.strip()]
        start = self._best(written)
        if start:
            yield Text("…", style="dim")
        yield from (row for row, _ in written[start : start + self.lines])
        if start + self.lines < len(written):
            yield Text("…", style="dim")

    def _best(self, rows: Sequence[tuple[Text, int]]) -> int:
        ends = [end for _, end in rows]
        last = max(0, len(rows) - self.lines)
        first, past = (min(last, bisect_right(ends, at)) for at in (self.near.start, max(0, self.near.end - 1)))
        marks = [len({row.plain[span.start : span.end] for span in row.spans}) for row, _ in rows]
        sums = {at: sum(marks[at : at + self.lines]) for at in range(first, past + 1)}
        best = [at for at in sums if sums[at] == max(sums.values())]
        # Some lines before the first mark are enough.
        return best[max(0, len(best) - 3)] if any(sums.values()) else first


def found(result: SearchResult, *, filtered: bool = False, full: bool = False) -> Iterator[RenderableType]:
    """Show a search's passages, best first."""
    if not result.passages:
        yield from nothing(result, filtered=filtered)
    for passage in result.passages:
        yield from _head(passage, "zh" if language_of(result.query) == "zh" else "en")
        shown = excerpt(passage, result.trace.terms, 0 if full else SHOWN_LINES)
        yield Padding(shown, (0, 0, 1, 4), expand=False)
    for sentence in sentences(result.trace.understanding, result.query, language_of(result.query)):
        yield Text(screen.line(sentence), style="cyan")
    yield Text(_summary(result), style="dim")
    yield from _troubles(result.trace)


def nothing(result: SearchResult, *, filtered: bool) -> Iterator[RenderableType]:
    """Say why a search has no passages: nothing to search, or nothing near."""
    routes = result.trace.routes
    if filtered and not any(route.found for route in routes) and all(route.state == "ok" for route in routes):
        yield Text("The filter leaves no document to search.", style="yellow")
        return
    among = " among the documents that the filter leaves" if filtered else ""
    yield Text(f"Nothing found{among} in snapshot {result.snapshot}.")


def location(title: str, source: str, title_path: Sequence[str], pages: Sequence[int], page: str = "p.{}") -> Text:
    """Return title, headings and pages on one line."""
    shown = Text().append(screen.line(title) or screen.name(source), style="bold")
    # Many parsers begin the path with the document's own title.
    below = title_path[1:] if title_path and title_path[0] == title else title_path
    if below:
        shown.append(f" › {screen.join(below)}")
    if pages:
        shown.append(f"  {page_words(pages, page)}", style="cyan")
    return shown


def page_words(pages: Sequence[int], page: str = "p.{}") -> str:
    """Return "p.2" or "p.2-4", without a blank: a line must not end between the two."""
    return page.format(pages[0] if len(pages) == 1 else f"{pages[0]}-{pages[-1]}")


def excerpt(passage: Passage, terms: Collection[str], lines: int) -> Excerpt:
    """Return the passage around its best hit, with the words marked that it shares with the question."""
    inside = [hit for hit in passage.hits if passage.span.contains(hit)]
    near = inside[0].shift(-passage.span.start) if inside else Span(0, len(passage.text))
    return Excerpt(marked(passage.text, terms), near, lines)


def marked(text: str, terms: Collection[str]) -> Text:
    """Return a text with the terms of a question marked in it."""
    shown = Text()
    at = 0
    for word in shared_words(text, terms):
        shown.append(screen.lines(text[at : word.start]))
        shown.append(screen.lines(word.of(text)), style=HIT_STYLE)
        at = word.end
    return shown.append(screen.lines(text[at:]))


def shared_words(text: str, terms: Collection[str]) -> list[Span]:
    """Return where the telling terms of a question stand in a text; pairs of characters only where no word does."""
    wanted = frozenset(terms)
    shared = [term for term in analyse(text) if term.text in wanted and not term.weak and not _slight(term.text)]
    words = [term.span for term in shared if term.kind not in (TermKind.BIGRAM, TermKind.LEAD)]
    return merge(words or [term.span for term in shared])


def _slight(key: str) -> bool:
    # The 8 of M8×1.25 says nothing beside another number.
    return len(key) == 1 and key.isascii()


def explained(explanation: Explanation, *, full: bool = False) -> Iterator[RenderableType]:
    """Show the way of the best chunk through the stages, and what became of the others."""
    for number, target in enumerate(explanation.targets):
        yield from _target(target, explanation.trace.terms, full=full, stages=full or not number)
    others = len(explanation.targets) - 1
    if others > 0 and not full:
        yield Text("Every step of the others: --full, or --chunk ID for one of them.", style="dim")
    yield Text(f"Snapshot {explanation.snapshot}.", style="dim")
    yield from _troubles(explanation.trace)


def _head(passage: Passage, language: str) -> Iterator[RenderableType]:
    head = Text().append(f"{passage.rank:>2}  ", style="bold green")
    yield head.append_text(location(passage.title, passage.source, passage.title_path, passage.pages))
    for words in (screen.place(passage.source), *_elsewhere(passage), _standing(passage, language)):
        yield Padding(Text(words, style="dim", overflow="fold"), (0, 0, 0, 4), expand=False)


def _standing(passage: Passage, language: str) -> str:
    """Say how good a passage is, by the estimate of whether it answers, and how it was found. The fused score only
    compares passages of one search: the best of nothing has a high one too."""
    ranks = {"dense" if route.startswith("dense_") else route: at.rank for route, at in passage.routes.items()}
    words = ROUTES[language]
    places = [
        words.get(route, ROUTES_LIKE[language].format(route=screen.line(route).replace("_", " "))).format(
            rank if language == "zh" else screen.ordinal(rank)
        )
        for route, rank in ranks.items()
    ]
    if passage.evidence is None:
        return ", ".join(places) if language == "en" else "，".join(places)
    judged = EVIDENCE[language].format(BANDS[language].get(passage.band, passage.band), passage.evidence)
    return ", ".join([judged, *places]) if language == "en" else "，".join([judged, *places])


def _elsewhere(passage: Passage) -> Iterator[str]:
    """Yield where the same words stand too, which is not shown apart."""
    for source in passage.also[:SHOWN_ALSO]:
        yield f"also in {screen.place(source)}"
    if len(passage.also) > SHOWN_ALSO:
        yield f"and in {len(passage.also) - SHOWN_ALSO} more"


def _summary(result: SearchResult) -> str:
    total = result.timings_ms.get("total")
    spent = f" in {total:.0f} ms" if total is not None else ""
    return f"{screen.count(len(result.passages), 'passage')}, snapshot {result.snapshot}{spent}."


def _troubles(trace: Trace) -> Iterator[RenderableType]:
    for route in trace.routes:
        if route.state != "ok":
            yield Text(f"The {route.name} route gave nothing: {screen.line(route.state)}.", style="yellow")
    judge = trace.reranker
    if judge is not None and judge.state != "ok":
        told = f"The reranker {judge.name} gave nothing: {screen.line(judge.state)}. The order is that of the routes."
        yield Text(told, style="yellow")


def _target(target: ChunkExplanation, terms: Collection[str], *, full: bool, stages: bool) -> Iterator[RenderableType]:
    yield location(target.title, target.source, target.title_path, ())
    for words in (screen.place(target.source), f"chunk {target.chunk_id}"):
        yield Padding(Text(words, style="dim", overflow="fold"), (0, 0, 0, 4), expand=False)
    if stages:
        whole = Span(0, len(target.text))
        shown = Excerpt(marked(target.text, terms), whole, 0 if full else TARGET_LINES)
        yield Padding(shown, (0, 0, 0, 4), expand=False)
        table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
        for stage in target.stages:
            mark = Text("✓", style="green") if stage.passed else Text("✗", style="red")
            table.add_row(mark, Text(stage.stage), Text(screen.line(stage.detail)))
        yield Padding(table, (0, 0, 0, 4), expand=False)
    yield Padding(Text(screen.line(target.verdict), style="bold"), (0, 0, 1, 4), expand=False)
