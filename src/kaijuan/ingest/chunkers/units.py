"""From units (an article, a pair, a function, some rows) to parents and children, whatever found the units."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kaijuan.core.documents import Block, ChunkLevel
from kaijuan.core.ids import stable_id
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.measure import Ruler, safe_cut
from kaijuan.ingest.chunkers.split import Cuts, Piece, grouped, piece_groups, split_section, split_span
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What should be one child. Units of a document follow each other and leave out nothing but white space."""

    span: Span
    path: Path
    levels: tuple[Cuts, ...] = ()
    """Where one that is too long may be cut, best first."""
    blocks: tuple[Block, ...] = ()
    """Where there are no levels: one that is too long is cut by the rules for the kinds of its blocks, whose
    headings and lead-ins stay with what follows them."""
    parent: Path | int = ()
    """Units in a row with the same key may share a parent."""
    joins: bool = False
    """Whether a small one may be put together with small neighbours of its parent."""
    leads: bool = False
    """Whether a very small one (a title, the name of a group) goes with the unit after it, which it announces."""
    keeps: Callable[[int], Path] | None = None
    """What a later piece of a long unit needs from before it, by the place where it begins (the columns of a table,
    the head of a function): the last entries of its title path, where they are searched and embedded with the piece
    but are no part of its text.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class _Child:
    span: Span
    tokens: int
    path: Path
    parent: Path | int


def drafts_of(text: str, units: Sequence[Unit], tokenizer: Tokenizer, sizes: CutSettings) -> list[ChunkDraft]:
    """Return parents, each followed by its children, in reading order. Linear in the length of `text`."""
    drafts: list[ChunkDraft] = []
    for window in _windows(text, units, sizes.window_chars):
        ruler = Ruler(text, Span(window[0].span.start, window[-1].span.end), tokenizer)
        children = [child for unit in _joined(window, ruler, sizes) for child in _children(text, unit, ruler, sizes)]
        for family in _families(children, ruler, sizes):
            drafts.extend(_drafts(text, family, ruler, len(drafts)))
    return drafts


def _windows(text: str, units: Sequence[Unit], limit: int) -> Iterator[list[Unit]]:
    """Yield runs of units with at most `limit` characters; a unit longer than that is cut."""
    run: list[Unit] = []
    for unit in units:
        for part in _within(text, unit, limit):
            if run and part.span.end - run[0].span.start > limit:
                yield run
                run = []
            run.append(part)
    if run:
        yield run


def _within(text: str, unit: Unit, limit: int) -> Iterator[Unit]:
    span = trim(text, unit.span)
    if span.start == span.end:
        return
    at = span.start
    while span.end - at > limit:
        cut = window_cut(text, at, at + limit)
        yield replace(unit, span=Span(at, cut))
        at = cut
    yield replace(unit, span=trim(text, Span(at, span.end)))


def window_cut(text: str, start: int, end: int) -> int:
    """Return the best place to end a window near `end`: after a blank line, a line, a sentence, a blank."""
    floor = end - (end - start) // 8
    for mark in ("\n\n", "\n", "。", ". ", " "):
        at = text.rfind(mark, floor, end)
        if at >= 0:
            return at + len(mark)
    return safe_cut(text, end, floor)


def _joined(units: Sequence[Unit], ruler: Ruler, sizes: CutSettings) -> Iterator[Unit]:
    """Put small neighbours that may join together, as long as they stay at the aimed size."""
    held: Unit | None = None
    for unit in units:
        if held is None:
            held = unit
            continue
        both = Span(held.span.start, unit.span.end)
        size = ruler.count(both.start, both.end)
        alike = held.joins and unit.joins and held.parent == unit.parent
        if alike and size <= sizes.child_tokens:
            held = replace(held, span=both, path=common((held.path, unit.path)))
        elif (
            held.leads
            and size <= sizes.max_tokens
            and ruler.count(held.span.start, held.span.end) <= sizes.child_tokens // 8
        ):
            held = replace(unit, span=both)
        else:
            yield held
            held = unit
    if held is not None:
        yield held


def _children(text: str, unit: Unit, ruler: Ruler, sizes: CutSettings) -> list[_Child]:
    tokens = ruler.count(unit.span.start, unit.span.end)
    if tokens <= sizes.max_tokens:
        return [_Child(span=unit.span, tokens=tokens, path=unit.path, parent=unit.parent)]
    pieces = _pieces(text, unit, ruler, sizes)

    made: list[_Child] = []
    for first, end in piece_groups(pieces, ruler, target=sizes.child_tokens, cap=sizes.max_tokens):
        span = trim(text, Span(pieces[first].span.start, pieces[end - 1].span.end))
        if span.start == span.end:
            continue
        path = (*unit.path, *unit.keeps(span.start)) if unit.keeps and made else unit.path
        tokens = ruler.count(span.start, span.end)
        made.append(_Child(span=span, tokens=tokens, path=path, parent=unit.parent))
    return made


def _pieces(text: str, unit: Unit, ruler: Ruler, sizes: CutSettings) -> list[Piece]:
    if unit.levels:
        parts = split_span(text, unit.span, ruler, levels=unit.levels, limit=sizes.child_tokens)
        return [Piece(span=part, tokens=ruler.count(part.start, part.end)) for part in parts]
    return split_section(text, clipped(text, unit.blocks, unit.span.start, unit.span.end), ruler, sizes)


def clipped(text: str, blocks: Sequence[Block], start: int, end: int) -> list[Block]:
    """Return the blocks, or the parts of blocks, that stand between two places; blank ones are left out."""
    first = bisect_right(blocks, start, key=lambda block: block.span.end)
    found: list[Block] = []
    for block in blocks[first:]:
        if block.span.start >= end:
            break
        inner = trim(text, Span(max(block.span.start, start), min(block.span.end, end)))
        if len(inner):
            found.append(block if inner == block.span else replace(block, span=inner))
    return found


def _families(children: Sequence[_Child], ruler: Ruler, sizes: CutSettings) -> Iterator[list[_Child]]:
    """Yield the children of each parent: neighbours with one key, in parts of near equal size."""
    at = 0
    while at < len(children):
        end = at + 1
        while end < len(children) and children[end].parent == children[at].parent:
            end += 1
        run = children[at:end]

        def size(first: int, end: int, run: Sequence[_Child] = run) -> int:
            return ruler.count(run[first].span.start, run[end - 1].span.end)

        for first, stop in grouped(
            len(run), size, lambda at: at, target=sizes.parent_tokens, cap=max(sizes.parent_tokens, sizes.max_tokens)
        ):
            yield list(run[first:stop])
        at = end


def _drafts(text: str, family: Sequence[_Child], ruler: Ruler, position: int) -> Iterator[ChunkDraft]:
    whole = trim(text, Span(family[0].span.start, family[-1].span.end))
    path = common([child.path for child in family])
    tokens = ruler.count(whole.start, whole.end)
    yield ChunkDraft(level=ChunkLevel.PARENT, span=whole, parent=None, title_path=path, tokens=tokens)
    for child in family:
        yield ChunkDraft(
            level=ChunkLevel.CHILD, span=child.span, parent=position, title_path=child.path, tokens=child.tokens
        )


def always(kept: str) -> Callable[[int], Path] | None:
    """Return what gives every later piece one entry; None when there is nothing to give."""
    return (lambda _place: (kept,)) if kept else None


def strategy_mark(name: str, version: int, sizes: CutSettings) -> str:
    """Return a chunker's fingerprint: name, version and a digest of the sizes."""
    digest = stable_id("chunker", sizes.model_dump_json(include=set(CutSettings.model_fields)))
    return f"{name}-{version}-{digest[:12]}"


def common(paths: Sequence[Path]) -> Path:
    """Return the beginning that all paths share."""
    if not paths:
        return ()
    low, high = min(paths), max(paths)
    for depth, title in enumerate(low):
        if depth >= len(high) or high[depth] != title:
            return low[:depth]
    return low
