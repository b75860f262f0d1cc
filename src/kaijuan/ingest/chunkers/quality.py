"""How well one document is cut: sizes, structures and sentences that were parted, what no chunk covers (spec C7)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from kaijuan.core.chunk_work import ALIAS
from kaijuan.core.documents import ATOMIC_KINDS, Block, BlockKind, ChunkLevel
from kaijuan.core.spans import Span, uncovered

_ENDS = frozenset("。！？｡；…!?.:：;\"'”’」』》)）]】>|`")
"""What the last character of a sentence, line or cell may be."""
_PIECES = frozenset({ChunkLevel.CHILD, ChunkLevel.EXCLUDED})


class Piece(Protocol):
    """A chunk, whether it has an id yet or not."""

    @property
    def level(self) -> ChunkLevel:
        """Return its granularity."""

    @property
    def span(self) -> Span:
        """Return where it stands in the text."""

    @property
    def tokens(self) -> int:
        """Return its size."""

    @property
    def origin(self) -> str:
        """Return who made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutStructure:
    """A table, code, list or formula that no chunk holds whole."""

    kind: BlockKind
    span: Span
    pieces: int
    """How many children hold a part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """What can be said of the chunks of one document."""

    tokens: tuple[int, ...]
    """Of each child, in reading order."""
    parents: int
    cut: tuple[CutStructure, ...]
    parted_sentences: int
    """Children that end within a sentence."""
    repeated: int
    """Characters that stand in two children (overlaps)."""
    content: int
    """Characters of the blocks that are not white space."""
    lost: tuple[Span, ...]
    """Parts of blocks that are in no child."""
    lost_characters: int

    @property
    def coverage(self) -> float:
        """The share of the content that can be found, from 0 to 1."""
        return 1 - self.lost_characters / self.content if self.content else 1.0


def quality_of(text: str, blocks: Sequence[Block], chunks: Sequence[Piece]) -> Quality:
    """Return the quality of the chunks of a document. Linear in its length but for sorting."""
    # A question to a passage is a way to it, not a piece of the text; what somebody excluded is not lost.
    pieces = [chunk for chunk in chunks if chunk.level in _PIECES and chunk.origin != ALIAS]
    children = [chunk for chunk in pieces if chunk.level is ChunkLevel.CHILD]
    spans = _outermost(sorted(piece.span for piece in pieces))
    lost = [gap for block in blocks for gap in _lost(text, block, spans)]
    return Quality(
        tokens=tuple(child.tokens for child in children),
        parents=sum(chunk.level is ChunkLevel.PARENT for chunk in chunks),
        cut=tuple(_cut(blocks, spans)),
        parted_sentences=sum(_parts_a_sentence(text, blocks, span) for span in spans),
        repeated=sum(max(0, a.end - b.start) for a, b in pairwise(spans)),
        content=sum(_filled(block.span.of(text)) for block in blocks),
        lost=tuple(lost),
        lost_characters=sum(_filled(gap.of(text)) for gap in lost),
    )


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """Leave out spans inside others, as only people's work makes them, so that ends rise with beginnings."""
    kept: list[Span] = []
    for span in spans:
        if kept and span.start == kept[-1].start:
            kept.pop()  # the later of two with one beginning is the longer
        if not kept or span.end > kept[-1].end:
            kept.append(span)
    return kept


def _filled(text: str) -> int:
    return sum(map(len, text.split()))


def _touching(block: Block, spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans that share characters with a block; ends rise with beginnings."""
    first = bisect_right(spans, block.span.start, key=lambda span: span.end)
    last = bisect_left(spans, block.span.end, key=lambda span: span.start)
    return spans[first:last]


def _lost(text: str, block: Block, spans: Sequence[Span]) -> Iterator[Span]:
    for gap in uncovered(block.span, _touching(block, spans)):
        if gap.of(text).strip():
            yield gap


def _cut(blocks: Sequence[Block], spans: Sequence[Span]) -> Iterator[CutStructure]:
    for block in blocks:
        if block.kind in ATOMIC_KINDS:
            touching = _touching(block, spans)
            if len(touching) > 1 and not any(span.contains(block.span) for span in touching):
                yield CutStructure(kind=block.kind, span=block.span, pieces=len(touching))


def _parts_a_sentence(text: str, blocks: Sequence[Block], span: Span) -> bool:
    at = bisect_left(blocks, span.end, key=lambda block: block.span.end)
    if at == len(blocks) or blocks[at].kind in ATOMIC_KINDS:
        return False
    block = blocks[at]
    inside = block.span.start < span.end < block.span.end and bool(text[span.end : block.span.end].strip())
    return inside and text[span.end - 1] not in _ENDS and not text[span.end : span.end + 1].startswith("\n")
