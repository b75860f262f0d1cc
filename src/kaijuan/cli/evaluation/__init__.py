"""The commands below `kaijuan eval`, one file per group of commands. They import what they run late."""

from __future__ import annotations

import typer

from kaijuan.cli.evaluation import answers, experiments, making, retrieval
from kaijuan.cli.groups import Command, Group

app = typer.Typer(
    name="eval",
    cls=Group,
    help="Measure how well documents are found and questions are answered, on sets of your own or public ones.",
    no_args_is_help=True,
)

for command in (
    retrieval.retrieval,
    answers.answers,
    experiments.experiment,
    experiments.ablate,
    experiments.tune,
    experiments.gate,
    experiments.report,
    making.make,
    making.review,
    making.export,
    retrieval.bases,
):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
