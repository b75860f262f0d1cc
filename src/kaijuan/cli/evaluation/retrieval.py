"""`eval retrieval` and the knowledge bases that it keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.cli.session import Session
    from kaijuan.evals.results import RetrievalRun
    from kaijuan.evals.sets import EvalSet

DEPTH = 100
"""Passages asked for, so that every metric has all it looks at."""


def retrieval(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    data: Annotated[
        list[Path],
        typer.Option(
            "--data",
            metavar="DIR",
            help="A set in BEIR layout: corpus.jsonl, queries.jsonl, qrels.tsv. May be given several times.",
        ),
    ],
    limit: Annotated[
        int,
        typer.Option("--limit", min=0, metavar="N", help="Ask a sample of N questions, the same each time; 0: all."),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Chooses another sample.")] = 0,
    k: Annotated[
        int, typer.Option("-k", min=1, max=1000, metavar="N", help="How many passages each question asks for.")
    ] = DEPTH,
    kinds: Annotated[
        bool, typer.Option("--kinds", metavar="", help="Show the metrics of each kind of question.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", metavar="", help="Ask every question anew, also after a run that was stopped.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write what every question found to this JSON file.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask the questions of evaluation sets and say how well their documents are found, stage by stage."""
    session = session_of(context, json)
    from kaijuan.evals.retrieval import Options
    from kaijuan.evals.sets import load_set
    from kaijuan.evals.writing import check_target

    if save is not None:
        check_target(save)
    sets = [load_set(folder) for folder in data]
    options = Options(k=k, limit=limit, seed=seed, fresh=fresh)
    runs, summaries = [], []
    for each in sets:
        run, summary = _measured(session, each, options)
        runs.append(run)
        summaries.append(summary)
        if not session.json:
            _say(summary, kinds=kinds)
    if save is not None:
        from kaijuan.evals.results import write_runs

        write_runs(save, runs)
    if session.json:
        screen.show_json(summaries[0] if len(summaries) == 1 else {"sets": summaries})


def bases(
    context: typer.Context,
    clear: Annotated[bool, typer.Option("--clear", metavar="", help="Delete them.")] = False,
    json: Json = False,
) -> None:
    """List the knowledge bases that evaluations keep in the home, one a corpus and way of taking it in."""
    session = session_of(context, json)
    from kaijuan.evals.bases import clear_bases, stored_bases

    found = stored_bases(session.home)
    won = clear_bases(session.home) if clear else 0
    if session.json:
        rows = [
            {
                "name": base.name,
                "path": str(base.folder),
                "bytes": base.bytes,
                "corpus": base.record.corpus,
                "documents": base.record.documents,
                "chunks": base.record.chunks,
                "finished": base.record.whole,
            }
            for base in found
        ]
        screen.show_json({"bases": rows, "deleted": len(found) if clear else 0, "bytes_freed": won})
        return
    from kaijuan.cli.evaluation import tables

    screen.show(*tables.bases(found, cleared=clear))


def _measured(session: Session, data: EvalSet, options: Any) -> tuple[RetrievalRun, dict[str, Any]]:
    import asyncio

    from kaijuan.cli.evaluation.progress import Stages
    from kaijuan.config import load_config
    from kaijuan.evals.retrieval import measure
    from kaijuan.evals.summary import summary_of

    config = load_config(session.home, session.config)
    with Stages(f"asking {data.name}") as shown:
        work = measure(data, session.home, config, options, progress=shown.taken_in, asked=shown.asked)
        measured = asyncio.run(work)
    return measured.run, summary_of(measured, data)


def _say(summary: dict[str, Any], *, kinds: bool) -> None:
    from kaijuan.cli.evaluation import tables

    screen.show(*tables.retrieval(summary, kinds=kinds))
