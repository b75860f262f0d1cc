"""Commands about embedding models: models list, add, compare, canary, trials, switch, rollback, retire."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen, shapes
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of

if TYPE_CHECKING:
    from kaijuan.verbs.models import GoldenQuestion

app = typer.Typer(
    name="models",
    cls=Group,
    help="Change the embedding model of a base: build another index beside the old, compare, switch, go back.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `kaijuan models list` calls it.")]


def list_(context: typer.Context, json: Json = False) -> None:
    """List the models of the base: which one serves, which are ready, what share of the questions each is asked."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.models()
    if session.json:
        screen.show_json({"models": [shapes.plain(one) for one in found]})
        return
    from kaijuan.cli import model_tables

    screen.show(*model_tables.models(found))


def add(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="One of `models` in the configuration, or an embedder: words, onboard."),
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting as in the configuration: embedder.dimensions=192, index.title_weight=1.5.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Build the index of another model beside the one that serves. Stopped or failed, the same command goes on."""
    session = session_of(context, json)
    settings = dict(_pair(one) for one in set_ or ())
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress(noun="version") as progress:
        made = base.add_model(name, settings=settings, progress=progress)
    if session.json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    screen.show(Text(f"The model {screen.line(name)} is {made.state.value}: {made.dimensions} dimensions."))


def _pair(text: str) -> tuple[str, str]:
    key, found, value = text.partition("=")
    if not found:
        raise typer.BadParameter(f"{text!r} is not KEY=VALUE.", param_hint="--set")
    return key.strip(), value.strip()


def compare(
    context: typer.Context,
    name: Name,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="FILE|DIR",
            help='Lines of {"question": ..., "relevant": [SOURCE, ...]}, or a set with queries.jsonl and qrels.tsv; '
            "by default the questions of saved traces.",
        ),
    ] = None,
    details: Annotated[bool, typer.Option("--details", metavar="", help="Also show each question.")] = False,
    json: Json = False,
) -> None:
    """Ask the model that serves and another the same questions: how far they agree, and which finds what is right."""
    session = session_of(context, json)
    golden = read_golden(questions) if questions else []
    from kaijuan.cli.progress import shown_progress

    with session.open() as base, shown_progress(noun="question") as progress:
        found = base.compare_models(name, golden, progress=progress)
    if session.json:
        screen.show_json(shapes.plain(found))
        return
    from kaijuan.cli import model_tables

    screen.show(*model_tables.comparison(found, details=details))


def canary(
    context: typer.Context,
    name: Name,
    share: Annotated[str, typer.Argument(metavar="SHARE", help="5%, 0.5, ...; 0 ends it.")],
    answer: Annotated[
        bool, typer.Option("--answer", metavar="", help="Give those who ask what this model finds.")
    ] = False,
    json: Json = False,
) -> None:
    """Ask another model a share of the questions too, and keep what both find. Nobody notices, unless with --answer."""
    session = session_of(context, json)
    part = _share(share)
    with session.open() as base:
        made = base.try_model(name, part, answers=answer)
    if session.json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    told = "is asked no questions" if not part else f"is asked {100 * part:.4g} % of the questions"
    screen.show(Text(f"The model {screen.line(name)} {told}{' and answers them' if made.answers else ''}."))


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no share.", param_hint="SHARE") from None


def trials(context: typer.Context, name: Name, json: Json = False) -> None:
    """Show the questions that were asked of a model too, and what both found."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.model_trials(name)
    if session.json:
        screen.show_json({"trials": [shapes.plain(one) for one in found]})
        return
    from kaijuan.cli import model_tables

    screen.show(*model_tables.trials(found))


def switch(context: typer.Context, name: Name, json: Json = False) -> None:
    """Let another model serve readers, from one moment to the next. `models rollback` goes back."""
    session = session_of(context, json)
    with session.open() as base:
        made = base.switch_model(name)
    if session.json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    screen.show(Text(f"The model {screen.line(made.name)} serves readers now."))


def rollback(context: typer.Context, json: Json = False) -> None:
    """Let the model serve again that served before."""
    session = session_of(context, json)
    with session.open() as base:
        made = base.roll_back_model()
    if session.json:
        screen.show_json(shapes.plain(made))
        return
    from rich.text import Text

    screen.show(Text(f"The model {screen.line(made.name)} serves readers again."))


def retire(context: typer.Context, name: Name, json: Json = False) -> None:
    """Remove a model that does not serve, with its index and its trials."""
    session = session_of(context, json)
    with session.open() as base:
        base.retire_model(name)
    if session.json:
        screen.show_json({"retired": name})
        return
    from rich.text import Text

    screen.show(Text(f"The model {screen.line(name)} and its index are removed."))


def read_golden(path: Path) -> list[GoldenQuestion]:
    """Read questions with what is right: our lines, or a set in BEIR layout. UsageError says what is wrong."""
    from kaijuan.errors import UsageError
    from kaijuan.verbs.models import GoldenQuestion

    if path.is_dir():
        from kaijuan.evals.sets import load_set

        known = load_set(path)
        return [
            GoldenQuestion(question=query.text, relevant=tuple(sorted(known.grades[query.id])))
            for query in known.judged
        ]
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = json_module.loads(line)
            relevant = told.get("relevant", [])
            names = [relevant] if isinstance(relevant, str) else [str(one) for one in relevant]
            found.append(GoldenQuestion(question=str(told.get("question") or told["text"]), relevant=tuple(names)))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise UsageError(
                f"Line {number} of {path} is no question.",
                hint='Each line is {"question": "...", "relevant": ["..."]}.',
            ) from error
    return found


for command in (list_, add, compare, canary, trials, switch, rollback, retire):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
