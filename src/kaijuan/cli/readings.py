"""What `parse` found, as JSON and for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from kaijuan.cli import screen
from kaijuan.cli.shapes import Json, path_of, plain
from kaijuan.core.documents import ParsedBlock, ParsedDocument
from kaijuan.core.text.language import language_of
from kaijuan.ingest.parsers.pipes import words_in
from kaijuan.ingest.reading import Outcome, Reading

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN_CHARACTERS = 600
_DECIMALS = 3


def shape(found: Sequence[Reading]) -> Json:
    """`parse --json`: the document itself, or for a file with several its `members`."""
    if len(found) == 1 and "#" not in found[0].source:
        return _shape(found[0])
    return {
        "status": outcome_of(found).value,
        "source": found[0].source.partition("#")[0] if found else "",
        "members": [{"source": reading.source, **_shape(reading)} for reading in found],
    }


def outcome_of(found: Sequence[Reading]) -> Outcome:
    """Return how reading a file ended as a whole: failed when nothing in it could be read."""
    outcomes = {reading.outcome for reading in found}
    if outcomes <= {Outcome.OK} and found:
        return Outcome.OK
    return Outcome.FAILED if outcomes <= {Outcome.FAILED} else Outcome.PARTIAL


def _shape(reading: Reading) -> Json:
    document = reading.document
    if document is None:
        error = {"code": reading.code, "message": reading.message, "hint": reading.hint, "retry": False}
        return {"status": reading.outcome.value, "kind": reading.kind, "error": error, **_effort(reading)}
    return {
        "status": reading.outcome.value,
        "kind": document.kind,
        "title": document.title,
        "pages": document.pages,
        "page_sizes": [list(size) for size in document.page_sizes],
        "unread_pages": list(document.unread_pages),
        "language": language_of(document.text),
        "metadata": plain(document.metadata),
        "blocks": [_block(document, number, block) for number, block in enumerate(document.blocks, 1)],
        "warnings": list(document.warnings),
        **_effort(reading),
    }


def _effort(reading: Reading) -> Json:
    peak = None if reading.peak_mb is None else round(reading.peak_mb, 1)
    return {"seconds": round(reading.seconds, _DECIMALS), "peak_mb": peak}


def _block(document: ParsedDocument, number: int, block: ParsedBlock) -> Json:
    pages = sorted({line.box.page for line in block.lines}) or list(block.pages)
    shaped: Json = {
        "id": number,
        "kind": block.kind.value,
        "level": block.level,
        "text": block.span.of(document.text),
        "span": plain(block.span),
        "title_path": list(block.title_path),
        "place": block.place,
        "pages": pages,
        "boxes": [plain(line.box) for line in block.lines],
        "syntax": block.syntax,
        "confidence": block.confidence,
    }
    if block.table is not None:
        shaped["table"] = {
            "rows": block.table.rows,
            "columns": block.table.columns,
            "hidden_rows": list(block.table.hidden_rows),
            "hidden_columns": list(block.table.hidden_columns),
            "cells": [{**_fields(cell), "text": words_in(document.text, cell)} for cell in block.table.cells],
        }
    return shaped


def _fields(value: object) -> Json:
    shaped = plain(value)
    return shaped if isinstance(shaped, dict) else {}


def shown(found: Sequence[Reading]) -> Iterator[RenderableType]:
    """Yield what `parse` shows people: a head, what is known of the document, and its blocks with their places."""
    for reading in found:
        yield from _failure(reading) if reading.document is None else _document(reading, reading.document)


def _head(reading: Reading, words: str) -> Text:
    peak = f", {reading.peak_mb:.0f} MB" if reading.peak_mb else ""
    name = screen.line(path_of(reading.source) or reading.source)
    member = reading.source.partition("#")[2]
    text = Text.assemble((screen.place(reading.source) if member else name, "bold"))
    return text.append(f"\n{words}, {reading.seconds:.2f} s{peak}", style="dim")


def _failure(reading: Reading) -> Iterator[RenderableType]:
    yield _head(reading, f"failed ({reading.code})")
    yield Padding(Text(screen.lines(f"{reading.message} {reading.hint}".strip()), style="red"), (0, 0, 1, 2))


def _document(reading: Reading, document: ParsedDocument) -> Iterator[RenderableType]:
    pages = f", {screen.count(document.pages, 'page')}" if document.pages else ""
    blocks = screen.count(len(document.blocks), "block")
    yield _head(reading, f"{reading.outcome.value}: {document.kind}{pages}, {blocks}")
    facts = {"title": document.title, **document.metadata}
    for key, value in facts.items():
        words = ", ".join(value) if isinstance(value, tuple) else str(value)
        yield Text.assemble((f"  {screen.line(key)}: ", "dim"), screen.line(words))
    for warning in document.warnings:
        yield Text(f"  {screen.line(warning)}", style="yellow")
    yield Text("")
    for number, block in enumerate(document.blocks, 1):
        yield _shown_block(document, number, block)
    yield Text("")


def _shown_block(document: ParsedDocument, number: int, block: ParsedBlock) -> RenderableType:
    words = block.span.of(document.text)
    words = words if len(words) <= _SHOWN_CHARACTERS else words[:_SHOWN_CHARACTERS] + " …"
    pages = sorted({line.box.page for line in block.lines})
    place = block.place or (
        f"page {'-'.join(str(page) for page in dict.fromkeys((pages[0], pages[-1])))}" if pages else ""
    )
    size = f", {block.table.rows} × {block.table.columns}" if block.table else ""
    note = ", ".join(filter(None, (f"{block.kind.value}{size}", block.syntax, screen.line(place))))
    style = "bold" if block.level else ""
    text = Text.assemble((f"{number}. {note}\n", "dim"), (screen.lines(words), style))
    return Padding(text, (0, 0, 0, 2), expand=False)
