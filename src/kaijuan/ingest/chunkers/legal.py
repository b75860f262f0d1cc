"""Statutes and contracts: an article is a child with its number as title; parents never leave their chapter or section.

An article that is too long is cut between its paragraphs (款), then its items (项, 目), then sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kaijuan.core.documents import Block
from kaijuan.ingest.chunkers.articles import articles
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.split import Cuts, clause_cuts, line_cuts, matches, sentence_cuts
from kaijuan.ingest.chunkers.structural import section_units
from kaijuan.ingest.chunkers.units import Unit, clipped, drafts_of, strategy_mark
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

_ITEM = r"[（(][一二三四五六七八九十百\d]{1,4}[)）]|\([a-z]{1,5}\)|\d{1,3}[.．、](?!\d)|[①-⑳]"
_PARAGRAPH = matches(rf"\n+(?![^\S\n]*(?:{_ITEM}))")
_FIRST_ITEM = matches(r"\n(?=[^\S\n]*(?:[（(][一二三四五六七八九十百]{1,4}[)）]|\([a-z]{1,3}\)))")
_LEVELS: tuple[Cuts, ...] = (_PARAGRAPH, _FIRST_ITEM, line_cuts, sentence_cuts, clause_cuts)


class LegalChunker:
    """Cuts a document by its articles; one without articles by its headings."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes."""
        return strategy_mark("legal", 2, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        return kept(text, blocks, drafts_of(text, list(_units(text, blocks)), tokenizer, self._settings))


def _units(text: str, blocks: Sequence[Block]) -> Iterator[Unit]:
    found = articles(text, blocks)
    if not found:
        yield from section_units(text, blocks)
        return
    first = found[0].span.start
    yield from section_units(text, clipped(text, blocks, 0, first), leads=True)
    for article in found:
        yield Unit(span=article.span, path=(*article.above, article.name), levels=_LEVELS, parent=article.above)
