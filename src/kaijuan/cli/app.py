"""The command `kaijuan`: its global options, its commands, and what every failure becomes.

Exit codes: 0 good, 1 error, 2 wrong use, 3 finished with failed or held items, 4 gate not passed, 130 stopped with
Ctrl-C, 141 reader gone.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from kaijuan.cli import (
    access,
    archives,
    audit,
    backups,
    boilerplate,
    chatting,
    chunks,
    citing,
    demo,
    documents,
    duplicates,
    editions,
    evaluation,
    glossary,
    keys,
    models,
    parsing,
    questions,
    queues,
    removing,
    review,
    runs,
    screen,
    serving,
    shapes,
    snapshots,
    suggesting,
    traces,
    upkeep,
    watching,
)
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json
from kaijuan.cli.session import DEFAULT_HOME, DEFAULT_KB, DEFAULT_TENANT, Session, start_logging
from kaijuan.errors import KaijuanError, NotFoundError, StoppedError, UsageError

ERROR = 1
WRONG_USE = 2
STOPPED = 130

UsageProblem: type[typer.TyperException] | type[Exception] = typer.BadParameter.__bases__[0]
"""What the parser raises for a command line it cannot read; each version of typer keeps it elsewhere."""


app = typer.Typer(
    name="kaijuan",
    cls=Group,
    help="Kaijuan (开卷): answers from your own documents, every sentence cited to the exact words. Works offline.",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def options(  # noqa: PLR0913 one argument an option
    context: typer.Context,
    home: Annotated[
        Path, typer.Option("--home", metavar="DIR", envvar="KAIJUAN_HOME", help="Where everything is kept.")
    ] = Path(DEFAULT_HOME),
    kb: Annotated[
        str,
        typer.Option(
            "--kb",
            metavar="NAME",
            envvar="KAIJUAN_KB",
            help=f"Which knowledge base of the home; by default {DEFAULT_KB!r}.",
            show_default=False,
        ),
    ] = "",
    json: Json = False,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", metavar="FILE", envvar="KAIJUAN_CONFIG", help="Settings; by default config.toml in the home."
        ),
    ] = None,
    tenant: Annotated[
        str,
        typer.Option(
            "--tenant", metavar="NAME", envvar="KAIJUAN_TENANT", help="Whose knowledge bases.", show_default=False
        ),
    ] = DEFAULT_TENANT,
    as_: Annotated[
        str, typer.Option("--as", metavar="USER", help="See what this user of the service may see, and nothing else.")
    ] = "",
    verbose: Annotated[
        int,
        typer.Option(
            "-v", "--verbose", count=True, show_default=False, metavar="", help="Log to standard error; -vv logs more."
        ),
    ] = 0,
    version: Annotated[bool, typer.Option("--version", metavar="", help="Print the version.")] = False,
) -> None:
    """Read the global options."""
    start_logging(verbose)
    context.obj = Session(
        home=_expanded(home), kb=kb, json=json, config=config, verbose=verbose, tenant=tenant, user=as_
    )
    if version:
        upkeep.version(context)
        raise typer.Exit
    if context.invoked_subcommand is None:
        context.fail("Missing command.")


def _expanded(home: Path) -> Path:
    try:
        return home.expanduser()
    except RuntimeError:
        return home  # the engine names what is wrong with it


for command in (
    documents.add,
    questions.search,
    questions.ask,
    chatting.chat,
    questions.explain,
    suggesting.suggest,
    citing.cite,
    watching.sync,
    watching.watch,
    removing.remove,
    documents.list_,
    documents.show,
    editions.editions,
    upkeep.status,
    upkeep.rebuild,
    upkeep.optimise,
    upkeep.doctor,
    removing.purge,
    archives.gc,
    archives.export,
    archives.import_,
    backups.backup,
    backups.restore,
    parsing.parse,
    demo.demo,
    serving.serve,
    serving.mcp,
    upkeep.version,
):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
app.add_typer(traces.app)
app.add_typer(snapshots.app)
app.add_typer(runs.app)
app.add_typer(queues.app)
app.add_typer(review.app)
app.add_typer(duplicates.app)
app.add_typer(boilerplate.app)
app.add_typer(glossary.app)
app.add_typer(chunks.app)
app.add_typer(models.app)
app.add_typer(keys.app)
app.add_typer(access.app)
app.add_typer(audit.app)
app.add_typer(evaluation.app)


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    screen.forgive_encodings()
    sys.exit(run(list(sys.argv[1:] if words is None else words)))


def run(words: list[str]) -> int:
    """Run one command line and return its exit code; every failure is shown, none is raised."""
    as_json = "--json" in (words[: words.index("--")] if "--" in words else words)
    try:
        outcome = typer.main.get_command(app).main(args=words, prog_name="kaijuan", standalone_mode=False)
    except UsageProblem as problem:
        return _wrong_use(problem, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        outcome = STOPPED
    except KaijuanError as error:
        _show_error(error, as_json=as_json)
        wrong = isinstance(error, UsageError) and not isinstance(error, NotFoundError)
        return WRONG_USE if wrong else ERROR
    except Exception as error:
        # A defect too must end in one JSON document and exit code 1.
        logging.getLogger("kaijuan").debug("unexpected error", exc_info=True)
        hint = "This is a defect of kaijuan. Run the command again with -vv and report what it prints."
        _show_error(KaijuanError(f"{type(error).__name__}: {error}", hint=hint), as_json=as_json)
        return ERROR
    if outcome == STOPPED and as_json:  # on a terminal people know what they pressed
        _show_error(StoppedError("The command was stopped."), as_json=True)
    return outcome if isinstance(outcome, int) else 0


def _wrong_use(problem: Exception, *, as_json: bool) -> int:
    # NoArgsIsHelp has printed the help already and carries no message of its own.
    message = problem.format_message() if hasattr(problem, "format_message") else str(problem)
    if as_json:
        with suppress(typer.Exit):
            screen.show_json(shapes.error_shape(UsageError(message, hint="See `kaijuan --help`.")))
    elif hasattr(problem, "show"):
        problem.show()
    return WRONG_USE


def _show_error(error: KaijuanError, *, as_json: bool) -> None:
    if as_json:
        with suppress(typer.Exit):  # standard output is lost, which has been said
            screen.show_json(shapes.error_shape(error))
        return
    from rich.text import Text

    shown = Text.assemble(("Error: ", "bold red"), screen.lines(error.message))
    if error.hint:
        shown.append(f"\n{screen.lines(error.hint)}", style="yellow")
    if error.retry:
        shown.append("\nTrying again may help.", style="yellow")
    # The terminal folds long lines itself; a fold of ours would break paths that people copy.
    screen.err().print(shown, soft_wrap=True)
