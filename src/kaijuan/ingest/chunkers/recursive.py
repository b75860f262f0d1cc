"""The default chunker: by headings, then paragraphs, sentences, clauses, blanks and tokens, in Chinese and English.

Decisions. A chunk is a span, so nothing is ever copied into it: the header of a long table and the title path reach
the index as derived fields. A heading is never a chunk of its own: it leads the first chunk of its section (a
heading with nothing below it joins what stands before), and its section's path is carried on the chunk as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kaijuan.core.documents import Block, BlockKind, ChunkLevel
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.keeping import kept
from kaijuan.ingest.chunkers.measure import Ruler, in_number, safe_cut
from kaijuan.ingest.chunkers.sections import Section, sections, shared_depth
from kaijuan.ingest.chunkers.split import Piece, clause_cuts, grouped, piece_groups, sentence_cuts, split_section
from kaijuan.ingest.chunkers.units import Path, common, strategy_mark, window_cut
from kaijuan.ingest.ports import ChunkDraft, Tokenizer
from kaijuan.ingest.settings import CutSettings

NAME = "recursive"
VERSION = 3
_SENTENCE_REACH = 400
"""Characters before the overlap in which a sentence start is looked for, so that the first one found is real."""
_SENTENCE_ENDS = frozenset('。！？.!?…；;"”’』」)）')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Core:
    """A child before its overlap, and later a parent: the pieces from `start` to `end` of one or more sections."""

    start: int
    end: int
    tokens: int
    path: Path
    top: Path
    overlaps: bool
    """Whether the end of this core may be repeated at the start of the next."""


class RecursiveChunker:
    """Cuts any document; measures with the embedder's tokenizer, one call for each window of the text."""

    def __init__(self, settings: CutSettings) -> None:
        self._settings = settings

    @property
    def fingerprint(self) -> str:
        """Name, version and a digest of every size."""
        return strategy_mark(NAME, VERSION, self._settings)

    def chunk(self, text: str, blocks: Sequence[Block], tokenizer: Tokenizer) -> list[ChunkDraft]:
        """Return parents, each followed by its children, in reading order. Linear in the length of `text`."""
        drafts: list[ChunkDraft] = []
        depth = shared_depth(blocks) + 1
        for stretch in _stretches(text, blocks, self._settings.window_chars):
            window = Span(stretch[0].span.start, stretch[-1].span.end)
            ruler = Ruler(text, window, tokenizer)
            made = [
                (_core_path(section, depth), split_section(text, section.blocks, ruler, self._settings))
                for section in sections(stretch)
            ]
            for parent in self._parents(text, ruler, made):
                drafts.extend(self._drafts(text, parent, ruler, len(drafts)))
        return kept(text, blocks, drafts)

    def _parents(self, text: str, ruler: Ruler, sections: Sequence[tuple[_Paths, list[Piece]]]) -> list[list[_Core]]:
        """Return the children of each parent in order."""
        limits = self._settings
        pieces = [piece for _, made in sections for piece in made]
        start, end = pieces[0].span.start, pieces[-1].span.end
        if ruler.count(start, end) <= limits.child_tokens:
            path = common([paths.path for paths, _ in sections])
            whole = ruler.count(start, end)
            return [[_Core(start=start, end=end, tokens=whole, path=path, top=(), overlaps=False)]]
        families = [_cores(text, ruler, made, paths, limits) for paths, made in sections]
        families = _merge_small(ruler, families, limits)
        parted = [part for family in families for part in _part_family(ruler, family, limits.parent_tokens)]
        return _merge_parents(ruler, parted, limits.parent_tokens)

    def _drafts(self, text: str, cores: Sequence[_Core], ruler: Ruler, position: int) -> Iterator[ChunkDraft]:
        path = common([core.path for core in cores])
        whole = trim(text, Span(cores[0].start, cores[-1].end))
        tokens = ruler.count(whole.start, whole.end)
        yield ChunkDraft(level=ChunkLevel.PARENT, span=whole, parent=None, title_path=path, tokens=tokens)
        before: _Core | None = None
        for core in cores:
            start = self._overlap_start(text, before, core, ruler) if before else core.start
            span = trim(text, Span(start, core.end))
            tokens = ruler.count(span.start, span.end)
            yield ChunkDraft(level=ChunkLevel.CHILD, span=span, parent=position, title_path=core.path, tokens=tokens)
            before = core

    def _overlap_start(self, text: str, before: _Core, core: _Core, ruler: Ruler) -> int:
        """Go back to the earliest sentence within the budget; to a clause, or a token, where sentences are longer."""
        limits = self._settings
        # One token less: the token on the border may count on both sides.
        budget = min(int(limits.child_tokens * limits.child_overlap), limits.max_tokens - core.tokens - 1)
        if budget <= 0 or not before.overlaps or before.path != core.path:
            return core.start
        earliest = max(ruler.before(core.start, budget), before.start + 1)
        if earliest >= core.start:
            return core.start
        reach = Span(max(before.start, earliest - _SENTENCE_REACH), core.start)
        for cuts in (sentence_cuts, clause_cuts):
            for at in cuts(text, reach):
                if earliest <= at and text[at : core.start].strip():
                    return at
        if text[reach.start : reach.end].rstrip()[-1:] in _SENTENCE_ENDS:
            return core.start
        return _word_start(text, earliest, core.start)


@dataclass(frozen=True, slots=True)
class _Paths:
    path: Path
    top: Path


def _core_path(section: Section, depth: int) -> _Paths:
    return _Paths(section.path, section.path[:depth])


def _word_start(text: str, earliest: int, end: int) -> int:
    """Return the first word start at or after `earliest`; in unbroken text where no character or number parts."""
    if earliest == 0 or text[earliest - 1].isspace():
        return earliest
    for at in range(earliest, end):
        if text[at].isspace():
            return at + 1 if text[at + 1 : end].strip() else end
    at = earliest
    while at < end and (safe_cut(text, at, 0) != at or in_number(text, at)):
        at += 1
    return at


def _stretches(text: str, blocks: Sequence[Block], limit: int) -> Iterator[list[Block]]:
    """Group blocks into windows of at most `limit` characters, ending before a heading where one is near."""
    stretch: list[Block] = []
    for block in blocks:
        for part in _within(text, block, limit):
            while stretch and part.span.end - stretch[0].span.start > limit:
                at = _last_heading(stretch)
                yield stretch[:at]
                stretch = stretch[at:]
            stretch.append(part)
    if stretch:
        yield stretch


def _last_heading(stretch: Sequence[Block]) -> int:
    for at in range(len(stretch) - 1, len(stretch) // 2, -1):
        if stretch[at].kind is BlockKind.HEADING and stretch[at - 1].kind is not BlockKind.HEADING:
            return at
    return len(stretch)


def _within(text: str, block: Block, limit: int) -> Iterator[Block]:
    """Yield the block, cut to windows of equal size at lines, sentences or blanks; blank blocks are left out."""
    span = trim(text, block.span)
    if span.start == span.end:
        return
    at = span.start
    while span.end - at > limit:
        left = span.end - at
        cut = window_cut(text, at, at + -(-left // -(-left // limit)))
        yield replace(block, span=Span(at, cut))
        at = cut
    yield replace(block, span=Span(at, span.end))


def _cores(text: str, ruler: Ruler, pieces: list[Piece], paths: _Paths, limits: CutSettings) -> list[_Core]:
    """Put the pieces of one section together to children."""

    made: list[_Core] = []
    for first, end in piece_groups(pieces, ruler, target=limits.child_tokens, cap=limits.max_tokens):
        span = Span(pieces[first].span.start, pieces[end - 1].span.end)
        if text[span.start : span.end].isspace():
            continue
        core = _Core(
            start=span.start,
            end=span.end,
            tokens=ruler.count(span.start, span.end),
            path=paths.path,
            top=paths.top,
            overlaps=pieces[end - 1].prose,
        )
        small = limits.child_tokens // 4
        if made and min(core.tokens, made[-1].tokens) < small:
            joined = _join(ruler, made[-1], core)
            if joined.tokens <= limits.max_tokens:
                made[-1] = joined
                continue
        made.append(core)
    return made


def _join(ruler: Ruler, first: _Core, second: _Core) -> _Core:
    return _Core(
        start=first.start,
        end=second.end,
        tokens=ruler.count(first.start, second.end),
        path=common([first.path, second.path]),
        top=second.top,
        overlaps=second.overlaps,
    )


def _merge_small(ruler: Ruler, families: Sequence[list[_Core]], limits: CutSettings) -> list[list[_Core]]:
    """Join the children of tiny neighbouring sections below the same top-level title."""
    small = limits.child_tokens // 4
    merged: list[list[_Core]] = []
    for family in families:
        rest = family
        while merged and rest and rest[0].top == merged[-1][-1].top:
            last = merged[-1][-1]
            joined = _join(ruler, last, rest[0])
            if min(last.tokens, rest[0].tokens) >= small or joined.tokens > limits.child_tokens:
                break
            merged[-1][-1] = joined
            rest = rest[1:]
        if rest:
            merged.append(list(rest))
    return merged


def _part_family(ruler: Ruler, family: Sequence[_Core], target: int) -> list[list[_Core]]:
    """Part the children of one section into parents of near equal size."""

    def size(first: int, end: int) -> int:
        return ruler.count(family[first].start, family[end - 1].end)

    ranges = grouped(len(family), size, lambda at: at, target=target, cap=target)
    return [list(family[first:end]) for first, end in ranges]


def _merge_parents(ruler: Ruler, families: Sequence[list[_Core]], target: int) -> list[list[_Core]]:
    """Join neighbouring small parents below one top-level title; across titles tiny ones, up to half a parent."""
    merged: list[list[_Core]] = []
    before = 0
    for family in families:
        size = ruler.count(family[0].start, family[-1].end)
        if merged:
            last = merged[-1]
            total = ruler.count(last[0].start, family[-1].end)
            if last[-1].top == family[0].top:
                near = min(ruler.count(last[0].start, last[-1].end), size) < target // 2 and total <= target
            else:
                near = max(before, size) < target // 4 and total <= target // 2
            if near:
                last.extend(family)
                before = size
                continue
        merged.append(list(family))
        before = size
    return merged
