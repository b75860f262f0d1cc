"""Commands about what people do to chunks: split, merge, edit, exclude, alias, restore, strategy, history."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, Word, session_of
from kaijuan.cli.review import user
from kaijuan.cli.session import Session
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from kaijuan.jobs.rework import Worked

Chunk = Annotated[str, typer.Argument(metavar="CHUNK", help="A chunk's id, as `chunks list` shows it.")]
Chunks = Annotated[list[str], typer.Argument(metavar="CHUNK", help="Ids of chunks of one document.")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who does it; by default the user of this machine.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="Why.")]


def split(
    context: typer.Context,
    chunk: Chunk,
    at: Annotated[
        list[int] | None, typer.Option("--at", metavar="N", help="Cut after so many characters of the chunk.")
    ] = None,
    before: Annotated[
        list[str] | None, typer.Option("--before", metavar="TEXT", help="Cut before these words of the chunk.")
    ] = None,
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Search a chunk in parts. May be cut at several places."""
    session = session_of(context, json)
    with session.open() as base:
        worked = base.split_chunk(chunk, [*(at or ()), *(before or ())], by=by or user(), note=note)
    _end(session, worked)


def merge(context: typer.Context, chunks: Chunks, by: By = "", note: Note = "", json: Json = False) -> None:
    """Search neighbouring chunks as one."""
    session = session_of(context, json)
    with session.open() as base:
        worked = base.merge_chunks(chunks, by=by or user(), note=note)
    _end(session, worked)


def edit(
    context: typer.Context,
    chunk: Chunk,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="The text it is to be found by.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="A file with that text; - for standard input.")
    ] = None,
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Let a chunk be found by another text. What is quoted stays the document's own."""
    session = session_of(context, json)
    said = _text(text, file)
    with session.open() as base:
        worked = base.edit_chunk(chunk, said, by=by or user(), note=note)
    _end(session, worked)


def exclude(context: typer.Context, chunks: Chunks, by: By = "", note: Note = "", json: Json = False) -> None:
    """Search chunks no more. `restore` brings them back."""
    session = session_of(context, json)
    with session.open() as base:
        worked = base.exclude_chunks(chunks, by=by or user(), note=note)
    _end(session, worked)


def alias(
    context: typer.Context,
    chunk: Chunk,
    questions: Annotated[list[str], typer.Argument(metavar="QUESTION", help="Questions that the chunk answers.")],
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Let a chunk be found by questions, too."""
    session = session_of(context, json)
    with session.open() as base:
        worked = base.alias_chunk(chunk, questions, by=by or user(), note=note)
    _end(session, worked)


def restore(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="CHUNK|WORK", help="Ids of chunks, or of work as `chunks history` shows it.")
    ],
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Undo what was done to chunks of one document, with what was done later to the pieces."""
    session = session_of(context, json)
    with session.open() as base:
        worked = base.restore_chunks(words, by=by or user(), note=note)
    _end(session, worked)


def strategy(
    context: typer.Context,
    word: Word,
    name: Annotated[
        str, typer.Argument(metavar="STRATEGY", help="A strategy, auto, or default for what the settings choose.")
    ],
    by: By = "",
    note: Note = "",
    json: Json = False,
) -> None:
    """Cut one document by another strategy than the settings choose."""
    session = session_of(context, json)
    with session.open() as base:
        worked = base.cut_by(word, name, by=by or user(), note=note)
    _end(session, worked)


def history(
    context: typer.Context,
    document: Annotated[
        str | None,
        typer.Argument(metavar="SOURCE|ID", help="A path, address, file name, document id or version id; all if none."),
    ] = None,
    json: Json = False,
) -> None:
    """List what was ever done to chunks, by whom and when, and what was undone."""
    show_work(session_of(context, json), document, ended=True)


def show_work(session: Session, document: str | None, *, ended: bool, as_of: int | float | str | None = None) -> None:
    """Print what was done to chunks and what became of it."""
    with session.open() as base:
        views = base.chunk_work(document, ended=ended, as_of=as_of)
    from kaijuan.cli import chunk_shapes, chunk_work_tables

    if session.json:
        screen.show_json({"work": [chunk_shapes.work(view) for view in views]})
    else:
        screen.show(*chunk_work_tables.listed(views))


def _end(session: Session, worked: Worked) -> None:
    from kaijuan.cli import chunk_shapes, chunk_work_tables

    if session.json:
        screen.show_json(chunk_shapes.worked(worked))
    else:
        screen.show(*chunk_work_tables.worked(worked))


def _text(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        raise UsageError("Give the text, or a file with it.", hint="--text TEXT, --file FILE, or --file - .")
    if text is not None:
        return text
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")  # type: ignore[union-attr]
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text.") from error


COMMANDS = (split, merge, edit, exclude, alias, restore, strategy, history)
