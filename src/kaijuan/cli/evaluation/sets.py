"""Sets of questions for people: what was made, lists of questions, one question whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.evals.making.items import Item
    from kaijuan.evals.making.pipeline import Made
    from kaijuan.evals.making.reviews import Review

QUOTED = 400
"""Characters shown of a quote; --json gives all."""
_FAULTS = {
    "answer_in_question": "gave the answer away",
    "answer_is_there": "could be answered after all",
    "answer_missing": "had no answer, or a very long one",
    "answer_not_in_evidence": "had an answer that the evidence does not hold",
    "ambiguous": "fit several documents with different answers",
    "not_found_again": "did not lead the search back to their evidence",
    "points_outside": "pointed at something outside them",
    "repeated": "asked nearly the same as another",
    "two_splits": "would have joined two splits",
    "too_common": "had an answer that very many documents give",
    "unreadable": "were broken or of no good length",
}


def made(result: Made) -> Iterator[RenderableType]:
    """Show what `eval make` made: how many of each kind in each split, what was left out, and what to type next."""
    facts = result.facts
    folder = screen.from_here(str(result.folder.absolute()))
    if result.unchanged:
        yield Text(f"Nothing changed: version {facts['version']} in {screen.line(folder)} is still right.")
        return
    yield Text(f"{screen.count(facts['questions'], 'question')} in {screen.line(folder)}", style="bold")
    base = facts["base"]
    yield Text(
        f"Version {facts['version']}, from snapshot {base['snapshot']} of {screen.line(base['kb'])} "
        f"({screen.count(base['documents'], 'document')}), seed {facts['asked_for']['seed']}.",
        style="dim",
    )
    if facts["version"] > 1:
        yield Text(f"{facts['kept']} kept, {facts['added']} new, {facts['retired']} retired.", style="dim")
    yield _counts(facts)
    yield from _left_out(facts["left_out"])
    if "model_use" in facts:
        yield Text(_model_use(facts["made_with"]["model"], facts["model_use"]), style="dim")
    yield from _advice(facts, folder)


def _counts(facts: Mapping[str, Any]) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("kind")
    for split in facts["splits"]:
        table.add_column(split, justify="right")
    for kind in facts["asked_for"]["kinds"]:
        table.add_row(kind, *(str(counts.get(kind, 0)) for counts in facts["splits"].values()))
    return Padding(table, (1, 0, 1, 0), expand=False)


def _left_out(left_out: Mapping[str, Mapping[str, int]]) -> Iterator[RenderableType]:
    total: dict[str, int] = {}
    for faults in left_out.values():
        for fault, count in faults.items():
            total[fault] = total.get(fault, 0) + count
    for fault, count in sorted(total.items(), key=lambda pair: -pair[1]):
        yield Text(f"{screen.count(count, 'draft')} left out: {_FAULTS.get(fault, fault)}.", style="dim")


def _model_use(model: str, use: Mapping[str, Any]) -> str:
    failures = {**use.get("failures", {}), **use.get("turned_down", {})}
    words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in failures.items()) or "none"
    return (
        f"Model {screen.line(model)}: {use.get('calls', 0)} calls, {use.get('prompt_tokens', 0):,} tokens in, "
        f"{use.get('completion_tokens', 0):,} out; turned down or failed: {words}."
    )


def _advice(facts: Mapping[str, Any], folder: str) -> Iterator[RenderableType]:
    empty = [split for split, counts in facts["splits"].items() if not counts]
    full = next((split for split in ("dev", "train", "test") if split not in empty), None)
    if not full:
        yield Text("The documents gave no question of these kinds.", style="yellow")
        return
    if empty:
        few = "Documents go to splits by title, and these are few; other --shares, or more documents, fill them."
        yield Text(f"No question in {' and '.join(empty)}. {few}", style="yellow")
    command = screen.go_on()
    yield Text(f"Look at them:  {command} eval review {screen.line(folder.rsplit('/v', 1)[0])} list", no_wrap=True)
    yield Text(f"Measure:       {command} eval retrieval --data {screen.line(folder)}/{full}", no_wrap=True)


def listed(items: Sequence[Item], *, found: int, hidden: int) -> Iterator[RenderableType]:
    """Show questions, one a row."""
    if not items:
        yield Text("No question fits.")
    else:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for head in ("id", "kind", "status"):
            table.add_column(head, no_wrap=True)
        table.add_column("question and answer", ratio=1)
        for item in items:
            said = Text.assemble(screen.line(item.question), "\n", (_answer(item), "green" if item.answers else "dim"))
            table.add_row(item.id, str(item.kind), item.status or "open", said)
        yield table
    if found > len(items):
        yield Text(f"{found - len(items)} more: --limit 0 shows all.", style="dim")
    if hidden:
        yield Text(f"{screen.count(hidden, 'question')} of the test split not shown (--split test).", style="dim")


def shown(item: Item, reviews: Sequence[Review]) -> Iterator[RenderableType]:
    """Show one question with its evidence and what people said."""
    yield Text(screen.line(item.question), style="bold")
    yield Text(_answer(item), style="green" if item.answers else "dim")
    facts = [item.id, str(item.kind), str(item.split), item.how, item.status or "open"]
    yield Text(" · ".join(map(screen.line, facts)), style="dim")
    near = "" if item.answerable else "near it: "
    for piece in item.evidence:
        place = f"{near}{screen.line(str(piece['document']))}, characters {piece['start']} to {piece['end']}"
        yield Padding(Text(place, style="dim"), (0, 0, 0, 2), expand=False)
        quote = str(piece["quote"])
        cut = quote if len(quote) <= QUOTED else f"{quote[:QUOTED]} ..."
        yield Padding(Text(screen.lines(cut)), (0, 0, 0, 4), expand=False)
    for review in reviews:
        note = f": {screen.line(review.note)}" if review.note else ""
        yield Text(f"  {review.at} {screen.line(review.by)} {review.action}{note}", style="yellow")
    yield Text("")


def _answer(item: Item) -> str:
    return " / ".join(screen.line(answer) for answer in item.answers) or "(the documents do not say)"
