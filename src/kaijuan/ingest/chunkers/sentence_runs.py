"""Sections as runs of sentences and whole blocks: what strategies choose borders between that go by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import ATOMIC_KINDS, Block, BlockKind
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.sections import Section, sections
from kaijuan.ingest.chunkers.split import sentence_cuts
from kaijuan.ingest.chunkers.units import clipped, window_cut

_MOST = 4_000
"""Sentences of one window; in longer ones several are taken as one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A section, or a window of a long one, as sentences and whole blocks."""

    section: Section
    items: tuple[Span, ...]


def runs_of(text: str, blocks: Sequence[Block], limit: int) -> Iterator[Run]:
    """Yield the sections of blocks that are not blank, in windows of at most `limit` characters."""
    for section in sections(blocks):
        yield from _windows(text, section, limit)


def _windows(text: str, section: Section, limit: int) -> Iterator[Run]:
    at, end = section.blocks[0].span.start, section.blocks[-1].span.end
    while at < end:
        stop = end if end - at <= limit else window_cut(text, at, at + limit)
        items = list(_items(text, clipped(text, section.blocks, at, stop)))
        if items:
            step = -(-len(items) // _MOST)
            groups = [items[first : first + step] for first in range(0, len(items), step)]
            yield Run(section=section, items=tuple(Span(group[0].start, group[-1].end) for group in groups))
        at = stop


def _items(text: str, blocks: Sequence[Block]) -> Iterator[Span]:
    """Yield sentences, and blocks that are not prose whole; headings with what follows them."""
    head: int | None = None
    end = 0
    for block in blocks:
        if block.kind is BlockKind.HEADING:
            head, end = (block.span.start if head is None else head), block.span.end
            continue
        cuts = [] if block.kind in ATOMIC_KINDS else sentence_cuts(text, block.span)
        for start, stop in zip([block.span.start, *cuts], [*cuts, block.span.end], strict=True):
            inner = trim(text, Span(start, stop))
            if len(inner):
                yield inner if head is None else Span(head, inner.end)
                head = None
    if head is not None:
        yield Span(head, end)
