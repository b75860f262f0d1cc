"""Sentences to search, the sentences around them to read: precise hits at the price of many points."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kaijuan.core.documents import ATOMIC_KINDS, Block, BlockKind, ChunkLevel
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.measure import Ruler, Rulers
from kaijuan.ingest.chunkers.sections import Section, sections
from kaijuan.ingest.chunkers.split import Cuts, Piece, clause_cuts, sentence_cuts, split_section, split_span
from kaijuan.ingest.chunkers.units import Path, clipped, strategy_mark, window_cut
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

_AROUND = 3
"""Sentences before and after one that are read with it."""
_TOKENS_A_BLANK = 4
"""At most: one for each of its bytes."""


class _Child(NamedTuple):
    """A sentence with its tokens, from `first` to before `stop`, so that windows are measured by subtraction."""

    span: Span
    first: int
    stop: int

    @property
    def tokens(self) -> int:
        return max(0, self.stop - self.first)


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
            at = 0
            for window, run in itertools.groupby(self._windows(children)):
                end = at + sum(1 for _ in run)
                _add(drafts, children, window, range(at, end), path)
                at = end
        return kept(text, blocks, drafts)

    def _sentences(self, text: str, blocks: Sequence[Block], ruler: Ruler) -> Iterator[_Child]:
        """Yield the sentences; a heading goes with the first of them, tables, code and lists by their own rules."""
        head: int | None = None
        for block in blocks:
            if block.kind is BlockKind.HEADING:
                head = block.span.start if head is None else head
                continue
            for piece in self._pieces(text, block, ruler):
                if head is None:
                    yield piece
                elif ruler.count(head, piece.span.end) <= self._settings.max_tokens:
                    yield _child(Span(head, piece.span.end), ruler)
                else:
                    yield from self._headings(text, Span(head, piece.span.start), ruler)
                    yield piece
                head = None
        if head is not None:
            yield from self._headings(text, Span(head, blocks[-1].span.end), ruler)

    def _headings(self, text: str, span: Span, ruler: Ruler) -> Iterator[_Child]:
        yield from self._short(text, span, ruler, (sentence_cuts, clause_cuts))

    def _pieces(self, text: str, block: Block, ruler: Ruler) -> Iterator[_Child]:
        if block.kind in ATOMIC_KINDS:
            found: list[Piece] = split_section(text, [block], ruler, self._settings)
            for piece in found:
                if len(inner := trim(text, piece.span)):
                    yield _child(inner, ruler)
            return
        borders = [block.span.start, *sentence_cuts(text, block.span), block.span.end]
        for start, end in itertools.pairwise(borders):
            yield from self._short(text, Span(start, end), ruler, (clause_cuts,))

    def _short(self, text: str, span: Span, ruler: Ruler, levels: Sequence[Cuts]) -> Iterator[_Child]:
        """Yield a span without the blanks around it; in parts where it is too long."""
        inner = trim(text, span)
        if not len(inner):
            return
        whole = _child(inner, ruler)
        if whole.tokens + _TOKENS_A_BLANK * (len(span) - len(inner)) <= self._settings.max_tokens:
            yield whole
            return
        for part in split_span(text, span, ruler, levels=levels, limit=self._settings.max_tokens):
            if len(inner := trim(text, part)):
                yield _child(inner, ruler)

    def _windows(self, children: Sequence[_Child]) -> Iterator[tuple[int, int]]:
        """Yield the first and last sentence of each one's window, which grows to both sides as long as it stays within
        a parent."""
        most, end = self._settings.parent_tokens, len(children) - 1
        before = (0, 0)
        for at in range(len(children)):
            first, last = max(at - _AROUND, 0), min(at + _AROUND, end)
            whole = children[last].stop - children[first].first <= most
            if not whole:
                first = last = at
            for step in range(1, 0 if whole else _AROUND + 1):
                for a, b in ((max(at - step, 0), last), (first, min(at + step, end))):
                    if children[b].stop - children[a].first <= most:
                        first, last = min(first, a), max(last, b)
            # Windows only move on, so that equal ones follow each other; part of the last window is short enough too.
            before = max(first, before[0]), max(last, before[1])
            yield before


def _child(span: Span, ruler: Ruler) -> _Child:
    return _Child(span, *ruler.place(span.start, span.end))


def _parts(text: str, section: Section, limit: int) -> Iterator[list[Block]]:
    at, end = section.blocks[0].span.start, section.blocks[-1].span.end
    while at < end:
        stop = end if end - at <= limit else window_cut(text, at, at + limit)
        if part := clipped(text, section.blocks, at, stop):
            yield part
        at = stop


def _add(
    drafts: list[ChunkDraft], children: Sequence[_Child], window: tuple[int, int], inside: range, path: Path
) -> None:
    """Add a window and the sentences that it is read with."""
    first, last = children[window[0]], children[window[1]]
    span, tokens = Span(first.span.start, last.span.end), max(0, last.stop - first.first)
    position = len(drafts)
    drafts.append(ChunkDraft(level=ChunkLevel.PARENT, span=span, parent=None, title_path=path, tokens=tokens))
    drafts.extend(
        ChunkDraft(
            level=ChunkLevel.CHILD,
            span=children[at].span,
            parent=position,
            title_path=path,
            tokens=children[at].tokens,
        )
        for at in inside
    )
