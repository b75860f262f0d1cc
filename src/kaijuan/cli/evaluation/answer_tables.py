"""Figures of answers for people: by kind of question, then refusals, conflicts, and what the judge could not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = {
    "questions": "asked",
    "answered": "answ",
    "exact": "EM",
    "f1": "F1",
    "hit": "hit",
    "hit_answered": "hit*",
    "right": "right",
    "citation_recall": "citR",
    "citation_precision": "citP",
    "faithful": "faith",
}
"""What is shown of each kind of question, with heads short enough for 80 columns."""
LEGEND = (
    "answ: share answered; EM, F1: exact match and overlap with the expected answer; hit: all expected answers are "
    "contained (hit*: of those answered); right: so ruled by the model, of those answered; citR, citP: citation recall "
    "and precision; faith: statements that their cited words carry"
)
LEAST_TOLD = 0.05
"""Least difference of coverage between two points of the curve that are shown."""


def answers(summary: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Show the figures of one set."""
    yield Text(screen.line(summary["set"]), style="bold")
    sizes = ", ".join(
        screen.count(summary[name], noun)
        for name, noun in (("documents", "document"), ("chunks", "chunk"), ("questions", "question"))
    )
    resumed = f", {summary['resumed']} of them asked by a run that was stopped" if summary["resumed"] else ""
    yield Text(f"{sizes}{resumed}.", style="dim")
    yield _kinds(summary)
    yield Text(f"{LEGEND}.", style="dim")
    yield from _refusals(summary["refusal"])
    yield from _conflicts(summary["conflicts"])
    yield from _judge(summary["judge"])
    if summary["latency_ms"]:
        times = ", ".join(f"{name} {value:.0f} ms" for name, value in summary["latency_ms"].items())
        yield Text(f"One answer: {times}.", style="dim")
    yield from (Text(f"Note: {screen.line(note)}", style="yellow") for note in _notes(summary))
    yield Text("")


def _kinds(summary: Mapping[str, Any]) -> Table:
    rows = dict(summary["by_kind"])
    if len(rows) > 1:
        rows["all"] = summary["metrics"]
    # By rules, what is right is what is contained, which is told already.
    hidden = {"right"} if summary["config"]["judge"] == "rules" else set()
    shown = [name for name in COLUMNS if name not in hidden and any(row[name] is not None for row in rows.values())]
    table = _table("kind of question", *(COLUMNS[name] for name in shown))
    for kind, row in rows.items():
        style = "bold" if kind == "all" else ""
        table.add_row(Text(screen.line(kind), style=style), *(Text(_share(row[name]), style=style) for name in shown))
    return table


def _refusals(refusal: Mapping[str, Any]) -> Iterator[RenderableType]:
    rows = {"answer": "can be answered", "refuse": "cannot be answered", "clarify": "could mean several things"}
    found = {key: row for key, row in refusal["table"].items() if key in rows}
    if set(found) <= {"answer"}:
        return
    statuses = list(next(iter(found.values())))
    yield Text("")
    table = _table("the question", *statuses)
    for key, row in found.items():
        table.add_row(Text(rows[key]), *(Text(str(row[status])) for status in statuses))
    yield table
    said = [
        f"{words} {refusal[name]:.3f}"
        for name, words in (
            ("answerable_answered", "answerable answered"),
            ("unanswerable_refused", "unanswerable refused"),
            ("balanced_accuracy", "mean of both"),
            ("confidence_auroc", "confidence tells them apart (AUROC)"),
        )
        if refusal[name] is not None
    ]
    if said:
        yield Text(f"{', '.join(said)}.", style="dim")
    if refusal["right_all_the_same"]:
        count = refusal["right_all_the_same"]
        yield Text(f"{count} answered that should be refused contain the right answer all the same.", style="dim")
    yield from _curve(refusal["curve"])
    if refusal["unjudged"]:
        left = screen.count(refusal["unjudged"], "answer")
        yield Text(f"Left out of what is wrong: {left} that nobody could judge.", style="dim")


def _curve(points: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Show the points between which coverage falls enough to matter."""
    told: list[Mapping[str, Any]] = []
    for point in points:
        if point["coverage"] is not None and (not told or told[-1]["coverage"] - point["coverage"] >= LEAST_TOLD):
            told.append(point)
    if len(told) < 2:
        return
    yield Text("")
    names = {
        "coverage": "answered",
        "risk": "of these wrong",
        "answerable_kept": "answerable kept",
        "unanswerable_refused": "unanswerable refused",
    }
    table = _table("confidence from", *names.values())
    for point in told:
        table.add_row(Text(f"{point['threshold']:.2f}"), *(Text(_share(point[name])) for name in names))
    yield table


def _conflicts(conflicts: Mapping[str, Any]) -> Iterator[RenderableType]:
    if not conflicts:
        return
    yield Text("")
    ways = [name for name in next(iter(conflicts.values())) if name not in ("questions", "notes")]
    table = _table("documents disagree", "asked", *ways)
    for kind, row in conflicts.items():
        table.add_row(Text(screen.line(kind)), *(Text(str(row[name])) for name in ("questions", *ways)))
    yield table


def _judge(judge: Mapping[str, Any]) -> Iterator[RenderableType]:
    ruled = {name: count for name, count in judge["answers"].items() if count}
    if ruled:
        counts = ", ".join(f"{count} {name}" for name, count in ruled.items())
        yield Text(f"\nJudge {screen.line(judge['name'])} on answers: {counts}.", style="dim")
    beside = judge["beside_rules"]
    if judge["name"] != "rules" and beside["both"]:
        yield Text(
            f"Beside the rules, on {screen.count(beside['both'], 'short answer')}: {beside['same']} the same, "
            f"{beside['kinder']} kinder, {beside['stricter']} stricter.",
            style="dim",
        )
    if judge["failed"]:
        why = ", ".join(f"{count} {screen.line(word)}" for word, count in judge["failures"].items())
        yield Text(f"The judge failed {judge['failed']} times ({why}); these count neither as right nor as wrong.")
        yield from (Text(f"  {screen.line(reason)}", style="dim") for reason in judge["failure_examples"])


def _notes(summary: Mapping[str, Any]) -> Iterator[str]:
    for code, count in summary["failed"].items():
        yield f"{screen.count(count, 'question')} failed ({code}) and {'is' if count == 1 else 'are'} left out."
    quotes, exact = summary["metrics"]["quotes"], summary["metrics"]["quotes_exact"]
    if quotes and exact < 1:
        yield f"{round(quotes * (1 - exact))} of {quotes} quotes are not the document's words at the place they name."
    yield from summary["problems"]


def _share(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _table(*heads: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for place, head in enumerate(heads):
        # The heads may wrap, so that a table fits 80 columns.
        table.add_column(Text(head), justify="right" if place else "left", no_wrap=not place)
    return table
