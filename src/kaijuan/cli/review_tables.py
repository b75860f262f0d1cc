"""Reviews for people. What documents say is escaped: excerpts are what attackers wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.tables import when

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.core.reviews import Decision, Finding, Review

_FEW = 3
_COLOURS = {"pending": "yellow", "approved": "green", "rejected": "red"}


def queue(reviews: Sequence[Review]) -> Iterator[RenderableType]:
    """Show each review with its first findings."""
    if not reviews:
        yield Text("Nothing waits for a decision.")
        return
    for review in reviews:
        yield _head(review)
        for finding in review.reasons[:_FEW]:
            yield Padding(_finding(finding), (0, 0, 0, 4), expand=False)
        if len(review.reasons) > _FEW:
            yield Padding(Text(f"and {len(review.reasons) - _FEW} more", style="dim"), (0, 0, 0, 4), expand=False)
    yield Text(f"{screen.count(len(reviews), 'review')}. `{screen.go_on()} review show ID` says more.", style="dim")


def one(review: Review) -> Iterator[RenderableType]:
    """Show one review whole."""
    yield _head(review)
    if review.title:
        yield Text(screen.line(review.title), style="bold")
    yield Text(f"held {when(review.created_at)}", style="dim")
    for finding in review.reasons:
        yield Padding(_finding(finding), (0, 0, 0, 4), expand=False)
    for decision in review.history:
        yield Text(_decision(decision))


def _head(review: Review) -> Text:
    state = review.state.value
    return Text.assemble(
        (review.id[:8], "bold"), " ", (state, _COLOURS.get(state, "dim")), " ", screen.place(review.source)
    )


def _finding(finding: Finding) -> Text:
    return Text.assemble(
        (screen.line(str(finding)), "yellow"), "\n" if finding.excerpt else "", screen.line(finding.excerpt)
    )


def _decision(decision: Decision) -> str:
    by = f" by {screen.line(decision.by)}" if decision.by else ""
    note = f": {screen.line(decision.note)}" if decision.note else ""
    return f"{decision.state.value} {when(decision.at)}{by}{note}"
