"""From blocks to pieces: the smallest spans a chunk is put together from, cut at the best border that fits."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kaijuan.core.documents import ATOMIC_KINDS, Block, BlockKind
from kaijuan.core.spans import Span
from kaijuan.core.text.sentences import sentences
from kaijuan.ingest.chunkers.measure import Ruler, after_number, before_number, in_number, safe_cut
from kaijuan.ingest.settings import CutSettings

Cuts = Callable[[str, Span], list[int]]
"""Where a span may be cut at one level, as positions strictly inside it."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n+")
_ITEM = re.compile(
    r"\n(?=[^\S\n]*(?:[-*+•·●○▪◦]|\d{1,3}[.)、．）](?!\d)|[(（][^()（）\n]{1,4}[)）]|[a-zA-Z][.)])\s*\S)"
)
_CELL = re.compile(r"\t+|(?<=\S)[^\S\n]*\|")
# A comma or colon inside a number, time or address is no border, neither where a line end tore it (1,\n343).
_CLAUSE = re.compile(
    r"(?:(?<![，、；：])[，、；：]++|(?<![,;:])[,;:]++(?=[^\x00-\x7f]|\s))(?:(?<!\d.)|(?!\s*+\d))\s*+"
    r"|(?<![—…])[—…]{2,}+\s*+"
)
_LEAD_IN = re.compile(r"[:：]\s*\Z")


@dataclass(slots=True, kw_only=True)
class Piece:
    """A span with its size. `sticky` pieces (headings, lead-ins) must not end a chunk when anything follows."""

    span: Span
    tokens: int
    sticky: bool = False
    prose: bool = True


def _at(pattern: re.Pattern[str]) -> Cuts:
    def cuts(text: str, span: Span) -> list[int]:
        found = (match.end() for match in pattern.finditer(text, span.start, span.end))
        return [at for at in found if span.start < at < span.end]

    return cuts


def matches(pattern: str) -> Cuts:
    """Return the level of cuts at the ends of what a pattern matches."""
    return _at(re.compile(pattern))


def _sentence_cuts(text: str, span: Span) -> list[int]:
    found = (sentence.start + span.start for sentence in sentences(span.of(text)))
    return [at for at in found if span.start < at < span.end]


blank_line_cuts: Cuts = _at(_BLANK_LINE)
line_cuts: Cuts = _at(_LINE)
item_cuts: Cuts = _at(_ITEM)
clause_cuts: Cuts = _at(_CLAUSE)
sentence_cuts: Cuts = _sentence_cuts
_PROSE: tuple[Cuts, ...] = (_at(_BLANK_LINE), _sentence_cuts, _at(_LINE), clause_cuts)
_LEVELS: dict[BlockKind, tuple[Cuts, ...]] = {
    BlockKind.TABLE: (_at(_LINE), _at(_CELL), _sentence_cuts, clause_cuts),
    BlockKind.CODE: (_at(_BLANK_LINE), _at(_LINE)),
    BlockKind.FORMULA: (_at(_LINE),),
    BlockKind.LIST: (_at(_ITEM), *_PROSE[1:]),
}


def split_span(text: str, span: Span, ruler: Ruler, *, levels: Sequence[Cuts], limit: int) -> list[Span]:
    """Cut `span` into parts of at most `limit` tokens, each level only where the one before it left too much."""
    if ruler.count(span.start, span.end) <= limit:
        return [span]
    for depth, level in enumerate(levels):
        if cuts := level(text, span):
            rest = levels[depth + 1 :]
            borders = [span.start, *cuts, span.end]
            parts = (Span(a, b) for a, b in itertools.pairwise(borders))
            return [small for part in parts for small in split_span(text, part, ruler, levels=rest, limit=limit)]
    return _cut_evenly(text, span, ruler, limit)


def _cut_evenly(text: str, span: Span, ruler: Ruler, limit: int) -> list[Span]:
    """Cut where nothing separates: at blanks where there are any, else at token borders; parts of equal size."""
    parts: list[Span] = []
    at = span.start
    left = ruler.count(at, span.end)
    while left > limit:
        goal = -(-left // -(-left // limit))
        cut = ruler.after(at, goal)
        if cut is None or cut >= span.end:
            break
        cut = _blank_before(text, at, cut) or _whole_number(text, at, cut, ruler, limit)
        parts.append(Span(at, cut))
        at = cut
        left = ruler.count(at, span.end)
    parts.append(Span(at, span.end))
    return parts


def _whole_number(text: str, start: int, cut: int, ruler: Ruler, limit: int) -> int:
    """Return the cut moved out of a number: before it, or behind it where it begins the part and still fits."""
    moved = before_number(text, cut, start)
    if in_number(text, moved):
        behind = after_number(text, cut)
        moved = behind if ruler.count(start, behind) <= limit else cut
    return max(safe_cut(text, moved, start), start + 1)


def _blank_before(text: str, start: int, cut: int) -> int | None:
    """Return the place after the last blank in the last third of `start` to `cut`."""
    floor = cut - (cut - start) // 3
    for at in range(cut, max(floor, cut - 200), -1):
        if text[at - 1].isspace():
            return at
    return None


def split_section(text: str, blocks: Sequence[Block], ruler: Ruler, settings: CutSettings) -> list[Piece]:
    """Return the pieces of one section in order, without gaps between the first and the last but white space."""
    pieces: list[Piece] = []
    for group in _joined_lists(blocks):
        if group.kind is BlockKind.HEADING:
            pieces.extend(_heading(text, group.span, ruler, settings, stuck=sticky_tokens(pieces)))
            continue
        if group.kind in ATOMIC_KINDS:
            _stick_lead_in(text, pieces, ruler, settings)
        pieces.extend(_block(text, group, ruler, settings, room=settings.max_tokens - sticky_tokens(pieces)))
    return pieces


@dataclass(frozen=True, slots=True)
class _Group:
    kind: BlockKind
    span: Span


def _joined_lists(blocks: Sequence[Block]) -> list[_Group]:
    """Treat neighbouring list blocks as one list: some parsers give a block for each item."""
    groups: list[_Group] = []
    for block in blocks:
        if groups and block.kind is BlockKind.LIST and groups[-1].kind is BlockKind.LIST:
            groups[-1] = _Group(BlockKind.LIST, Span(groups[-1].span.start, block.span.end))
        else:
            groups.append(_Group(block.kind, block.span))
    return groups


def sticky_tokens(pieces: Sequence[Piece]) -> int:
    """Return the size of the sticky run at the end of `pieces`."""
    total = 0
    for piece in reversed(pieces):
        if not piece.sticky:
            break
        total += piece.tokens
    return total


def _heading(text: str, span: Span, ruler: Ruler, settings: CutSettings, *, stuck: int) -> list[Piece]:
    """A heading leads what follows; one too long for that is a wrongly marked paragraph and is cut like one."""
    most = settings.child_tokens // 2
    tokens = ruler.count(span.start, span.end)
    if stuck + tokens <= most:
        return [Piece(span=span, tokens=tokens, sticky=True)]
    parts = split_span(text, span, ruler, levels=_PROSE, limit=settings.max_tokens - stuck)
    made = [Piece(span=part, tokens=ruler.count(part.start, part.end)) for part in parts]
    made[-1].sticky = made[-1].tokens <= most and len(made) > 1
    return made


def _stick_lead_in(text: str, pieces: list[Piece], ruler: Ruler, settings: CutSettings) -> None:
    """Tie the sentence that announces a list or table ("as follows:") to it."""
    if not pieces or pieces[-1].sticky or not pieces[-1].prose:
        return
    last = pieces[-1]
    if not _LEAD_IN.search(text, max(last.span.start, last.span.end - 8), last.span.end):
        return
    cuts = _sentence_cuts(text, last.span)
    start = cuts[-1] if cuts else last.span.start
    tokens = ruler.count(start, last.span.end)
    if tokens + (0 if cuts else sticky_tokens(pieces[:-1])) > settings.child_tokens // 2:
        return
    pieces.pop()
    if cuts:
        before = Span(last.span.start, start)
        pieces.append(Piece(span=before, tokens=ruler.count(before.start, before.end)))
    pieces.append(Piece(span=Span(start, last.span.end), tokens=tokens, sticky=True))


def _block(text: str, group: _Group, ruler: Ruler, settings: CutSettings, *, room: int) -> list[Piece]:
    """Atomic blocks stay whole up to the hard limit (spec C3), prose up to the aimed size."""
    span = group.span
    prose = group.kind not in ATOMIC_KINDS or group.kind is BlockKind.LIST
    tokens = ruler.count(span.start, span.end)
    if tokens <= room and group.kind in ATOMIC_KINDS:
        return [Piece(span=span, tokens=tokens, prose=prose)]
    levels = _LEVELS.get(group.kind, _PROSE)
    parts = split_span(text, span, ruler, levels=levels, limit=max(1, min(settings.child_tokens, room)))
    return [Piece(span=part, tokens=ruler.count(part.start, part.end), prose=prose) for part in parts]


def grouped(
    count: int, size: Callable[[int, int], int], leads: Callable[[int], int], *, target: int, cap: int
) -> list[tuple[int, int]]:
    """Group `count` items in order so that groups stay at or under `target` and near equal; return index ranges.

    `size(first, end)` measures a group. `leads(at)` is where a group that begins with item `at` has to begin
    (before its heading); followed unless the group would pass `cap`. Items over `target` are groups of their own.
    """
    whole = size(0, count) if count else 0
    if count and whole <= min(target * 6 // 5, cap):
        # Two halves of what is hardly too long would both be short.
        return [(0, count)]
    goal = whole / max(1, -(-whole // target))
    ranges: list[tuple[int, int]] = []
    first = 0
    for at in range(1, count):
        before, after = size(first, at), size(first, at + 1)
        if after <= target and after - goal <= goal - before:
            continue
        start = leads(at)
        if start > first and size(start, at + 1) <= cap:
            ranges.append((first, start))
            first = start
        elif after > cap or start > first:
            ranges.append((first, at))
            first = at
    return [*ranges, (first, count)] if count else []


def piece_groups(pieces: Sequence[Piece], ruler: Ruler, *, target: int, cap: int) -> list[tuple[int, int]]:
    """Group pieces in order as `grouped` does, each sticky one with what follows it; return index ranges."""

    def size(first: int, end: int) -> int:
        return ruler.count(pieces[first].span.start, pieces[end - 1].span.end)

    def leads(at: int) -> int:
        while at > 0 and pieces[at - 1].sticky:
            at -= 1
        return at

    return grouped(len(pieces), size, leads, target=target, cap=cap)
