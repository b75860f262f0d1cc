"""`eval experiment`, `ablate`, `tune`, `gate` and `report`: configurations compared on the same questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.cli.session import Session
    from kaijuan.evals.experiments.outcome import Outcome
    from kaijuan.evals.experiments.run import Watch
    from kaijuan.evals.experiments.store import StoredRun
    from kaijuan.evals.experiments.variants import Experiment

GATE_FAILED = 4
"""Exit code of a gate that a build must not pass."""
METRIC = "ndcg@10"

Sets = Annotated[
    list[Path],
    typer.Option(
        "--data",
        metavar="DIR",
        help="A set in BEIR layout: corpus.jsonl, queries.jsonl, qrels.tsv. May be given several times.",
    ),
]
Plan = Annotated[Path, typer.Argument(metavar="FILE", help="What to run, in TOML; the guide has an example.")]
Results = Annotated[
    Path | None,
    typer.Option("--results", metavar="DIR", help="Where runs are stored; by default evals/results in the home."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", metavar="", help="Make every run anew, also those that are stored already.")
]
Metric = Annotated[
    str, typer.Option("--metric", metavar="NAME", help="The metric that decides: ndcg@10, recall@10, mrr@10, ...")
]


def experiment(
    context: typer.Context,
    file: Plan,
    results: Results = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Run named configurations on the same questions and say which differ from the baseline, and how surely.

    Each run is stored; the command goes on where it was stopped.
    """
    session = session_of(context, json)
    from kaijuan.evals.experiments.outcome import outcome_of
    from kaijuan.evals.experiments.variants import read_experiment

    plan = read_experiment(file, _config(session))
    runs = _runs(session, plan, results, fresh=fresh)
    _say(session, outcome_of(runs), plan, results)


def ablate(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    data: Sets,
    limit: Annotated[
        int, typer.Option("--limit", min=0, metavar="N", help="Ask a sample of N questions of each set; 0: all.")
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Chooses another sample.")] = 0,
    metric: Metric = METRIC,
    deep: Annotated[
        bool,
        typer.Option("--deep", metavar="", help="Also what needs another index: without overlap, without titles."),
    ] = False,
    results: Results = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Say what each stage of the search is worth: without it, or done another way, against the whole."""
    session = session_of(context, json)
    from kaijuan.evals.experiments.ablate import ablated, ablation

    folders = [folder.resolve() for folder in data]
    plan = ablation(folders, _config(session), metric=_checked(metric), limit=limit, seed=seed, deep=deep)
    runs = _runs(session, plan, results, fresh=fresh)
    _say(session, ablated(runs), plan, results)


def tune(context: typer.Context, file: Plan, results: Results = None, json: Json = False) -> None:
    """Search for better settings on one part of the questions, and measure the best on the part held out.

    Each trial is stored; the command goes on where it was stopped.
    """
    session = session_of(context, json)
    from kaijuan.cli.evaluation import experiment_shapes as shapes
    from kaijuan.evals.experiments import tune as tuning

    plan = tuning.read_tuning(file, _config(session))
    folder = _results(session, results)
    found = asyncio.run(tuning.tune(plan, session.home, folder, watcher=_trial))
    if session.json:
        screen.show_json(shapes.tuned(found, folder))
        return
    from kaijuan.cli.evaluation import experiment_tables as tables

    screen.show(*tables.tuned(found))


def gate(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    baseline: Annotated[
        Path, typer.Option("--baseline", metavar="FILE", help="Scores written down earlier, by --write.")
    ],
    data: Sets,
    metric: Metric = METRIC,
    drop: Annotated[float, typer.Option("--drop", metavar="N", help="A smaller drop passes.")] = 0.01,
    alpha: Annotated[float, typer.Option("--alpha", metavar="P", help="A drop that is not as sure passes.")] = 0.05,
    write: Annotated[
        bool, typer.Option("--write", metavar="", help="Write the scores of now as the baseline.")
    ] = False,
    json: Json = False,
) -> None:
    """Fail, with exit code 4, when sets score worse than written down: by more than --drop, and not by chance."""
    session = session_of(context, json)
    from kaijuan.cli.evaluation import experiment_shapes as shapes
    from kaijuan.cli.evaluation import experiment_tables as tables
    from kaijuan.evals.experiments import gate as gating
    from kaijuan.evals.results import DEPTH
    from kaijuan.evals.writing import check_target

    limits = gating.Limits(metric=metric, drop=drop, alpha=alpha)
    gating.check_limits(limits)
    sets = gating.load_sets(data)
    if write:
        check_target(baseline)
    then = None if write else gating.read_baseline(baseline)
    if then is not None:
        gating.check_sets(then, sets)
    depth = then.k if then is not None else DEPTH
    now = asyncio.run(gating.measure_now(sets, session.home, _config(session), k=depth, watcher=_watched))
    if then is None:
        gating.write_baseline(baseline, now)
        _show(session, shapes.written(baseline, now, limits), lambda: tables.written(baseline, now, limits))
        return
    report = gating.held(then, now, limits)
    _show(session, shapes.gate(report), lambda: tables.gate(report))
    if not report.passed:
        raise typer.Exit(GATE_FAILED)


def report(
    context: typer.Context,
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN",
            help="Files of runs, folders of them, or names of experiments; by default the newest experiment.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")] = Path("report.html"),
    language: Annotated[str, typer.Option("--language", metavar="en|zh", help="Language of the page.")] = "en",
    metric: Annotated[
        str, typer.Option("--metric", metavar="NAME", help="The metric that decides; by default the experiment's.")
    ] = "",
    results: Results = None,
    json: Json = False,
) -> None:
    """Write one HTML page about stored runs: figures with plots, variants against the baseline, wins and losses."""
    session = session_of(context, json)
    from kaijuan.evals.experiments.store import load_runs
    from kaijuan.evals.report.page import report_page, write_page
    from kaijuan.evals.writing import check_target

    found = load_runs(runs or [], _results(session, results))
    check_target(out)
    page = report_page(found, language=language, metric=_checked(metric) if metric else "")
    write_page(out, page)
    facts = {"report": str(out.absolute()), "experiment": found[0].experiment, "runs": len(found)}

    def said() -> Iterator[Any]:
        from rich.text import Text

        place = screen.line(screen.from_here(str(out.absolute())))
        yield Text(f"{screen.count(len(found), 'run')} of {screen.line(found[0].experiment)}: {place}")

    _show(session, facts, said)


def _runs(session: Session, plan: Experiment, results: Path | None, *, fresh: bool) -> list[StoredRun]:
    from kaijuan.evals.experiments.run import run_experiment

    folder = _results(session, results)
    return asyncio.run(run_experiment(plan, session.home, folder, fresh=fresh, watcher=_watched))


def _say(session: Session, outcome: Outcome, plan: Experiment, results: Path | None) -> None:
    from kaijuan.cli.evaluation import experiment_shapes as shapes

    folder = _results(session, results)

    def said() -> Iterator[Any]:
        from kaijuan.cli.evaluation import experiment_tables as tables

        yield from tables.outcome(outcome)
        yield from tables.report_advice(plan.name, session.home, results)

    _show(session, shapes.outcome(outcome, folder), said)


def _show(session: Session, facts: Mapping[str, Any], said: Callable[[], Iterator[Any]]) -> None:
    if session.json:
        screen.show_json(facts)
    else:
        screen.show(*said())


def _config(session: Session) -> Any:
    from kaijuan.config import load_config

    return load_config(session.home, session.config)


def _results(session: Session, results: Path | None) -> Path:
    from kaijuan.evals.experiments.run import evals_results

    return results or evals_results(session.home)


def _checked(metric: str) -> str:
    from kaijuan.evals.experiments.plan_file import checked_metric

    try:
        return checked_metric(metric)
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint="--metric") from error


@contextmanager
def _watched(set_name: str, variant: str) -> Iterator[Watch]:
    """Show the progress of one run."""
    from kaijuan.cli.evaluation.progress import Stages
    from kaijuan.evals.experiments.run import Watch

    with Stages(f"asking {set_name}, {variant}") as stages:
        yield Watch(progress=stages.taken_in, asked=stages.asked)


@contextmanager
def _trial(set_name: str, number: int, total: int, values: Mapping[str, Any]) -> Iterator[Watch]:
    """Show the progress of one set of a trial, or of the questions held out."""
    from kaijuan.cli.evaluation.progress import Stages
    from kaijuan.evals.experiments.run import Watch

    head = "held out" if number > total else f"trial {number} of {total}"
    what = ", ".join(f"{name} = {value}" for name, value in values.items()) or "settings as they are"
    with Stages(f"{head}, {what}: {set_name}") as stages:
        yield Watch(progress=stages.taken_in, asked=stages.asked)
