"""Pieces of equal size whatever the text says: the yardstick that other strategies are measured against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kaijuan.core.documents import Block, ChunkLevel
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.measure import Ruler, safe_cut
from kaijuan.ingest.chunkers.units import strategy_mark, window_cut
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings


class FixedChunker:
    """Cuts after every `child_tokens` tokens, between words where there is a blank near, and overlaps nothing."""

    overlap = False
    name = "fixed"

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings
        share = settings.child_overlap if self.overlap else 0.0
        self._back = min(int(settings.child_tokens * share), settings.child_tokens // 2)

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes."""
        return strategy_mark(self.name, 1, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        drafts: list[ChunkDraft] = []
        if not blocks:
            return drafts
        at, end = blocks[0].span.start, blocks[-1].span.end
        while at < end:
            limit = self._settings.window_chars
            stop = end if end - at <= limit else window_cut(text, at, at + limit)
            ruler = Ruler(text, Span(at, stop), tokenizer)
            for parent in self._cut(text, Span(at, stop), ruler, self._settings.parent_tokens, 0):
                children = list(self._cut(text, parent, ruler, self._settings.child_tokens, self._back))
                drafts.extend(_drafts(ruler, parent, children, len(drafts), blocks))
            at = stop
        return drafts

    def _cut(self, text: str, span: Span, ruler: Ruler, tokens: int, back: int) -> Iterator[Span]:
        whole = trim(text, span)
        start = at = whole.start
        while at < whole.end:
            cut = ruler.after(start, tokens)
            end = whole.end if cut is None or cut >= whole.end else _word_end(text, at, cut)
            made = trim(text, Span(start, end))
            if len(made):
                yield made
            at = end
            # One token less: the token on the border may count on both sides.
            start = max(ruler.before(at, back - 1), start + 1) if back > 1 else at
            start = min(safe_cut(text, start, made.start), at) if start < at else at


class SlidingChunker(FixedChunker):
    """A window of `child_tokens` tokens moved on so that each begins with the end of the one before it."""

    overlap = True
    name = "sliding"


def _word_end(text: str, floor: int, cut: int) -> int:
    """Move a cut back behind the last blank near it, else to where it parts no character."""
    for at in range(cut, max(floor, cut - 32), -1):
        if text[at - 1].isspace():
            return at
    return max(safe_cut(text, cut, floor), floor + 1)


def _drafts(
    ruler: Ruler, parent: Span, children: Sequence[Span], position: int, blocks: Sequence[Block]
) -> Iterator[ChunkDraft]:
    tokens = ruler.count(parent.start, parent.end)
    path = path_at(blocks, parent.start)
    yield ChunkDraft(level=ChunkLevel.PARENT, span=parent, parent=None, title_path=path, tokens=tokens)
    for span in children:
        yield ChunkDraft(
            level=ChunkLevel.CHILD,
            span=span,
            parent=position,
            title_path=path_at(blocks, span.start),
            tokens=ruler.count(span.start, span.end),
        )


def path_at(blocks: Sequence[Block], position: int) -> tuple[str, ...]:
    """Return the headings above a place, by bisection."""
    low, high = 0, len(blocks)
    while low < high:
        middle = (low + high) // 2
        if blocks[middle].span.start <= position:
            low = middle + 1
        else:
            high = middle
    return blocks[low - 1].title_path if low else ()
