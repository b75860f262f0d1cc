"""`eval answers`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kaijuan.cli import screen
from kaijuan.cli.documents import FAILED_ITEMS
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.cli.session import Session
    from kaijuan.evals.answers.items import AnswerSet
    from kaijuan.evals.answers.run import AnswerRun

PASSAGES = 8


def answers(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    data: Annotated[
        list[Path],
        typer.Option(
            "--data",
            metavar="DIR",
            help="A set with expected answers: BEIR layout, RGB, RAMDocs, TAT-QA, or questions.jsonl with --over. "
            "May be given several times.",
        ),
    ],
    over: Annotated[
        Path | None,
        typer.Option(
            "--over", metavar="DIR", help="The corpus that questions without documents are asked of: all to be refused."
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit", min=0, metavar="N", help="Ask a sample of N questions of each kind, the same each time; 0: all."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Chooses another sample.")] = 0,
    k: Annotated[
        int, typer.Option("-k", min=1, max=1000, metavar="N", help="Passages each answer may use.")
    ] = PASSAGES,
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            metavar="rules|model",
            help="Who says whether answers are right and citations hold; model is the one named in the settings eval.*",
        ),
    ] = "rules",
    withheld: Annotated[
        bool,
        typer.Option(
            "--withheld",
            metavar="",
            help="Ask each answerable question once more without the documents that answer it.",
        ),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", metavar="", help="Ask every question anew, also after a run that was stopped.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write every single answer to this JSON file.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask the questions of evaluation sets and say how right, supported and honest the answers are."""
    session = session_of(context, json)
    from kaijuan.evals.answers.report import save as written
    from kaijuan.evals.answers.report import summary_of
    from kaijuan.evals.answers.run import Options
    from kaijuan.evals.answers.sets import Wishes, load
    from kaijuan.evals.bases import evals_folder
    from kaijuan.evals.writing import check_target

    if save is not None:
        check_target(save)
    wishes = Wishes(corpora=evals_folder(session.home) / "corpora", over=over, withheld=withheld)
    sets = [load(folder, wishes) for folder in data]
    options = Options(k=k, limit=limit, seed=seed, judge=judge, fresh=fresh)
    runs, summaries = [], []
    for each in sets:
        run = _measured(session, each, options)
        runs.append(run)
        summaries.append(summary_of(run))
        if save is not None:
            written(save, summaries, runs)  # after each set: the next one may be stopped
        if not session.json:
            _say(summaries[-1])
    if session.json:
        screen.show_json(summaries[0] if len(summaries) == 1 else {"sets": summaries})
    if any(summary["failed"] or summary["judge"]["failed"] for summary in summaries):
        raise typer.Exit(FAILED_ITEMS)


def _measured(session: Session, data: AnswerSet, options: Any) -> AnswerRun:
    import asyncio

    from kaijuan.cli.evaluation.progress import Stages
    from kaijuan.config import load_config
    from kaijuan.evals.answers.run import measure

    config = load_config(session.home, session.config)
    with Stages(f"asking {data.name}") as shown:
        work = measure(data, session.home, config, options, progress=shown.taken_in, asked=shown.asked)
        return asyncio.run(work)


def _say(summary: dict[str, Any]) -> None:
    from kaijuan.cli.evaluation import answer_tables

    screen.show(*answer_tables.answers(summary))
