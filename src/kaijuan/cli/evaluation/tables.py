"""Figures of evaluations for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.evals.bases import StoredBase

MEGABYTE = 1_000_000
HEADS = {
    "ndcg@10": "nDCG@10",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "recall@50": "R@50",
    "mrr@10": "MRR@10",
    "precision@5": "P@5",
    "map": "MAP",
    "queries": "n",
}
"""Short heads, so that a table fits 80 columns: R recall, P precision."""

OF_A_KIND = ("queries", "ndcg@10", "recall@10", "recall@50", "mrr@10", "hit@1", "hit@5", "map")
"""Columns of the table of kinds, whose names take much room."""


def retrieval(summary: Mapping[str, Any], *, kinds: bool) -> Iterator[RenderableType]:
    """Show the figures of one set: a row a stage, and with `kinds` a row a kind of question."""
    yield Text(screen.line(summary["set"]), style="bold")
    sizes = ", ".join(
        screen.count(summary[name], noun)
        for name, noun in (("documents", "document"), ("chunks", "chunk"), ("queries", "question"))
    )
    resumed = f", {summary['resumed']} of them asked by a run that was stopped" if summary["resumed"] else ""
    yield Text(f"{sizes}{resumed}; corpus {_taken_in(summary['ingest'])}.", style="dim")
    yield _metrics("stage", summary["stages"], last_bold=True)
    if kinds:
        yield Text("")
        yield _metrics("kind", {kind: _chosen(row) for kind, row in summary["by_kind"].items()})
    times = ", ".join(f"{name} {value:.1f} ms" for name, value in summary["latency_ms"].items())
    yield Text(f"One search for {screen.count(summary['config']['k'], 'passage')}: {times}.", style="dim")
    for problem in summary["problems"]:
        yield Text(f"Note: {screen.line(problem)}", style="yellow")
    yield Text("")


def bases(found: Sequence[StoredBase], *, cleared: bool) -> Iterator[RenderableType]:
    """Show the bases of evaluations, one a line."""
    if not found:
        yield Text("No knowledge bases of evaluations are kept here.")
        return
    table = _table("knowledge base", "documents", "chunks", "MB", "state")
    for base in found:
        state = "deleted" if cleared else "finished" if base.record.whole else "stopped while taken in"
        cells = (base.name, base.record.documents, base.record.chunks, f"{base.bytes / MEGABYTE:.1f}", state)
        table.add_row(*(Text(screen.line(str(cell))) for cell in cells))
    yield table
    total = f"{sum(base.bytes for base in found) / MEGABYTE:.1f} MB"
    yield Text(f"{screen.count(len(found), 'knowledge base')}, {total}{' freed' if cleared else ''}.", style="dim")


def _taken_in(ingest: Mapping[str, Any]) -> str:
    return "taken in by an earlier run" if ingest["reused"] else f"taken in within {ingest['seconds']:.1f} s"


def _chosen(row: Mapping[str, float]) -> dict[str, float]:
    return {name: row[name] for name in OF_A_KIND}


def _metrics(head: str, rows: Mapping[str, Mapping[str, float]], *, last_bold: bool = False) -> Table:
    names = list(next(iter(rows.values())))
    table = _table(head, *(HEADS.get(name, name) for name in names))
    for row, values in rows.items():
        cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in values.values()]
        style = "bold" if last_bold and row == list(rows)[-1] else ""
        table.add_row(Text(row, style=style), *(Text(cell, style=style) for cell in cells))
    return table


def _table(*heads: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(Text(head), no_wrap=True, justify="right" if place else "left")
    return table
