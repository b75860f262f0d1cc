"""Commands about how documents are cut: list, show, report, preview. What people do to chunks is in chunk_work.py."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import chunk_work, screen
from kaijuan.cli.chunk_contexts import contexts
from kaijuan.cli.groups import Command, Group
from kaijuan.cli.options import AsOf, Full, Json, session_of
from kaijuan.cli.session import Session, read_as_of
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from kaijuan.config import Config
    from kaijuan.ingest.chunkers.preview import Comparison
    from kaijuan.ingest.reading import Reading

app = typer.Typer(
    name="chunks",
    cls=Group,
    help="See how documents are cut, how well, and how another strategy would cut them; mend chunks by hand.",
    no_args_is_help=True,
)
FAILED = 3
"""Exit code when a document could not be read, or a report found text that no chunk holds."""
_MOST_STRATEGIES = 6

Page = Annotated[Path | None, typer.Option("--html", metavar="OUT.html", help="Write a page instead.")]


def list_(
    context: typer.Context,
    word: Annotated[
        str | None, typer.Argument(metavar="SOURCE|ID", help="A path, address, file name, document id or version id.")
    ] = None,
    manual: Annotated[
        bool, typer.Option("--manual", metavar="", help="What people did to chunks instead, and what is stale of it.")
    ] = False,
    as_of: AsOf = None,
    json: Json = False,
) -> None:
    """List the chunks of one document: parents, and under each the children that are searched."""
    session = session_of(context, json)
    if manual:
        chunk_work.show_work(session, word, ended=False, as_of=read_as_of(as_of))
        return
    if word is None:
        raise UsageError("No document was named.", hint="`kaijuan list` shows what is there.")
    with session.open() as base:
        view = base.show(word, as_of=read_as_of(as_of))
    from kaijuan.cli import chunk_shapes, chunk_tables

    if session.json:
        screen.show_json(chunk_shapes.listed(view))
    else:
        screen.show(*chunk_tables.listed(view))


def show(
    context: typer.Context,
    chunk: Annotated[str, typer.Argument(metavar="CHUNK", help="A chunk's id, as `list`, `search` or `explain` give.")],
    full: Full = False,
    json: Json = False,
) -> None:
    """Show one chunk: its text, what it is found by, its parent and neighbours."""
    session = session_of(context, json)
    with session.open() as base:
        view = base.chunk(chunk)
    from kaijuan.cli import chunk_shapes, chunk_tables

    if session.json:
        screen.show_json(chunk_shapes.chunk(view))
    else:
        screen.show(*chunk_tables.chunk(view, full=full))


def report(context: typer.Context, html: Page = None, as_of: AsOf = None, json: Json = False) -> None:
    """Report on all chunks: lengths, cut tables and code, duplicates, outliers, coverage."""
    session = session_of(context, json)
    with session.open() as base:
        found = base.chunk_report(as_of=read_as_of(as_of))
    from kaijuan.cli import chunk_pages, chunk_shapes, chunk_tables

    if html is not None:
        write_page(html, chunk_pages.report(found))
    if session.json:
        screen.show_json(chunk_shapes.plain(found))
    elif html is None:
        screen.show(*chunk_tables.report(found))
    if found.lost or found.unreadable:
        raise typer.Exit(FAILED)


def preview(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to cut; it is read and nothing is stored.")],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="A strategy, or auto; several are shown side by side. By default what the settings choose.",
        ),
    ] = None,
    html: Page = None,
    json: Json = False,
) -> None:
    """Show how strategies would cut a file, side by side. Nothing is stored."""
    session = session_of(context, json)
    names = list(dict.fromkeys(strategy or ()))
    if len(names) > _MOST_STRATEGIES:
        raise UsageError(f"{len(names)} strategies do not fit side by side.", hint=f"Name up to {_MOST_STRATEGIES}.")
    from kaijuan.ingest.reading import is_folder

    if is_folder(file):
        raise UsageError(f"{file} is a folder.", hint="Give one file.")
    readings, compared = asyncio.run(_compared(session, file, names))
    from kaijuan.cli import chunk_pages, chunk_shapes, chunk_tables

    if html is not None:
        write_page(html, chunk_pages.preview(readings, compared))
    if session.json:
        screen.show_json(chunk_shapes.preview(readings, compared))
    elif html is None:
        screen.show(*chunk_tables.preview(readings, compared))
    if any(one is None for one in compared):
        raise typer.Exit(FAILED)


async def _compared(session: Session, file: str, names: list[str]) -> tuple[list[Reading], list[Comparison | None]]:
    """Return what is in the file, and for each document read the comparison."""
    from kaijuan import registry
    from kaijuan.config import load_config
    from kaijuan.ingest.reading import readings

    config = load_config(session.home, session.config)
    for name in names:
        if name != "auto":
            registry.load("chunker", name)  # an unknown name is told before a long file is read
    recogniser = registry.recogniser(config.ingest.recogniser)
    found = [one async for one in readings(file, registry.targets("parser"), config.ingest, recogniser)]
    return found, await _cut(session, config, found, names)


async def _cut(session: Session, config: Config, found: list[Reading], names: list[str]) -> list[Comparison | None]:
    import tempfile
    from functools import partial

    from kaijuan import registry
    from kaijuan.index.embed import blocking_similarity
    from kaijuan.ingest.chunkers.preview import compared
    from kaijuan.ingest.judging import blocking_judge
    from kaijuan.verbs.chat_models import make_chat
    from kaijuan.verbs.embedders import make_embedder

    with tempfile.TemporaryDirectory() as spare:
        # The tokenizer keeps what it unpacks beside the base; where there is none yet, none is made for a look.
        cache = session.home / "cache"
        embedder = make_embedder(config.embedder, cache if cache.is_dir() else Path(spare))
        chat = make_chat(config.chat)
        try:
            load = partial(registry.load, "chunker")
            like = blocking_similarity(embedder, config.index.embed_batch)
            judge = blocking_judge(chat) if chat is not None else None
            return [
                await asyncio.to_thread(compared, one.document, names, config.chunk, load, embedder, like, judge)
                if one.document is not None
                else None
                for one in found
            ]
        finally:
            await embedder.close()
            if chat is not None:
                await chat.close()


def write_page(target: Path, page: str) -> None:
    """Write a page; UsageError when that cannot be done."""
    try:
        target.write_text(page, encoding="utf-8", errors="replace")
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{target} cannot be written: {reason}.", hint="Choose another file.") from error


for command in (list_, show, report, preview, contexts, *chunk_work.COMMANDS):
    app.command(command.__name__.rstrip("_"), cls=Command)(command)
