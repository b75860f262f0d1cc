"""Tables and lists as units of their own: whole when short; long ones by rows or items, their beginning kept.

The columns of a long table, and the sentence that announces a long list, reach every later piece as the last entry of
its title path: searched and embedded with the piece, and never copied into its text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kaijuan.core.documents import Block, BlockKind
from kaijuan.core.spans import Span
from kaijuan.ingest.chunkers.sections import sections, shared_depth
from kaijuan.ingest.chunkers.units import Unit, always, drafts_of, strategy_mark
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

_LONGEST_KEPT = 200
_LONGEST_LEAD = 120
_LEADS = frozenset({BlockKind.HEADING, BlockKind.CAPTION})
_ANNOUNCES = re.compile(r"[:：]\s*\Z")
_RULE = re.compile(r"[^\S\n]*\|?(?:[^\S\n]*:?-+:?[^\S\n]*\|)*[^\S\n]*:?-+:?[^\S\n]*\|?[^\S\n]*(?:\n|\Z)")
Keeps = Callable[[str, Sequence[Block]], str]
"""From the blocks of a unit, the atomic one last, to what its later pieces are found by."""


class _AtomicChunker:
    kind: BlockKind
    name: str

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version and sizes."""
        return strategy_mark(self.name, 1, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order."""
        keeps = columns_of if self.kind is BlockKind.TABLE else lead_in_of
        return drafts_of(text, list(atomic_units(text, blocks, self.kind, keeps)), tokenizer, self._settings)


class TableChunker(_AtomicChunker):
    """Every table is a child with its caption, long ones by rows; other text goes by headings."""

    kind = BlockKind.TABLE
    name = "table"


class ListChunker(_AtomicChunker):
    """Every list is a child with its lead-in, long ones by items; other text goes by headings."""

    kind = BlockKind.LIST
    name = "list"


def atomic_units(text: str, blocks: Sequence[Block], kind: BlockKind, keeps: Keeps) -> Iterator[Unit]:
    """Yield sections as units, each block of `kind` a unit of its own with what announces it."""
    filled = [block for block in blocks if block.span.of(text).strip()]
    depth = shared_depth(filled) + 1
    for section in sections(filled):
        parent = section.path[:depth]
        for group in _groups(text, section.blocks, kind):
            span = Span(group[0].span.start, group[-1].span.end)
            kept = keeps(text, group) if any(block.kind is kind for block in group) else ""
            yield Unit(span=span, path=section.path, blocks=tuple(group), parent=parent, keeps=always(kept))


def _groups(text: str, blocks: Sequence[Block], kind: BlockKind) -> Iterator[list[Block]]:
    group: list[Block] = []
    for block in blocks:
        continues = kind is BlockKind.LIST and bool(group) and group[-1].kind is kind
        if block.kind is not kind:
            if group and group[-1].kind is kind:
                yield group
                group = []
        elif not continues:
            leads = leading(text, group)
            if len(leads) < len(group):
                yield group[: len(group) - len(leads)]
            group = leads
        group.append(block)
    if group:
        yield group


def leading(text: str, group: Sequence[Block]) -> list[Block]:
    """Return the blocks at the end of a group that belong to what follows: headings, captions, a lead-in."""
    at = len(group)
    while at > 0 and (group[at - 1].kind in _LEADS or _is_lead_in(text, group[at - 1])):
        at -= 1
    return list(group[at:])


def _is_lead_in(text: str, block: Block) -> bool:
    short = block.kind is BlockKind.PARAGRAPH and len(block.span) <= _LONGEST_LEAD
    return short and bool(_ANNOUNCES.search(block.span.of(text)))


def lead_in_of(text: str, group: Sequence[Block]) -> str:
    """Return the last line before a list, where it announces one."""
    before = [block for block in group if block.kind is not BlockKind.LIST]
    line = before[-1].span.of(text).rstrip().rpartition("\n")[2].strip() if before else ""
    return line if len(line) <= _LONGEST_KEPT and before and before[-1].kind is not BlockKind.HEADING else ""


def columns_of(text: str, group: Sequence[Block]) -> str:
    """Return the names of a table's columns, as its cells or its first line before a rule have them."""
    block = group[-1]
    if block.table is not None:
        header = [cell for cell in block.table.cells if cell.header]
        first = min((cell.row for cell in header), default=0)
        names = [" ".join(cell.span.of(text).split()) for cell in header if cell.row == first]
    else:
        line, _, rest = block.span.of(text).partition("\n")
        names = [cell.strip() for cell in line.strip(" |").split("|")] if _RULE.match(rest) else []
    return " | ".join(name for name in names if name)[:_LONGEST_KEPT].strip()
