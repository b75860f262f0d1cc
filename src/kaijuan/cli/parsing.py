"""The command that shows what is read from a file: `parse`. It stores nothing and needs no knowledge base."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kaijuan.cli import screen
from kaijuan.cli.options import Json, session_of
from kaijuan.cli.session import Session
from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from kaijuan.ingest.reading import Reading
    from kaijuan.ingest.settings import IngestSettings

FAILED = 3
"""Exit code when a document in the file could not be read."""


def parse(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to read; archives show what is in them.")],
    markdown: Annotated[bool, typer.Option("--markdown", metavar="", help="Print the text as Markdown.")] = False,
    preview: Annotated[
        Path | None,
        typer.Option(
            "--preview", metavar="OUT.html", help="Write a page that shows the blocks, beside the pages of a PDF."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show what is read from one file: its blocks, tables, places and metadata. Nothing is stored."""
    session = session_of(context, json)
    if markdown and session.json:
        raise UsageError("--markdown and --json cannot be used together.", hint="Choose one of them.")
    from kaijuan.config import load_config
    from kaijuan.ingest.reading import Outcome, is_folder

    if is_folder(file):
        raise UsageError(f"{file} is a folder.", hint="Give one file; `kaijuan add` takes folders.")
    settings = load_config(session.home, session.config).ingest
    found = asyncio.run(_read(file, settings, preview))
    _show(session, found, markdown=markdown)
    if any(reading.outcome is Outcome.FAILED for reading in found):
        raise typer.Exit(FAILED)


async def _read(file: str, settings: IngestSettings, preview: Path | None) -> list[Reading]:
    from kaijuan import registry
    from kaijuan.ingest.reading import readings

    recogniser = registry.recogniser(settings.recogniser)
    found = [reading async for reading in readings(file, registry.targets("parser"), settings, recogniser)]
    if preview is not None:
        from kaijuan.cli.preview import write_preview

        await write_preview(preview, found, settings)
    return found


def _show(session: Session, found: list[Reading], *, markdown: bool) -> None:
    from kaijuan.cli import readings

    if session.json:
        screen.show_json(readings.shape(found))
    elif markdown:
        _show_markdown(found)
    else:
        screen.show(*readings.shown(found))


def _show_markdown(found: list[Reading]) -> None:
    """Print what was read; of several documents each after the first below a rule, with its name."""
    from kaijuan.ingest.markdown_text import as_markdown

    begun = False
    for reading in found:
        if reading.document is None:
            screen.err().print(screen.line(f"{reading.message} {reading.hint}".strip()), soft_wrap=True)
            continue
        if begun:
            screen.show_text(f"\n---\n\n# {screen.line(screen.name(reading.source))}\n\n")
        screen.show_text(as_markdown(reading.document))
        begun = True
