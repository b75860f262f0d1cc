"""What people did to the chunks of a document, done again to the drafts of a new version.

Work is tied to words, not to chunks: a passage is looked for in the new text, and where it stands it is searched as
somebody decided, however the rest is cut by now. What is quoted is always the text itself; an edit or a question only
changes by what a passage is found. Work whose passage has changed is left out and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kaijuan.core.chunk_work import ALIAS, ORIGINS, ChunkWork, Miss, WorkKind
from kaijuan.core.documents import Block, ChunkLevel, title_path_at
from kaijuan.core.spans import Span, trim
from kaijuan.ingest.chunkers.units import Path, common
from kaijuan.ingest.ports import ChunkDraft, Tokenizer

CHANGED = "the passage has changed or is gone"
_EXCLUDED = "the passage is excluded"
_LAST = "nothing would be left to search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reworked:
    """Drafts with people's work done, and the work that could not be done."""

    drafts: tuple[ChunkDraft, ...]
    misses: tuple[Miss, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Piece:
    """A draft on the bench. `family` is the position of its parent among the parents, or None."""

    draft: ChunkDraft
    family: int | None

    @property
    def span(self) -> Span:
        return self.draft.span

    @property
    def is_question(self) -> bool:
        return self.draft.origin == ALIAS


@dataclass(slots=True, kw_only=True)
class _Bench:
    """The drafts of one document while work is done on them."""

    text: str
    blocks: Sequence[Block]
    tokenizer: Tokenizer
    limit: int
    parents: list[ChunkDraft] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)

    def tokens(self, text: str) -> int:
        return len(self.tokenizer.token_spans(text))

    def within(self, span: Span) -> list[_Piece]:
        """Return the chunks that stand wholly inside a span; questions go with their passage and are none."""
        return [piece for piece in self.pieces if span.contains(piece.span) and not piece.is_question]

    def too_long(self, texts: Iterable[str]) -> str:
        longest = max((self.tokens(text) for text in texts), default=0)
        return f"it would have {longest} tokens; a chunk has at most {self.limit}" if longest > self.limit else ""

    def excluded_beside(self, span: Span) -> list[Span]:
        """Return the places that are excluded and that do not stand wholly inside a span."""
        excluded = [piece.span for piece in self.pieces if piece.draft.level is ChunkLevel.EXCLUDED]
        return [place for place in excluded if not span.contains(place)]

    def hidden(self, span: Span) -> bool:
        """Say whether a span has text that stays excluded when all inside the span is replaced."""
        return any(span.intersect(place) is not None for place in self.excluded_beside(span))

    def home(self, span: Span, inside: Sequence[_Piece]) -> int:
        """Return the parent of what is made of a span: the one of all it replaces, else the least around it."""
        families = {piece.family for piece in inside}
        # A parent from before an exclusion still holds what is no longer to be read.
        barred = self.excluded_beside(span)
        around = [
            at
            for at, parent in enumerate(self.parents)
            if parent.span.contains(span) and all(parent.span.intersect(place) is None for place in barred)
        ]
        shared = [at for at in around if families == {at}]
        if shared or around:
            return shared[0] if shared else min(around, key=lambda at: len(self.parents[at].span))
        path = common([piece.draft.title_path for piece in inside]) if inside else self.path_at(span)
        tokens = self.tokens(span.of(self.text))
        self.parents.append(ChunkDraft(level=ChunkLevel.PARENT, span=span, parent=None, title_path=path, tokens=tokens))
        return len(self.parents) - 1

    def path_at(self, span: Span) -> Path:
        return title_path_at(self.blocks, span.start)

    def put(self, spans: Sequence[Span], whole: Span, kind: WorkKind, said: str = "") -> None:
        """Put one chunk for each span in place of all that stand inside `whole`."""
        inside = self.within(whole)
        family = self.home(whole, inside)
        self.pieces = [piece for piece in self.pieces if all(piece is not old for old in inside)]
        for span in spans:
            old = [piece.draft.title_path for piece in inside if piece.span.intersect(span)]
            self.pieces.append(
                _Piece(
                    draft=ChunkDraft(
                        level=ChunkLevel.CHILD,
                        span=span,
                        parent=None,
                        title_path=common(old) if old else self.path_at(span),
                        tokens=self.tokens(span.of(self.text)),
                        origin=ORIGINS[kind],
                        search_text=said,
                    ),
                    family=family,
                )
            )


def reworked(
    drafts: Sequence[ChunkDraft],
    work: Sequence[ChunkWork],
    text: str,
    blocks: Sequence[Block],
    tokenizer: Tokenizer,
    limit: int,
) -> Reworked:
    """Do work to drafts in the order given. No chunk and no text to be found by gets more than `limit` tokens."""
    wanted = [one for one in work if one.kind is not WorkKind.STRATEGY]
    if not wanted:
        return Reworked(drafts=tuple(drafts))
    bench = _bench(drafts, text, blocks, tokenizer, limit)
    misses = []
    for one in wanted:
        place = one.passage.place_in(text)
        why = CHANGED if place is None else _done(bench, one, place)
        if why:
            misses.append(Miss(work_id=one.id, why=why))
    return Reworked(drafts=tuple(_drafts(bench)), misses=tuple(misses))


def _bench(
    drafts: Sequence[ChunkDraft], text: str, blocks: Sequence[Block], tokenizer: Tokenizer, limit: int
) -> _Bench:
    bench = _Bench(text=text, blocks=blocks, tokenizer=tokenizer, limit=limit)
    places: dict[int, int] = {}
    for at, draft in enumerate(drafts):
        if draft.level is ChunkLevel.PARENT:
            places[at] = len(bench.parents)
            bench.parents.append(draft)
        else:
            family = None if draft.parent is None else places.get(draft.parent)
            bench.pieces.append(_Piece(draft=draft, family=family))
    return bench


def _done(bench: _Bench, one: ChunkWork, place: Span) -> str:
    """Do one piece of work; return why it cannot be done, "" when it is."""
    match one.kind:
        case WorkKind.SPLIT | WorkKind.MERGE | WorkKind.EDIT if bench.hidden(place):
            return _EXCLUDED
        case WorkKind.SPLIT:
            return _split(bench, one, place)
        case WorkKind.MERGE:
            return _merge(bench, place)
        case WorkKind.EDIT:
            return _edit(bench, one, place)
        case WorkKind.EXCLUDE:
            return _exclude(bench, place)
        case _:
            return _ask(bench, one, place)


def _split(bench: _Bench, one: ChunkWork, place: Span) -> str:
    borders = [place.start, *(place.start + cut for cut in one.cuts), place.end]
    spans = [trim(bench.text, Span(a, b)) for a, b in pairwise(borders) if a < b]
    spans = [span for span in spans if len(span)]
    why = bench.too_long(span.of(bench.text) for span in spans)
    if not why:
        bench.put(spans, place, WorkKind.SPLIT)
    return why


def _merge(bench: _Bench, place: Span) -> str:
    why = bench.too_long([place.of(bench.text)])
    if not why:
        bench.put([place], place, WorkKind.MERGE)
    return why


def _edit(bench: _Bench, one: ChunkWork, place: Span) -> str:
    why = bench.too_long([one.said, place.of(bench.text)])
    if not why:
        bench.put([place], place, WorkKind.EDIT, one.said)
    return why


def _exclude(bench: _Bench, place: Span) -> str:
    """Let no chunk that is searched, and no parent that is read, hold a character of a place."""
    inside = bench.within(place)
    left = _unlike(part for piece in bench.pieces for part in _clear(bench, piece, place))
    if not any(piece.draft.level is ChunkLevel.CHILD and not piece.is_question for piece in left):
        return _LAST
    paths = [piece.draft.title_path for piece in inside]
    draft = ChunkDraft(
        level=ChunkLevel.EXCLUDED,
        span=place,
        parent=None,
        title_path=common(paths) if paths else bench.path_at(place),
        tokens=bench.tokens(place.of(bench.text)),
        origin=ORIGINS[WorkKind.EXCLUDE],
    )
    bench.pieces = [*left, _Piece(draft=draft, family=bench.home(place, inside))]
    for family in [at for at, parent in enumerate(bench.parents) if parent.span.intersect(place) is not None]:
        _part(bench, family, place)
    return ""


def _clear(bench: _Bench, piece: _Piece, place: Span) -> list[_Piece]:
    """Return what is left of a chunk outside a place: all, the parts before and after, or nothing."""
    span = piece.span
    if span.intersect(place) is None:
        return [piece]
    if piece.draft.level is ChunkLevel.EXCLUDED:
        return [] if place.contains(span) else [piece]
    parts = [Span(span.start, max(span.start, place.start)), Span(min(span.end, place.end), span.end)]
    kept = [part for part in (trim(bench.text, part) for part in parts) if len(part)]
    if piece.is_question:
        # It is answered by one of the parts at most; by the longer one, then.
        kept = sorted(kept, key=len)[-1:]
    return [
        _Piece(draft=replace(piece.draft, span=part, tokens=bench.tokens(part.of(bench.text))), family=piece.family)
        for part in kept
    ]


def _unlike(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Keep one of pieces that are alike: of chunks that overlapped, the same may be left."""
    kept: dict[tuple[ChunkLevel, Span, str, str], _Piece] = {}
    for piece in pieces:
        draft = piece.draft
        kept.setdefault((draft.level, piece.span, draft.origin, draft.search_text), piece)
    return list(kept.values())


def _part(bench: _Bench, family: int, place: Span) -> None:
    """Give what is left of a family parents that hold nothing excluded, and what is excluded parents of its own."""
    whole = bench.parents[family]
    before = trim(bench.text, Span(whole.span.start, max(whole.span.start, place.start)))
    after = trim(bench.text, Span(min(whole.span.end, place.end), whole.span.end))
    # One parent for each span: two families may have the same left.
    homes = {parent.span: at for at, parent in reversed(list(enumerate(bench.parents)))}
    for piece in [piece for piece in bench.pieces if piece.family == family]:
        if piece.span.intersect(place) is None:
            span = before if piece.span.end <= place.start else after
        else:
            # Only what is excluded is left here. What was excluded earlier may reach out of the place.
            span = piece.span
        if span not in homes:
            homes[span] = len(bench.parents)
            bench.parents.append(replace(whole, span=span, tokens=bench.tokens(span.of(bench.text))))
        piece.family = homes[span]


def _ask(bench: _Bench, one: ChunkWork, place: Span) -> str:
    why = bench.too_long([one.said])
    if why:
        return why
    if any(piece.is_question and (piece.span, piece.draft.search_text) == (place, one.said) for piece in bench.pieces):
        return ""  # two people may ask alike
    excluded = (piece.span for piece in bench.pieces if piece.draft.level is ChunkLevel.EXCLUDED)
    if any(place.intersect(span) is not None for span in excluded):
        return _EXCLUDED
    around = [piece for piece in bench.pieces if piece.span.contains(place) and not piece.is_question]
    least = min(around, key=lambda piece: len(piece.span), default=None)
    draft = ChunkDraft(
        level=ChunkLevel.CHILD,
        span=place,
        parent=None,
        title_path=least.draft.title_path if least else bench.path_at(place),
        tokens=bench.tokens(place.of(bench.text)),
        origin=ALIAS,
        search_text=one.said,
    )
    bench.pieces.append(_Piece(draft=draft, family=bench.home(place, [least] if least else [])))
    return ""


def _drafts(bench: _Bench) -> Iterator[ChunkDraft]:
    """Yield parents that have children left, in reading order, each followed by its children."""
    families: dict[int | None, list[_Piece]] = {}
    for piece in bench.pieces:
        families.setdefault(piece.family, []).append(piece)
    order = sorted(
        (at for at in families if at is not None),
        key=lambda at: (bench.parents[at].span.start, bench.parents[at].span.end, at),
    )
    position = 0
    for at in order:
        yield bench.parents[at]
        parent = position
        position += 1
        for piece in _in_order(families[at]):
            yield replace(piece.draft, parent=parent)
            position += 1
    for piece in _in_order(families.get(None, [])):
        yield piece.draft


def _in_order(pieces: Iterable[_Piece]) -> list[_Piece]:
    return sorted(pieces, key=lambda piece: (piece.span, piece.is_question, piece.draft.search_text))
