"""Frequent questions: a question with its answer is one child and its own parent; the rest goes by headings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kaijuan.core.documents import Block
from kaijuan.ingest.chunkers.pairs import pairs
from kaijuan.ingest.chunkers.structural import section_units
from kaijuan.ingest.chunkers.units import Unit, always, clipped, drafts_of, strategy_mark
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

_LONGEST_TITLE = 100


class FaqChunker:
    """Cuts a document by its questions; one without questions by its headings."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes."""
        return strategy_mark("faq", 1, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        return drafts_of(text, list(_units(text, blocks)), tokenizer, self._settings)


def _units(text: str, blocks: Sequence[Block]) -> Iterator[Unit]:
    at = 0
    end = blocks[-1].span.end if blocks else 0
    for number, pair in enumerate(pairs(text, blocks)):
        yield from section_units(text, clipped(text, blocks, at, pair.span.start), leads=True)
        inside = clipped(text, blocks, pair.span.start, pair.span.end)
        # Pieces of a long answer are found by the question too.
        keeps = always(pair.question[:_LONGEST_TITLE].strip())
        yield Unit(span=pair.span, path=pair.path, blocks=tuple(inside), parent=number, keeps=keeps)
        at = pair.span.end
    yield from section_units(text, clipped(text, blocks, at, end))
