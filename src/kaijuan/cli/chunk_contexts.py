"""The command that lets the language model say where passages are from: what it costs first, then the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of
from kaijuan.errors import UsageError
from kaijuan.verbs.context_shapes import plan_shape, written_shape

if TYPE_CHECKING:
    from kaijuan.jobs.context_plan import ContextPlan
    from kaijuan.jobs.contexts import WrittenContexts

INCOMPLETE = 3
"""Exit code when some sentences could not be written."""


def contexts(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOURCE|ID", help="Paths, addresses, file names or ids; all documents if none."),
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", metavar="", help="Only say what it would ask and cost.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask before the model is asked.")] = False,
    json: Json = False,
) -> None:
    """Let the language model write a sentence for each passage that says where it is from. What it wrote is kept."""
    session = session_of(context, json)
    with session.open() as base:
        plan = base.plan_contexts(words or None)
        _show_plan(plan)
        done = None
        if not estimate and (plan.requests or plan.stale):
            if plan.requests and not yes:
                if session.json:
                    raise UsageError("The language model would be asked.", hint="Say --yes, or --estimate.")
                typer.confirm("Ask the language model?", abort=True, err=True)
            with _counting(plan.passages) as wrote:
                done = base.write_contexts(words or None, wrote=wrote)
    if session.json:
        screen.show_json({"plan": plan_shape(plan), "done": written_shape(done) if done else None})
    elif done is not None:
        _show_done(done)
    if done is not None and done.failed:
        raise typer.Exit(INCOMPLETE)


def _show_plan(plan: ContextPlan) -> None:
    from rich.text import Text

    if not plan.requests:
        words = f"Every passage has its sentence ({plan.known:,})."
    else:
        cost = f", about {plan.cost:.4g} by the prices of the settings" if plan.cost else ""
        words = (
            f"Model {screen.line(plan.model)}: {plan.passages:,} passages of {plan.documents:,} documents in "
            f"{plan.requests:,} requests, about {plan.prompt_tokens:,} tokens in and {plan.completion_tokens:,} out"
            f"{cost}. {plan.known:,} passages have their sentence."
        )
    screen.err().print(Text(words), soft_wrap=True)


def _show_done(done: WrittenContexts) -> None:
    from rich.text import Text

    lines = [f"{done.written:,} sentences written ({done.usage.prompt_tokens:,} tokens in, "]
    lines[0] += f"{done.usage.completion_tokens:,} out)."
    if done.report is not None:
        lines.append(f"Snapshot {done.report.snapshot}: {done.report.updated:,} documents are searched with them.")
    if done.failed:
        lines.append(f"{done.failed:,} could not be written: {screen.line(done.why)} Run it again for the rest.")
    screen.show(*(Text(line) for line in lines))


@contextmanager
def _counting(total: int) -> Iterator[Callable[[int, int], None]]:
    console = screen.err()
    if not (console.is_terminal and not console.is_dumb_terminal):
        yield lambda _done, _failed: None
        return
    from rich.progress import Progress

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("writing", total=total or None)
        yield lambda done, failed: bar.update(
            task, completed=done, description=f"writing, {failed} failed" if failed else "writing"
        )
