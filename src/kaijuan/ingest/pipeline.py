"""Bytes to blocks: tell the kind, parse in a child process, hold the result to its promises."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import BrokenDocumentError, DocumentError, EmptyDocumentError
from kaijuan.ingest.detect import kind_of
from kaijuan.ingest.isolate import ParserPool
from kaijuan.ingest.ports import SourceItem

_REVISIONS = {"docx": "5", "eml": "4", "html": "5", "markdown": "4", "msg": "4", "pdf": "4", "pptx": "4", "xlsx": "4"}
"""By kind; raised when a built-in parser starts to read its files differently. The next run reads those again."""
_FIRST_REVISION = "3"
PICTURED = frozenset({"docx", "epub", "image", "odp", "ods", "odt", "pdf", "pptx", "xlsx"})
"""Kinds in which pictures are read."""
_PICTURES_REVISION = "1"
"""Raised when words in pictures are found or placed differently."""
_RULES_REVISION = "1"
"""Raised when the rules for metadata find something else, in documents of any kind."""


def fingerprint(parsers: Mapping[str, str], recogniser: str = "") -> str:
    """Return the fingerprint of reading anything with these parsers and this recogniser ("module:Class")."""
    return ";".join(kind_fingerprint(parsers, kind, recogniser) for kind in sorted(parsers))


def kind_fingerprint(parsers: Mapping[str, str], kind: str, recogniser: str = "") -> str:
    """Return the fingerprint of reading documents of one kind."""
    words = f"{kind}={parsers.get(kind, '')}/{_REVISIONS.get(kind, _FIRST_REVISION)}.{_RULES_REVISION}"
    return f"{words}+{recogniser}/{_PICTURES_REVISION}" if recogniser and kind in PICTURED else words


def item_fingerprint(parsers: Mapping[str, str], item: SourceItem, recogniser: str = "") -> str:
    """Return the fingerprint of reading one item; DocumentError when its kind cannot be told."""
    return kind_fingerprint(parsers, item.kind or kind_of(item.data, item.name), recogniser)


async def read(item: SourceItem, pool: ParserPool) -> ParsedDocument:
    """Return the parsed document of a source item; DocumentError when it cannot be read."""
    # Telling the kind reads zip directories and up to a MiB of text: too long for the event loop.
    kind = item.kind or await asyncio.to_thread(kind_of, item.data, item.name)
    return _held(item, await pool.parse(kind, item.data, item.name))


def _held(item: SourceItem, parsed: ParsedDocument) -> ParsedDocument:
    hold(parsed)
    return replace(parsed, warnings=(*parsed.warnings, *item.warnings)) if item.warnings else parsed


async def read_each(items: Sequence[SourceItem], pool: ParserPool) -> list[ParsedDocument | DocumentError]:
    """Return the parsed documents of several items in their order; what cannot be read comes as its error."""
    if all(pool.is_short(item.kind, item.data) for item in items):
        found = await pool.parse_short([(item.kind, item.data, item.name) for item in items])
        return [_held_or_error(item, parsed) for item, parsed in zip(items, found, strict=True)]
    return await asyncio.gather(*(_read_or_error(item, pool) for item in items))


def _held_or_error(item: SourceItem, parsed: ParsedDocument | DocumentError) -> ParsedDocument | DocumentError:
    try:
        return parsed if isinstance(parsed, DocumentError) else _held(item, parsed)
    except DocumentError as error:
        return error


async def _read_or_error(item: SourceItem, pool: ParserPool) -> ParsedDocument | DocumentError:
    try:
        return await read(item, pool)
    except DocumentError as error:
        return error


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
