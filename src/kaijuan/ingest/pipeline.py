"""Bytes to blocks: tell the kind, parse in a child process, hold the result to its promises."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import BrokenDocumentError, EmptyDocumentError
from kaijuan.ingest.detect import kind_of
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.ports import SourceItem

PARSING = "3"
"""Raised when a built-in parser starts to read a file differently; documents are then read again by the next run."""


def fingerprint(parsers: Mapping[str, str]) -> str:
    """Return the fingerprint of reading with these parsers ("module:Class" by kind)."""
    return f"{PARSING};" + ";".join(f"{kind}={target}" for kind, target in sorted(parsers.items()))


async def read(item: SourceItem, pool: ParserPool) -> ParsedDocument:
    """Return the parsed document of a source item; DocumentError when it cannot be read."""
    # Telling the kind reads zip directories and up to a MiB of text: too long for the event loop.
    kind = item.kind or await asyncio.to_thread(kind_of, item.data, item.name)
    parsed = await pool.parse(kind, item.data, item.name)
    hold(parsed)
    return replace(parsed, warnings=(*parsed.warnings, *item.warnings)) if item.warnings else parsed


def hold(parsed: ParsedDocument) -> None:
    """Raise when a parser, ours or an outsider's, broke the promises that every citation rests on."""
    if not parsed.text.strip() or not parsed.blocks:
        raise EmptyDocumentError("The document has no text.")
    at = 0
    for block in parsed.blocks:
        if block.span.start < at or block.span.end > len(parsed.text) or not len(block.span):
            raise BrokenDocumentError(
                f"The parser for {parsed.kind!r} gave overlapping, empty or outlying blocks.",
                hint="Report this file: the parser is at fault.",
            )
        at = block.span.end
