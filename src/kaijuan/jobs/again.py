"""A version read back as its parser once gave it: cutting it anew needs no parsing."""

from __future__ import annotations

from kaijuan import telemetry
from kaijuan.core.documents import Block, ParsedBlock, ParsedDocument, Version
from kaijuan.index.catalog import Catalog
from kaijuan.index.ports import BlobStore
from kaijuan.index.write import UNREADABLE


async def stored_document(catalog: Catalog, blobs: BlobStore, version: Version) -> ParsedDocument | None:
    """Return the document of a version from its blocks and text; None when the text cannot be read.

    What the parser warned of is part of the version. What it saw but nobody sees (`hidden`) is not: the gate has looked
    at it when the version was made.
    """
    try:
        text = (await blobs.get(version.text_hash)).decode()
    except UNREADABLE as error:
        telemetry.event("prepare.unreadable", version=version.id, source=version.source, code=error.code)
        return None
    blocks = await catalog.blocks_of(version.id)
    return ParsedDocument(
        text=text,
        blocks=tuple(_parsed(block) for block in blocks),
        kind=version.kind,
        title=version.title,
        pages=version.pages,
        metadata=version.metadata,
        warnings=version.warnings,
    )


def _parsed(block: Block) -> ParsedBlock:
    return ParsedBlock(
        kind=block.kind,
        span=block.span,
        level=block.level,
        title_path=block.title_path,
        lines=block.lines,
        confidence=block.confidence,
        pages=block.pages,
        place=block.place,
        syntax=block.syntax,
        table=block.table,
    )
