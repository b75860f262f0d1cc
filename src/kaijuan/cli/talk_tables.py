"""Conversations and traces for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen, understood
from kaijuan.cli.tables import when
from kaijuan.core.text.language import language_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.cli.trace_views import TraceView
    from kaijuan.core.conversations import Conversation
    from kaijuan.verbs.conversing import Talk
    from kaijuan.verbs.tracing import Replayed

_PROMPT = 2000
"""Characters of a prompt that are shown without --full."""


def conversations(found: Sequence[Conversation]) -> Iterator[RenderableType]:
    """Show one conversation a line, the latest used first."""
    if not found:
        yield Text(f"No conversations yet. Begin one with `{screen.go_on()} chat`.")
        return
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("name", "questions", "last used", "pinned"):
        table.add_column(Text(head), no_wrap=head != "name", overflow="fold")
    for one in found:
        cells = (screen.line(one.name), str(one.turns), when(one.updated_at), str(len(one.facts) or ""))
        table.add_row(*map(Text, cells))
    yield table


def conversation(talk: Talk) -> Iterator[RenderableType]:
    """Show a conversation: what is pinned, and the turns in order."""
    head = talk.conversation
    yield Text(screen.line(head.name), style="bold")
    for number, fact in enumerate(head.facts, start=1):
        yield Text(f"Pinned {number}: {screen.line(fact)}", style="dim")
    if not talk.turns:
        yield Text("Nothing has been asked yet.")
    for turn in talk.turns:
        chinese = language_of(turn.question) == "zh"
        yield Text(f"\n{turn.number}. {screen.lines(turn.question)}", style="bold")
        if turn.withheld:
            said = "（所引文档已无权查看，不显示回答）" if chinese else "(cites documents that you may no longer read)"
            yield Padding(Text(said, style="yellow"), (0, 0, 0, 3), expand=False)
            continue
        if turn.standalone.strip() != turn.question.strip():
            yield Padding(Text(f"→ {screen.line(turn.standalone)}", style="dim"), (0, 0, 0, 3), expand=False)
        yield Padding(Text(screen.lines(turn.answer)), (0, 0, 0, 3), expand=False)
        if turn.titles:
            yield Padding(Text(screen.join(turn.titles, "; "), style="dim"), (0, 0, 0, 3), expand=False)


def traces(found: Sequence[TraceView]) -> Iterator[RenderableType]:
    """Show one trace a line, newest first."""
    if not found:
        yield Text("No traces yet: they are kept of questions that were asked.")
        return
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    for head in ("id", "asked", "status", "model", "calls", "tokens", "ms", "question"):
        table.add_column(Text(head), no_wrap=head != "question", overflow="fold")
    for one in found:
        usage = one.usage
        tokens = int(usage.get("prompt_tokens", 0)) + int(usage.get("completion_tokens", 0))
        cells = (
            *(one.id[:8], when(one.at), one.status, screen.line(one.model)),
            *(str(len(one.calls) or ""), str(tokens or ""), f"{one.milliseconds:.0f}", screen.line(one.question)),
        )
        table.add_row(*map(Text, cells))
    yield table


def trace(found: TraceView, *, full: bool) -> Iterator[RenderableType]:
    """Show a trace: the question, every step with its time, every prompt as it was sent with its reply."""
    yield Text(screen.lines(found.question), style="bold")
    facts = f"{found.id}, {when(found.at)}, snapshot {found.snapshot}, {found.status}, {screen.line(found.model)}"
    yield Text(facts + (f", fell back: {found.fallback}" if found.fallback else ""), style="dim")
    steps = {**found.timings, **found.answer_ms}
    if steps:
        yield Text("  ".join(f"{screen.line(name)} {spent:.0f} ms" for name, spent in steps.items()), style="dim")
    for line in understood.lines(found.body.get("understanding", {})):
        yield Text(screen.line(line), style="dim")
    for number, call in enumerate(found.calls, start=1):
        yield from _call(number, call, full=full)
    yield Text("\nanswer", style="bold")
    yield Text(screen.lines(found.answer))


def _call(number: int, call: Mapping[str, Any], *, full: bool) -> Iterator[RenderableType]:
    usage = call.get("usage", {})
    tokens = f"{usage.get('prompt_tokens', 0)} tokens in, {usage.get('completion_tokens', 0)} out"
    times = f"first after {call.get('first_ms', 0):.0f} ms, {call.get('total_ms', 0):.0f} ms"
    head = f"call {number}: {call.get('purpose', '')} ({call.get('model', '')}), {tokens}, {times}"
    cost = f", cost {usage['cost']:.6g}" if usage.get("cost") else ""
    failed = f", failed: {call['failure']}" if call.get("failure") else ""
    yield Text(f"\n{screen.line(f'{head}{cost}{failed}')}", style="bold cyan")
    for message in call.get("messages", ()):
        text = str(message.get("text", ""))
        shown = text if full or len(text) <= _PROMPT else f"{text[:_PROMPT]} … ({len(text)} characters; --full)"
        yield Text(f"[{message.get('role', '')}]", style="dim")
        yield Padding(Text(screen.lines(shown)), (0, 0, 0, 2), expand=False)
    yield Text("[reply]", style="dim")
    yield Padding(Text(screen.lines(str(call.get("text", "")))), (0, 0, 0, 2), expand=False)


def replayed(found: Replayed) -> Iterator[RenderableType]:
    """Say whether the answer came out the same, and what it is now."""
    if found.same:
        yield Text("The same answer comes out of the trace.", style="green")
    else:
        yield Text("Another answer comes out now:", style="yellow")
    yield Text(screen.lines(found.answer.answer))
    if found.reason:
        yield Text(screen.lines(found.reason), style="dim")
