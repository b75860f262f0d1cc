"""Embedding models for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen, tables

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.index.model_spaces import ModelTrial
    from kaijuan.retrieve.agreement import Asked, Comparison
    from kaijuan.verbs.models import ModelView

_STYLES = {"serving": "green", "ready": "cyan", "former": "", "building": "yellow"}
_SHOWN = 50


def _table(*heads: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in heads:
        table.add_column(Text(head), no_wrap=head != "question", overflow="fold")
    return table


def models(found: Sequence[ModelView]) -> Iterator[RenderableType]:
    """Show one model a line."""
    table = _table("model", "state", "dimensions", "chunks", "asked too", "agreement", "since")
    for one in found:
        space = one.space
        share = f"{100 * space.share:.3g} %{', answers' if space.answers else ''}" if space.share else ""
        agreement = f"{one.agreement:.2f} of {screen.count(one.trials, 'trial')}" if one.agreement is not None else ""
        table.add_row(
            Text(screen.line(space.name)),
            Text(space.state.value, style=_STYLES[space.state.value]),
            Text(str(space.dimensions)),
            Text("" if one.points is None else str(one.points)),
            Text(share),
            Text(agreement),
            Text(tables.when(space.changed_at)),
        )
    yield table
    for one in found:
        if one.space.note:
            yield Text(f"{screen.line(one.space.name)}: {screen.line(one.space.note)}", style="yellow")
        if one.space.state.value == "building":
            yield Text(f"Go on with `{screen.go_on()} models add {screen.line(one.space.name)}`.", no_wrap=True)


def comparison(found: Comparison, *, details: bool) -> Iterator[RenderableType]:
    """Show two models side by side."""
    yield Text(f"{screen.line(found.other)} beside {screen.line(found.serving)}, which serves", style="bold")
    table = _table("", screen.line(found.serving), screen.line(found.other))
    if found.ndcg_before is not None and found.ndcg_after is not None:
        name = f"nDCG@10 of {screen.count(found.judged, 'question')}"
        table.add_row(Text(name), Text(f"{found.ndcg_before:.3f}"), Text(f"{found.ndcg_after:.3f}"))
    table.add_row(Text("milliseconds, median"), Text(f"{found.ms_before:.1f}"), Text(f"{found.ms_after:.1f}"))
    yield table
    yield Text(f"Of the first ten passages {100 * found.overlap:.0f} % are the same.")
    if found.judged:
        same = found.judged - found.better - found.worse
        chance = "" if found.p_value is None else f" (sign test p = {found.p_value:.3f})"
        yield Text(f"{found.better} questions better, {found.worse} worse, {same} alike{chance}.")
    else:
        yield Text("It is not known what is right, so that nothing says which is better.", style="dim")
    if details:
        yield from _details(found.asked)


def _details(asked: Sequence[Asked]) -> Iterator[RenderableType]:
    table = _table("nDCG", "same", "question")
    ordered = sorted(asked, key=lambda one: ((one.ndcg_after or 0) - (one.ndcg_before or 0), one.overlap))
    for one in ordered[:_SHOWN]:
        gains = "" if one.ndcg_before is None else f"{one.ndcg_before:.2f} → {one.ndcg_after:.2f}"
        table.add_row(Text(gains), Text(f"{100 * one.overlap:.0f} %"), Text(screen.line(one.question)))
    yield Text("")
    yield table
    if len(asked) > _SHOWN:
        yield Text(f"and {len(asked) - _SHOWN} more; `--json` has all.", style="dim")


def trials(found: Sequence[ModelTrial]) -> Iterator[RenderableType]:
    """Show the newest questions that two models were asked."""
    if not found:
        yield Text("No question was asked of it yet.")
        return
    table = _table("asked", "same", "ms", "question")
    for one in found[-_SHOWN:]:
        body = one.body
        same = f"{100 * float(str(body['overlap'])):.0f} %" if "overlap" in body else "failed"
        times = f"{body.get('ms_before', '')} → {body.get('ms_after', '')}"
        question = Text(screen.line(str(body.get("question", ""))))
        if body.get("error"):
            question.append(f"\n{screen.line(str(body['error']))}", style="yellow")
        table.add_row(Text(tables.when(one.created_at)), Text(same), Text(times), question)
    yield table
