"""Work on chunks done again: nothing is lost, spans are exact, parents hold their children, whatever people wish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core.chunk_work import ALIAS, ChunkWork, WorkKind, passage_of
from kaijuan.core.documents import Block, BlockKind, ChunkLevel
from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.core.spans import Span, trim, uncovered
from kaijuan.ingest.chunkers.manual import CHANGED, reworked
from kaijuan.ingest.chunkers.recursive import RecursiveChunker
from kaijuan.ingest.ports import ChunkDraft
from kaijuan.ingest.settings import CutSettings
from kaijuan.testing.contracts.chunker import PieceTokenizer, blocks_of

LIMIT = 24
SIZES = CutSettings(child_tokens=8, max_tokens=LIMIT, parent_tokens=30)
WORDS = st.sampled_from(
    ["请假", "流程", "由部门", "批准。", "Leave", "is", "granted.", "第三条", "ERR-9988", "，", "10 天"]
)
PARAGRAPH = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
DOCUMENT = st.lists(PARAGRAPH, min_size=1, max_size=6)
TOKENIZER = PieceTokenizer()


def document(paragraphs: Sequence[str]) -> tuple[str, list[Block]]:
    return blocks_of(*((BlockKind.PARAGRAPH, paragraph) for paragraph in paragraphs))


def drafts_of(text: str, blocks: Sequence[Block], sizes: CutSettings = SIZES) -> list[ChunkDraft]:
    return RecursiveChunker(sizes).chunk(text, blocks, TOKENIZER)


def work(number: int, kind: WorkKind, text: str, span: Span, cut: int = 1, said: str = "问 ask") -> ChunkWork:
    return ChunkWork(
        id=f"{number:032x}",
        kb_id=KbId("k"),
        document_id=DocumentId("d"),
        version_id=VersionId("v"),
        number=number,
        kind=kind,
        passage=passage_of(text, span),
        cuts=(cut,) if kind is WorkKind.SPLIT else (),
        said=said if kind in (WorkKind.EDIT, WorkKind.ALIAS) else "",
    )


@st.composite
def wished(draw: st.DrawFn, text: str) -> list[ChunkWork]:
    made = []
    for number in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text) - 1))
        span = trim(text, Span(start, draw(st.integers(start + 1, len(text)))))
        kind = draw(st.sampled_from([kind for kind in WorkKind if kind is not WorkKind.STRATEGY]))
        if len(span) > 1:
            made.append(work(number, kind, text, span, draw(st.integers(1, len(span) - 1))))
    return made


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, list[Block], list[ChunkWork]]:
    text, blocks = document(draw(DOCUMENT))
    return text, blocks, draw(wished(text))


@settings(deadline=None)
@given(case=cases())
def test_promises_hold_whatever_is_done(case: tuple[str, list[Block], list[ChunkWork]]) -> None:
    text, blocks, wishes = case
    done = reworked(drafts_of(text, blocks), wishes, text, blocks, TOKENIZER, LIMIT)
    searched = [draft for draft in done.drafts if draft.level is ChunkLevel.CHILD]
    assert searched, "something is left to search"
    kept = [draft.span for draft in done.drafts if draft.level is not ChunkLevel.PARENT and draft.origin != ALIAS]
    for block in blocks:
        for gap in uncovered(block.span, kept):
            assert not gap.of(text).strip(), f"lost: {gap.of(text)!r}"
    for draft in done.drafts:
        if draft.level is ChunkLevel.PARENT:
            continue
        assert draft.parent is not None
        parent = done.drafts[draft.parent]
        assert parent.level is ChunkLevel.PARENT
        assert parent.span.contains(draft.span)
        assert draft.span.of(text).strip()
        if draft.level is ChunkLevel.CHILD and draft.origin != ALIAS:
            assert len(TOKENIZER.token_spans(draft.span.of(text))) <= LIMIT
    excluded = [draft.span for draft in done.drafts if draft.level is ChunkLevel.EXCLUDED]
    read = [done.drafts[draft.parent].span for draft in searched if draft.parent is not None]
    assert all(span.intersect(place) is None for span in read for place in excluded), "what is excluded is read"
    assert {miss.work_id for miss in done.misses} <= {one.id for one in wishes}
    marks = [(draft.level, draft.span, draft.origin, draft.search_text) for draft in done.drafts]
    assert len(set(marks)) == len(marks), "two alike"


def one_family(text: str, *spans: Span) -> list[ChunkDraft]:
    """Return a parent of a whole text and chunks of these spans in it."""
    whole = ChunkDraft(level=ChunkLevel.PARENT, span=Span(0, len(text)), parent=None, title_path=(), tokens=1)
    return [whole, *(replace(whole, level=ChunkLevel.CHILD, span=span, parent=0) for span in spans)]


def test_of_overlapping_chunks_that_are_alike_without_what_is_excluded_one_is_left() -> None:
    text, blocks = document(["请假 流程 批准。"])
    drafts = one_family(text, Span(0, 2), Span(0, 5), Span(6, 9))
    done = reworked(drafts, [work(1, WorkKind.EXCLUDE, text, Span(3, 5))], text, blocks, TOKENIZER, LIMIT)
    assert [one.span for one in done.drafts if one.level is ChunkLevel.CHILD] == [Span(0, 2), Span(6, 9)]


def test_of_parents_that_are_alike_without_what_is_excluded_one_is_left() -> None:
    text, blocks = document(["请假 流程", "批准。 由部门"])
    drafts = [*one_family(text[:5], Span(0, 5)), *one_family(text, Span(7, 10))]
    drafts[2:] = [replace(drafts[2], span=Span(7, 14)), replace(drafts[3], parent=2)]
    wishes = [work(1, WorkKind.ALIAS, text, Span(0, 14)), work(2, WorkKind.EXCLUDE, text, Span(0, 5))]
    done = reworked(drafts, wishes, text, blocks, TOKENIZER, LIMIT)
    parents = [one.span for one in done.drafts if one.level is ChunkLevel.PARENT]
    assert parents == [Span(0, 5), Span(7, 14)]


@pytest.mark.parametrize("second", [Span(0, 2), Span(3, 5), Span(3, 9)])
def test_what_was_excluded_keeps_a_parent_that_holds_it_when_a_part_of_it_is_excluded_again(second: Span) -> None:
    text, blocks = document(["请假 流程 批准。 由部门"])
    drafts = one_family(text, Span(0, 5), Span(6, 9), Span(10, 13))
    wishes = [work(1, WorkKind.EXCLUDE, text, Span(0, 5)), work(2, WorkKind.EXCLUDE, text, second)]
    done = reworked(drafts, wishes, text, blocks, TOKENIZER, LIMIT)
    excluded = [one for one in done.drafts if one.level is ChunkLevel.EXCLUDED]
    assert {one.span for one in excluded} == {Span(0, 5), second}
    parents = {one.span: done.drafts[one.parent].span for one in done.drafts if one.parent is not None}
    assert all(parents[one.span] == one.span for one in excluded)
    read = [parents[one.span] for one in done.drafts if one.level is ChunkLevel.CHILD]
    assert read
    assert all(span.intersect(one.span) is None for span in read for one in excluded)


@pytest.mark.parametrize("kind", [WorkKind.SPLIT, WorkKind.MERGE, WorkKind.EDIT, WorkKind.ALIAS])
def test_work_on_a_part_of_what_is_excluded_does_not_bring_it_back(kind: WorkKind) -> None:
    text, blocks = document(["请假 流程 批准。"])
    drafts = one_family(text, Span(0, 5), Span(6, 9))
    wishes = [work(1, WorkKind.EXCLUDE, text, Span(0, 5)), work(2, kind, text, Span(3, 5))]
    done = reworked(drafts, wishes, text, blocks, TOKENIZER, LIMIT)
    assert [(miss.work_id, miss.why) for miss in done.misses] == [(wishes[1].id, "the passage is excluded")]
    assert [one.span for one in done.drafts if one.level is ChunkLevel.CHILD] == [Span(6, 9)]


def test_work_over_one_excluded_passage_does_not_let_another_be_read() -> None:
    text, blocks = document(["请假 流程 批准。 由部门"])
    drafts = one_family(text, Span(0, 2), Span(3, 5), Span(6, 9), Span(10, 13))
    excluded = [work(1, WorkKind.EXCLUDE, text, Span(3, 5)), work(2, WorkKind.EXCLUDE, text, Span(10, 13))]
    merged = work(3, WorkKind.MERGE, text, Span(0, 9))
    done = reworked(drafts, [*excluded, merged], text, blocks, TOKENIZER, LIMIT)
    assert not done.misses
    (child,) = [one for one in done.drafts if one.level is ChunkLevel.CHILD]
    assert child.parent is not None
    assert (child.span, done.drafts[child.parent].span) == (Span(0, 9), Span(0, 9))


@settings(deadline=None)
@given(case=cases())
def test_the_same_work_gives_the_same_chunks(case: tuple[str, list[Block], list[ChunkWork]]) -> None:
    text, blocks, wishes = case
    drafts = drafts_of(text, blocks)
    assert reworked(drafts, wishes, text, blocks, TOKENIZER, LIMIT) == reworked(
        drafts, wishes, text, blocks, TOKENIZER, LIMIT
    )
    assert reworked(drafts, [], text, blocks, TOKENIZER, LIMIT).drafts == tuple(drafts)


@settings(deadline=None)
@given(before=DOCUMENT, paragraph=PARAGRAPH, after=DOCUMENT, kind=st.sampled_from([WorkKind.EDIT, WorkKind.ALIAS]))
def test_work_goes_with_its_passage_to_wherever_that_stands(
    before: list[str], paragraph: str, after: list[str], kind: WorkKind
) -> None:
    marked = f"X1Q {paragraph} Z9K"
    old, _ = document([marked, *after])
    one = work(1, kind, old, Span(0, len(marked)))
    text, blocks = document([*before, marked, *after])
    done = reworked(drafts_of(text, blocks), [one], text, blocks, TOKENIZER, LIMIT)
    fits = len(TOKENIZER.token_spans(marked)) <= LIMIT or kind is WorkKind.ALIAS
    found = [draft for draft in done.drafts if draft.search_text == one.said]
    assert [draft.span.of(text) for draft in found] == ([marked] if fits else [])
    assert bool(done.misses) is not fits
    gone, blocks = document([*before, *after])
    done = reworked(drafts_of(gone, blocks), [one], gone, blocks, TOKENIZER, LIMIT)
    assert [miss.why for miss in done.misses] == [CHANGED]


@settings(deadline=None)
@given(paragraphs=DOCUMENT, copies=st.integers(2, 5), which=st.integers(0, 4))
def test_of_several_places_it_takes_the_one_with_the_same_surroundings(
    paragraphs: list[str], copies: int, which: int
) -> None:
    which %= copies
    text = "\n\n".join(f"[{number}] 同样的话 the same words. ({number})" for number in range(copies))
    words = "同样的话 the same words."
    places = [text.index(f"[{number}]") + len(f"[{number}] ") for number in range(copies)]
    one = passage_of(text, Span(places[which], places[which] + len(words)))
    intro = "\n\n".join(paragraphs) + "\n\n"
    assert one.place_in(intro + text) == one.span.shift(len(intro))


@settings(deadline=None)
@given(case=cases(), child=st.integers(8, LIMIT))
def test_other_sizes_keep_the_promises(case: tuple[str, list[Block], list[ChunkWork]], child: int) -> None:
    text, blocks, wishes = case
    other = CutSettings(child_tokens=child, max_tokens=LIMIT, parent_tokens=60, child_overlap=0.4)
    done = reworked(drafts_of(text, blocks, other), wishes, text, blocks, TOKENIZER, LIMIT)
    for draft in done.drafts:
        if draft.level is not ChunkLevel.PARENT:
            assert draft.parent is not None
            assert done.drafts[draft.parent].span.contains(draft.span)
