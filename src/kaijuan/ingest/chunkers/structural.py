"""By headings alone: a section is a child, and sections below one top-level title share parents up to the limit.

Unlike `recursive`, small neighbouring sections are never put together: what is found is one section and its title.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kaijuan.core.documents import Block
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.sections import sections, shared_depth
from kaijuan.ingest.chunkers.units import Unit, drafts_of, strategy_mark
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings


class StructuralChunker:
    """Cuts a document at its headings, and long sections by the rules for their blocks."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes."""
        return strategy_mark("structural", 2, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        return kept(text, blocks, drafts_of(text, list(section_units(text, blocks)), tokenizer, self._settings))


def section_units(text: str, blocks: Sequence[Block], *, leads: bool = False) -> Iterator[Unit]:
    """Yield the sections of blocks as units, blank blocks left out. `leads` where other units follow."""
    filled = [block for block in blocks if block.span.of(text).strip()]
    depth = shared_depth(filled) + 1
    for section in sections(filled):
        span = Span(section.blocks[0].span.start, section.blocks[-1].span.end)
        yield Unit(span=span, path=section.path, blocks=section.blocks, parent=section.path[:depth], leads=leads)
