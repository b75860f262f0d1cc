"""Sentences to search, the sentences around them to read: precise hits at the price of many points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from kaijuan.core.documents import ATOMIC_KINDS, Block, BlockKind, ChunkLevel
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.measure import Ruler, Rulers
from kaijuan.ingest.chunkers.sections import Section, sections
from kaijuan.ingest.chunkers.split import Piece, clause_cuts, sentence_cuts, split_section, split_span
from kaijuan.ingest.chunkers.units import Path, clipped, strategy_mark, window_cut
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

_AROUND = 3
"""Sentences before and after one that are read with it."""


class SentenceWindowChunker:
    """A sentence is a child, its window within the section the parent. Windows overlap; equal ones are one."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes."""
        return strategy_mark("sentence_window", 2, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return windows, each followed by the sentences that are read with it, in reading order."""
        drafts: list[ChunkDraft] = []
        filled = [block for block in blocks if block.span.of(text).strip()]
        limit = self._settings.window_chars
        parts = [(section.path, part) for section in sections(filled) for part in _parts(text, section, limit)]
        spans = [Span(part[0].span.start, part[-1].span.end) for _, part in parts]
        rulers = Rulers(text, spans, tokenizer, limit)
        for span, (path, part) in zip(spans, parts, strict=True):
            ruler = rulers.over(span)
            children = list(self._sentences(text, part, ruler))
            for window, run in itertools.groupby(self._windows(children, ruler), key=lambda pair: pair[0]):
                drafts.extend(_drafts(text, window, [child for _, child in run], path, ruler, len(drafts)))
        return kept(text, blocks, drafts)

    def _sentences(self, text: str, blocks: Sequence[Block], ruler: Ruler) -> Iterator[Span]:
        """Yield the sentences; a heading goes with the first of them, tables, code and lists by their own rules."""
        head: int | None = None
        for block in blocks:
            if block.kind is BlockKind.HEADING:
                head = block.span.start if head is None else head
                continue
            for piece in self._pieces(text, block, ruler):
                if head is None:
                    yield piece
                elif ruler.count(head, piece.end) <= self._settings.max_tokens:
                    yield Span(head, piece.end)
                else:
                    yield from self._headings(text, Span(head, piece.start), ruler)
                    yield piece
                head = None
        if head is not None:
            yield from self._headings(text, Span(head, blocks[-1].span.end), ruler)

    def _headings(self, text: str, span: Span, ruler: Ruler) -> Iterator[Span]:
        for part in split_span(text, span, ruler, levels=(sentence_cuts, clause_cuts), limit=self._settings.max_tokens):
            if len(inner := trim(text, part)):
                yield inner

    def _pieces(self, text: str, block: Block, ruler: Ruler) -> Iterator[Span]:
        if block.kind in ATOMIC_KINDS:
            found: list[Piece] = split_section(text, [block], ruler, self._settings)
            spans = [piece.span for piece in found]
        else:
            borders = [block.span.start, *sentence_cuts(text, block.span), block.span.end]
            spans = [
                part
                for start, end in itertools.pairwise(borders)
                for part in split_span(
                    text, Span(start, end), ruler, levels=(clause_cuts,), limit=self._settings.max_tokens
                )
            ]
        for span in spans:
            if len(inner := trim(text, span)):
                yield inner

    def _windows(self, children: Sequence[Span], ruler: Ruler) -> Iterator[tuple[Span, Span]]:
        """Yield each sentence after its window, which grows to both sides as long as it stays within a parent."""
        before = (0, 0)
        for at, child in enumerate(children):
            first, last = max(at - _AROUND, 0), min(at + _AROUND, len(children) - 1)
            whole = ruler.count(children[first].start, children[last].end) <= self._settings.parent_tokens
            if not whole:
                first = last = at
            for step in range(1, 0 if whole else _AROUND + 1):
                for a, b in ((max(at - step, 0), last), (first, min(at + step, len(children) - 1))):
                    if ruler.count(children[a].start, children[b].end) <= self._settings.parent_tokens:
                        first, last = min(first, a), max(last, b)
            # Windows only move on, so that equal ones follow each other; part of the last window is short enough too.
            first, last = before = max(first, before[0]), max(last, before[1])
            yield Span(children[first].start, children[last].end), child


def _parts(text: str, section: Section, limit: int) -> Iterator[list[Block]]:
    at, end = section.blocks[0].span.start, section.blocks[-1].span.end
    while at < end:
        stop = end if end - at <= limit else window_cut(text, at, at + limit)
        if part := clipped(text, section.blocks, at, stop):
            yield part
        at = stop


def _drafts(
    text: str, window: Span, children: Sequence[Span], path: Path, ruler: Ruler, position: int
) -> Iterator[ChunkDraft]:
    whole = trim(text, window)
    tokens = ruler.count(whole.start, whole.end)
    yield ChunkDraft(level=ChunkLevel.PARENT, span=whole, parent=None, title_path=path, tokens=tokens)
    for child in children:
        tokens = ruler.count(child.start, child.end)
        yield ChunkDraft(level=ChunkLevel.CHILD, span=child, parent=position, title_path=path, tokens=tokens)
