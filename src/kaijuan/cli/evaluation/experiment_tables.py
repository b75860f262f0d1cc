"""Outcomes of experiments, searches over settings and gates, for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.evaluation.experiment_shapes import means_of
from kaijuan.cli.session import DEFAULT_HOME
from kaijuan.evals.experiments.changes import shown
from kaijuan.evals.experiments.gate import can_fail, too_few

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.evals.experiments.gate import Baseline, GateReport, Limits
    from kaijuan.evals.experiments.outcome import ArmOutcome, Judged, Outcome
    from kaijuan.evals.experiments.tune import Tuned

VERDICTS = {"better": ("better", "green"), "worse": ("worse", "red")}
SAME = ("not significant", "dim")
MOST_TRIALS = 5
GATED_METRICS = ("ndcg@10", "recall@10", "mrr@10", "hit@1")


def outcome(found: Outcome) -> Iterator[RenderableType]:
    """Show every variant against the baseline: a row for all sets, and one for each set where there are several."""
    yield Text(screen.line(found.experiment), style="bold")
    yield Text(f"{found.metric} on {', '.join(map(screen.line, found.sets))}; seed {found.seed}.", style="dim")
    yield _against(found.variants, several=len(found.sets) > 1)
    yield Text(
        "Paired randomisation test; p corrected by Holm for the number of variants; 95 % bootstrap interval.",
        style="dim",
    )


def report_advice(name: str, home: Path, results: Path | None) -> Iterator[RenderableType]:
    """Show what to type for the page."""
    before = "" if home == Path(DEFAULT_HOME).expanduser() else f" --home {_quoted(home)}"
    after = f" --results {_quoted(results)}" if results else ""
    yield Text(f"Look at it:  {screen.own_command()}{before} eval report {_quoted(name)}{after}", no_wrap=True)


def tuned(found: Tuned) -> Iterator[RenderableType]:
    """Show the best trials, and what the best is worth on the questions held out."""
    yield Text(screen.line(found.name), style="bold")
    tried = [trial for trial in found.trials if trial.score is not None]
    yield Text(
        f"{screen.count(len(found.trials), 'trial')} by {found.method}, {found.metric} on "
        f"{screen.count(found.dev_questions, 'question')} to choose on; the settings as they are: "
        f"{found.baseline_dev:.4f}.",
        style="dim",
    )
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column(found.metric, justify="right")
    table.add_column("settings")
    best_first = sorted(tried, key=lambda trial: (-(trial.score or 0.0), trial.number))
    for trial in best_first[:MOST_TRIALS]:
        table.add_row(f"{trial.score:.4f}", Text(_settings(trial.values)))
    yield table
    for reason, count in _refused(found).items():
        yield Text(f"{screen.count(count, 'trial')} not asked: {screen.line(reason)}", style="yellow")
    yield from _held_out(found)


def gate(report: GateReport) -> Iterator[RenderableType]:
    """Show whether a build may go on, set by set."""
    origin, limits = report.baseline.origin, report.limits
    since = f" at {origin.commit}" if origin.commit else ""
    yield Text(f"{limits.metric} against the scores of {origin.date[:10]}{since}", style="bold")
    yield _against([report.now], several=len(report.now.sets) > 1)
    for name, (then, now) in report.changes.items():
        yield Text(f"{screen.line(name)} was {shown(then)} and is {shown(now)}.", style="dim")
    bounds = f"a drop of more than {limits.drop:g} with p below {limits.alpha:g}"
    if report.passed:
        yield Text(f"Passed: nowhere {bounds}.", style="green")
    else:
        yield Text(f"Failed: {bounds} on {', '.join(map(screen.line, report.failed))}.", style="bold red")
    yield from _powerless(report.too_few, able=report.can_fail)


def written(path: Path, baseline: Baseline, limits: Limits) -> Iterator[RenderableType]:
    """Show the scores that were written down, with a warning where they can hold nothing back."""
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("set")
    for metric in GATED_METRICS:
        table.add_column(metric, justify="right")
    for name, means in means_of(baseline).items():
        table.add_row(Text(screen.line(name)), *(f"{means[metric]:.4f}" for metric in GATED_METRICS))
    yield table
    yield Text(f"Written to {screen.line(screen.from_here(str(path.absolute())))}.", style="dim")
    yield from _powerless(too_few(baseline, limits), able=can_fail(baseline, limits))


def _powerless(blind: Sequence[str], *, able: bool) -> Iterator[RenderableType]:
    if not able:
        yield Text(
            "This gate cannot fail: with so few questions no drop would be sure. Give it forty or more.",
            style="bold yellow",
        )
    elif blind:
        names = ", ".join(map(screen.line, blind))
        yield Text(
            f"With so few questions no drop would be sure on {names} alone; they fail only together with others.",
            style="yellow",
        )


def _held_out(found: Tuned) -> Iterator[RenderableType]:
    if found.best is None or found.held_out is None:
        yield Text("No trial was better than the settings as they are.", style="bold")
        return
    held = found.held_out.pooled.comparison
    yield Text(f"Best: {_settings(found.best.values)}", style="bold")
    yield Text(
        f"On {screen.count(found.test_questions, 'question')} held out: "
        f"{held.variant:.4f} against {held.baseline:.4f}, "
        f"{held.effect:+.4f} ({held.low:+.4f} to {held.high:+.4f}), p = {held.p:.3f}."
    )
    if found.gained:
        yield Text("A significant gain.", style="green")
    elif found.held_out.pooled.verdict() == "worse":
        yield Text("Significantly worse on the questions held out: keep the settings as they are.", style="red")
    else:
        yield Text("No significant gain: keep the settings as they are, or ask more questions.", style="yellow")


def _against(arms: Sequence[ArmOutcome], *, several: bool) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1), pad_edge=False)
    table.add_column("variant", overflow="fold")
    table.add_column("set", overflow="fold")
    for head in ("base", "variant", "diff", "95 %", "p", "+/-/="):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("verdict")
    for arm in arms:
        rows: dict[str, Judged] = {**({"all sets": arm.pooled} if several else {}), **arm.sets}
        for place, (name, judged) in enumerate(rows.items()):
            table.add_row(Text(screen.line(arm.name) if not place else ""), *_row(name, judged, bold=not place))
    return table


def _row(name: str, judged: Judged, *, bold: bool) -> Iterator[Text]:
    found = judged.comparison
    style = "bold" if bold else ""
    words, colour = VERDICTS.get(judged.verdict(), SAME)
    yield Text(screen.line(name), style=style)
    yield Text(f"{found.baseline:.3f}", style=style)
    yield Text(f"{found.variant:.3f}", style=style)
    yield Text(f"{found.effect:+.3f}", style=style)
    yield Text(f"{found.low:+.3f} {found.high:+.3f}", style=style)
    yield Text(f"{judged.p_holm:.3f}" if judged.p_holm >= 0.001 else "<.001", style=style)
    yield Text(f"{found.wins}/{found.losses}/{found.ties}", style=style)
    yield Text(words, style=colour)


def _quoted(word: str | Path) -> str:
    return screen.line(shlex.quote(str(word)))


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())


def _refused(found: Tuned) -> dict[str, int]:
    counts: dict[str, int] = {}
    for trial in found.trials:
        if trial.score is None:
            counts[trial.reason] = counts.get(trial.reason, 0) + 1
    return counts
