"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kaijuan.cli.session import Session

Json = Annotated[
    bool,
    # Without the empty metavar the help shows `--json <bool>`, as if a value were to follow.
    typer.Option("--json", metavar="", help="Print one JSON document on standard output, nothing else there."),
]
Full = Annotated[bool, typer.Option("--full", metavar="", help="Show texts whole instead of their best lines.")]
K = Annotated[int, typer.Option("-k", min=1, max=1000, metavar="N", help="How many passages at most.")]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="EXPR",
        help="Only documents for which this holds, e.g. 'kind = pdf and created >= 2024-01-01'. "
        "May be given several times; all must hold.",
    ),
]
NoFilters = Annotated[
    bool,
    typer.Option("--no-filters", metavar="", help="Take no filter (year, department, version, ...) from the words."),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="SNAPSHOT|TIME",
        help="Answer from an earlier state: a snapshot number, or a local date or time (2025-03-01T14:30).",
    ),
]
At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="DAY",
        help="Only what was in force on a day (2023-06-30): nothing expired, replaced, or still to come.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option("--preset", metavar="fast|balanced|thorough", help="How much care a search takes."),
]
Extractive = Annotated[
    bool,
    typer.Option(
        "--extractive", metavar="", help="Answer in the documents' own sentences, whatever model is configured."
    ),
]

Schema = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        exists=True,
        dir_okay=False,
        readable=True,
        help="A JSON schema of an object: a language model puts the answer into that form too.",
    ),
]


def session_of(context: typer.Context, json: bool = False) -> Session:
    """Return the global options; `--json` counts before and after the command's name."""
    session = context.find_object(Session)
    if session is None:  # pragma: no cover - the app's callback always makes one
        raise RuntimeError("the command was started without its global options")
    session.json = session.json or json
    return session


Word = Annotated[
    str, typer.Argument(metavar="SOURCE|ID", help="A path, address, file name, document id or version id.")
]
