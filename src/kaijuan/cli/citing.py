"""The command that opens a citation, and what the last answer cited."""

from __future__ import annotations

import json as json_format
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of
from kaijuan.cli.session import DEFAULT_KB, Session, command
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from kaijuan.answer.results import Answer

_FILE = "last-answer.json"
_LONGEST_NUMBER = 4
"""Digits of a number of the last answer; anything longer is meant as a reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """One citation of the last answer."""

    ref: str
    quote: str


def remember(session: Session, answer: Answer) -> None:
    """Keep what the numbers of an answer stand for, so that `kaijuan cite 1` opens the first."""
    cited = {one.id: {"ref": one.ref, "quote": one.quote} for one in answer.citations}
    text = json_format.dumps({"kb": session.kb, "question": answer.question, "citations": cited}, ensure_ascii=False)
    path = _path(session)
    # A convenience: an answer must not fail because a note of it cannot be kept.
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.write(text)


def recalled(session: Session, number: str) -> Remembered:
    """Return what a number of the last answer stands for; UsageError where there is none."""
    try:
        kept = json_format.loads(_path(session).read_text(encoding="utf-8", errors="surrogatepass"))
        found = kept["citations"].get(number) if kept["kb"] == session.kb else None
        if found is not None:
            return Remembered(ref=str(found["ref"]), quote=str(found["quote"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass  # nothing was kept, or something else: the same for who asks
    raise UsageError(f"The last answer has no citation {number}.", hint="Ask first, or give the `ref` of a citation.")


def opener(session: Session) -> str:
    """Return the command that opens a citation of the last answer, but for its number."""
    return f"{command(session.home, session.kb or DEFAULT_KB)} cite"


def _path(session: Session) -> Path:
    return session.home / "cache" / _FILE


def cite(
    context: typer.Context,
    citation: Annotated[
        str,
        typer.Argument(metavar="NUMBER|REF", help="A number of the last answer, or the ref of any citation."),
    ],
    json: Json = False,
) -> None:
    """Open a citation: the very words, where they stand, and how their version stands today."""
    session = session_of(context, json)
    number = citation.strip().strip("[]【】")
    short = number.isdecimal() and len(number) <= _LONGEST_NUMBER
    kept = recalled(session, number) if short else Remembered(ref=citation, quote="")
    with session.open() as base:
        opened = base.cite(kept.ref, quote=kept.quote)
    from kaijuan.cli import citing_shapes

    if session.json:
        screen.show_json(citing_shapes.opened(opened))
    else:
        screen.show(*citing_shapes.shown(opened))
