"""What later pieces of a long table or list are found by: its columns, or the sentence that announces it (spec C3).

The last entry of their title path, whatever strategy cut them: searched and embedded with the piece, never copied into
its text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kaijuan.core.documents import Block, BlockKind, ChunkLevel
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.atomic import columns_of, lead_in_of, leading
from kaijuan.ingest.ports import ChunkDraft


def kept(text: str, blocks: Sequence[Block], drafts: Sequence[ChunkDraft]) -> list[ChunkDraft]:
    """Return the drafts, with the heads of tables and lists on the children that begin within them. Linear."""
    children = [at for at, draft in enumerate(drafts) if draft.level is ChunkLevel.CHILD]
    starts = [drafts[at].span.start for at in children]
    made = list(drafts)
    for span, group in _structures(blocks):
        first, last = bisect_right(starts, span.start), bisect_left(starts, span.end)
        if first >= last:
            continue  # whole
        is_table = group[-1].kind is BlockKind.TABLE
        head = columns_of(text, group) if is_table else lead_in_of(text, [*leading(text, group[:1]), *group[1:]])
        for at in children[first:last] if head else ():
            path = made[at].title_path
            made[at] = replace(made[at], title_path=path if path[-1:] == (head,) else (*path, head))
    return made


def _structures(blocks: Sequence[Block]) -> Iterator[tuple[Span, list[Block]]]:
    """Yield every table and list with its span; a list after the block before it, which may announce it."""
    at = 0
    while at < len(blocks):
        block = blocks[at]
        end = at + 1
        if block.kind is BlockKind.TABLE:
            yield block.span, [block]
        elif block.kind is BlockKind.LIST:
            # Some parsers give a block for each item.
            while end < len(blocks) and blocks[end].kind is BlockKind.LIST:
                end += 1
            if at:
                yield Span(block.span.start, blocks[end - 1].span.end), list(blocks[at - 1 : end])
        at = end
