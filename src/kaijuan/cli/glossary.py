"""Commands about words that mean the same: list, add, remove, import, export."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import Json, session_of
from kaijuan.cli.review import By, Note, user
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kaijuan.core.glossary import GlossaryTerm

MOST_BYTES = 16 * 2**20

app = typer.Typer(
    name="glossary",
    cls=Group,
    help="Words that mean the same in a knowledge base: a search for one of them finds the others too.",
    no_args_is_help=True,
)

Term = Annotated[str, typer.Argument(metavar="TERM", help="The term.")]


def list_(
    context: typer.Context,
    all_: Annotated[bool, typer.Option("--all", metavar="", help="Also terms that were removed.")] = False,
    json: Json = False,
) -> None:
    """List the terms with their synonyms, and who entered them."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.glossary(removed=all_)
    if session.json:
        screen.show_json({"terms": [shape(term) for term in found]})
        return
    screen.show(*_terms(found))


def add(
    context: typer.Context,
    term: Term,
    synonyms: Annotated[list[str], typer.Argument(metavar="SYNONYM", help="Other words for it.")],
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Let words mean the same as a term; synonyms that it has already stay."""
    session = session_of(context, json)
    with session.open() as base:
        entered = base.add_term(term, synonyms, by=by or user(), note=note)
    if session.json:
        screen.show_json(shape(entered))
        return
    screen.show(*_terms([entered]))


def remove(
    context: typer.Context,
    term: Term,
    synonyms: Annotated[
        list[str] | None, typer.Argument(metavar="SYNONYM", help="Only these synonyms; by default the whole term.")
    ] = None,
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Take a term out of use, or some of its synonyms. Who entered and who removed it is kept."""
    session = session_of(context, json)
    with session.open() as base:
        left = base.remove_term(term, synonyms or (), by=by or user(), note=note)
    if session.json:
        screen.show_json({"left": shape(left) if left else None})
        return
    from rich.text import Text

    screen.show(*(_terms([left]) if left else [Text(f"Removed {screen.line(term)}.")]))


def import_(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A CSV file with the columns term, synonyms, note; - is the input.")
    ],
    by: By = "",
    json: Json = False,
) -> None:
    """Enter the terms of a CSV file, all or none. Several synonyms stand between "|"."""
    session = session_of(context, json)
    table = _read(file)
    with session.open() as base:
        count = base.import_terms(table, by=by or user())
    if session.json:
        screen.show_json({"imported": count})
        return
    from rich.text import Text

    screen.show(Text(f"{screen.count(count, 'term')} entered."))


def export(context: typer.Context, json: Json = False) -> None:
    """Print the glossary as CSV, which `import` takes."""
    from kaijuan.core.glossary_csv import write_csv

    session = session_of(context, json)
    with session.open() as base:
        table = write_csv(base.glossary())
    if session.json:
        screen.show_json({"csv": table})
        return
    screen.show_text(table)


def shape(term: GlossaryTerm) -> dict[str, object]:
    """Return a term as JSON has it."""
    from kaijuan.verbs.shapes import fields_of

    return {
        "id": term.id,
        "term": term.term,
        "synonyms": list(term.synonyms),
        "state": term.state.value,
        "history": [fields_of(change) for change in term.history],
    }


def _read(file: str) -> str:
    from kaijuan.ingest.encoding import decode

    try:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", hint="Give a CSV file.") from error
    if len(data) > MOST_BYTES:
        raise UsageError(f"{file} is larger than {MOST_BYTES >> 20} MiB.", hint="A glossary is a small table.")
    return decode(data).text


def _terms(found: Sequence[GlossaryTerm]) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from kaijuan.cli.tables import when

    if not found:
        yield Text("The glossary has no term.")
        return
    for term in found:
        last = term.history[-1]
        gone = "" if term.state.value == "live" else f" ({term.state.value})"
        words = screen.join((screen.line(word) for word in term.synonyms), " | ")
        yield Text.assemble((screen.line(term.term), "bold"), gone, f" = {words}" if words else "")
        by = f"by {screen.line(last.by)}, " if last.by else ""
        note = f": {screen.line(last.note)}" if last.note else ""
        yield Padding(Text(f"{by}{when(last.at)}{note}", style="dim"), (0, 0, 0, 4), expand=False)
    yield Text(f"{screen.count(len(found), 'term')}.", style="dim")


for command in (list_, add, remove, import_, export):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
