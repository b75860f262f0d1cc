"""People's work on chunks: published like everything else, done again in later versions, undone, never half."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from kaijuan import registry
from kaijuan.core.chunk_work import Wish, WorkKind
from kaijuan.core.documents import Chunk, ChunkLevel
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.ports import Vectors
from kaijuan.ingest.chunkers.policy import ChunkPolicy
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.jobs import chunk_orders
from kaijuan.jobs.chunk_orders import footing, restoring
from kaijuan.jobs.rework import Orders, Worked, rework
from kaijuan.jobs.work_views import WorkState, WorkView, work_views
from kaijuan.models.around.embedding_cache import CachedEmbedder
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.testing.workshop import ROOT, Workshop

EVERYONE = frozenset({"all"})
SIZES = ChunkSettings(child_tokens=20, child_overlap=0.0, max_tokens=48, parent_tokens=48, summaries=False)
HANDBOOK = "\n\n".join(
    [
        "员工每年有十天年假，须提前三天申请。",
        "Every employee has ten days of leave a year.",
        "病假需要医院证明，由部门经理批准。",
        "Expenses are paid within thirty days.",
        "出差每晚住宿费上限为六百元。",
    ]
)


class Counting(HashEmbedder):
    """Remembers the texts that it was really asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await super().embed_passages(texts)


@dataclass
class Desk:
    """A workshop with one handbook, and somebody who works on its chunks."""

    shop: Workshop
    counting: Counting

    async def children(self, name: str = "handbook") -> list[Chunk]:
        return [chunk for chunk in await self.chunks(name) if chunk.level is ChunkLevel.CHILD]

    async def chunks(self, name: str = "handbook") -> list[Chunk]:
        kb = await self.shop.kb()
        version = await self.shop.catalog.version_of(kb.id, ROOT + name, kb.head)
        assert version is not None
        return await self.shop.catalog.chunks_of(version.id)

    async def said(self, name: str = "handbook") -> list[tuple[str, str, str]]:
        """Return (origin, text, what it is found by) of all that is searched, and check that spans are exact."""
        text = (await self.shop.texts((await self.shop.kb()).head))[name]
        return [(chunk.origin, chunk.span.of(text), chunk.search_text) for chunk in await self.children(name)]

    async def do(self, wish: Wish | Sequence[Wish], chunk: Chunk, ending: Sequence[str] = ()) -> Worked:
        kb = await self.shop.kb()
        ground = await footing(self.shop.catalog, self.shop.blobs, kb, EVERYONE, [chunk.id])
        wishes = [wish] if isinstance(wish, Wish) else wish
        orders = Orders(version=ground.version, text=ground.text, wishes=wishes, ending=ending, by="王", note="why")
        return await rework(self.shop.ingest, kb, orders)

    async def restore(self, *words: str) -> Worked:
        kb = await self.shop.kb()
        ground, ending = await restoring(self.shop.catalog, self.shop.blobs, kb, EVERYONE, words)
        orders = Orders(version=ground.version, text=ground.text, ending=ending, by="li")
        return await rework(self.shop.ingest, kb, orders)

    async def views(self, *, ended: bool = False) -> list[WorkView]:
        kb = await self.shop.kb()
        return await work_views(self.shop.catalog, kb, kb.head, EVERYONE, ended=ended)

    async def settled(self) -> None:
        """Check that the index holds exactly what the catalog says."""
        kb = await self.shop.kb()
        assert await self.shop.points(kb.head) == await self.shop.chunks(kb.head)
        assert (await self.shop.ingest.check(kb)).problems == 0


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    counting = Counting()
    shop = Workshop(tmp_path, embedder=CachedEmbedder(counting, tmp_path / "v.db", max_bytes=2**20))
    shop.ingest = replace(shop.ingest, chunking=ChunkPolicy(SIZES, partial(registry.load, "chunker")))
    await shop.add({"handbook": HANDBOOK, "other": "Nothing to do with it."})
    yield Desk(shop, counting)
    await shop.embedder.close()
    await shop.close()


def edit(chunk: Chunk, said: str) -> Wish:
    return Wish(kind=WorkKind.EDIT, span=chunk.span, said=said)


async def test_an_edit_changes_what_is_searched_and_never_what_is_quoted(desk: Desk) -> None:
    first, *_ = await desk.children()
    before = [text for _, text, _ in await desk.said()]
    desk.counting.asked.clear()
    done = await desk.do(edit(first, "annual leave 年休假"), first)
    assert [(chunk.origin, chunk.search_text) for chunk in done.chunks] == [("manual_edit", "annual leave 年休假")]
    assert [text for _, text, _ in await desk.said()] == before
    assert len(desk.counting.asked) == 1, "only what changed is embedded again"
    assert "annual leave 年休假" in desk.counting.asked[0]
    await desk.settled()


async def test_split_pieces_are_exact_and_restored_to_one(desk: Desk) -> None:
    before = await desk.said()
    first, *_ = await desk.children()
    cut = before[0][1].index("，") + 1
    desk.counting.asked.clear()
    done = await desk.do(Wish(kind=WorkKind.SPLIT, span=first.span, cuts=(cut,)), first)
    pieces = await desk.said()
    assert [piece[0] for piece in pieces[:2]] == ["manual_split", "manual_split"]
    assert pieces[0][1] + pieces[1][1] == before[0][1]
    assert len(desk.counting.asked) == 2
    await desk.settled()
    await desk.restore(done.chunks[0].id)
    assert await desk.said() == before
    assert [view.state for view in await desk.views(ended=True)] == [WorkState.ENDED]
    assert await desk.views() == []
    await desk.settled()


async def test_neighbours_are_merged_whatever_their_parents(desk: Desk) -> None:
    before = await desk.said()
    children = await desk.children()
    pair = next((a, b) for a, b in pairwise(children) if a.parent_id != b.parent_id)
    whole = Span(pair[0].span.start, pair[1].span.end)
    await desk.do(Wish(kind=WorkKind.MERGE, span=whole), pair[0])
    said = await desk.said()
    assert len(said) == len(before) - 1
    assert "manual_merge" in [origin for origin, _, _ in said]
    chunks = {chunk.id: chunk for chunk in await desk.chunks()}
    for child in await desk.children():
        assert child.parent_id is not None
        assert chunks[child.parent_id].span.contains(child.span)
    await desk.settled()


async def test_excluded_it_is_no_point_and_comes_back(desk: Desk) -> None:
    before = await desk.said()
    chunk = (await desk.children())[1]
    done = await desk.do(Wish(kind=WorkKind.EXCLUDE, span=chunk.span), chunk)
    assert [one.level for one in done.chunks] == [ChunkLevel.EXCLUDED]
    assert await desk.said() == [before[0], *before[2:]]
    await desk.settled()
    assert (await desk.shop.ingest.check(await desk.shop.kb())).problems == 0
    await desk.restore(done.chunks[0].id)
    assert await desk.said() == before
    await desk.settled()


async def test_the_last_chunk_of_a_document_cannot_be_excluded(desk: Desk) -> None:
    (only,) = await desk.children("other")
    with pytest.raises(UsageError, match="nothing would be left"):
        await desk.do(Wish(kind=WorkKind.EXCLUDE, span=only.span), only)
    assert (await desk.shop.kb()).head == 1, "a wish that cannot be done leaves no trace"
    assert await desk.views(ended=True) == []


async def test_questions_are_ways_to_the_passage(desk: Desk) -> None:
    chunk = (await desk.children())[1]
    text = (await desk.shop.texts(1))["handbook"]
    wishes = [Wish(kind=WorkKind.ALIAS, span=chunk.span, said=said) for said in ("How long is leave?", "假期多久？")]
    desk.counting.asked.clear()
    done = await desk.do(wishes, chunk)
    questions = [one for one in done.chunks if one.origin == "manual_alias"]
    assert [one.search_text for one in questions] == ["How long is leave?", "假期多久？"]
    assert {one.span.of(text) for one in questions} == {chunk.span.of(text)}
    assert len({one.parent_id for one in done.chunks}) == 1
    assert len(desk.counting.asked) == 2
    await desk.settled()
    await desk.restore(questions[0].id)
    left = [one.search_text for one in await desk.children() if one.origin == "manual_alias"]
    assert left == ["假期多久？"], "naming one question leaves the other"


async def test_work_is_done_again_when_the_document_changes_elsewhere(desk: Desk) -> None:
    children = await desk.children()
    text = (await desk.shop.texts(1))["handbook"]
    sick = next(chunk for chunk in children if "病假" in chunk.span.of(text))
    await desk.do(edit(sick, "sick leave 生病"), sick)
    changed = "新的前言，从来没有过。\n\n" + HANDBOOK + "\n\nA new ending."
    assert (await desk.shop.add({"handbook": changed})).updated == 1
    assert ("manual_edit", sick.span.of(text), "sick leave 生病") in await desk.said()
    assert [view.state for view in await desk.views()] == [WorkState.APPLIED]
    await desk.settled()


async def test_work_whose_passage_changed_is_flagged_and_takes_hold_again_when_it_is_back(desk: Desk) -> None:
    children = await desk.children()
    text = (await desk.shop.texts(1))["handbook"]
    sick = next(chunk for chunk in children if "病假" in chunk.span.of(text))
    await desk.do(edit(sick, "sick leave 生病"), sick)
    await desk.shop.add({"handbook": HANDBOOK.replace("部门经理", "人事部")})
    (view,) = await desk.views()
    assert (view.state, view.why) == (WorkState.STALE, "the passage has changed or is gone")
    assert "manual_edit" not in [origin for origin, _, _ in await desk.said()]
    await desk.shop.add({"handbook": HANDBOOK})
    assert [view.state for view in await desk.views()] == [WorkState.APPLIED]
    assert "sick leave 生病" in [found_by for _, _, found_by in await desk.said()]
    await desk.shop.remove(["handbook"])
    assert [view.state for view in await desk.views()] == [WorkState.GONE]
    await desk.shop.add({"handbook": HANDBOOK})
    assert [view.state for view in await desk.views()] == [WorkState.APPLIED]


async def test_the_same_file_again_changes_nothing(desk: Desk) -> None:
    first, *_ = await desk.children()
    await desk.do(edit(first, "leave"), first)
    assert (await desk.shop.add({"handbook": HANDBOOK})).unchanged == 1


async def test_a_rebuild_keeps_work(desk: Desk) -> None:
    first, *_ = await desk.children()
    await desk.do(edit(first, "leave"), first)
    before = await desk.said()
    await desk.shop.ingest.rebuild(await desk.shop.kb())
    assert await desk.said() == before
    await desk.settled()


async def test_earlier_snapshots_show_what_was_before(desk: Desk) -> None:
    first, *_ = await desk.children()
    before = await desk.shop.chunks(1)
    await desk.do(edit(first, "leave"), first)
    assert await desk.shop.points(1) == before == await desk.shop.chunks(1)
    kb = await desk.shop.kb()
    assert await work_views(desk.shop.catalog, kb, 1, EVERYONE) == []


async def test_what_stops_halfway_leaves_no_trace(desk: Desk) -> None:
    first, *_ = await desk.children()
    before = await desk.said()

    def stop(step: str) -> None:
        if step == "stage":
            raise KeyboardInterrupt

    shop = desk.shop
    whole, shop.ingest = shop.ingest, replace(shop.ingest, reached=stop)
    with pytest.raises(KeyboardInterrupt):
        await desk.do(edit(first, "leave"), first)
    shop.ingest = whole
    assert await desk.said() == before
    assert await desk.views(ended=True) == []
    await desk.do(edit(first, "leave"), first)
    assert len(await desk.views()) == 1
    await desk.settled()


async def test_undoing_a_split_undoes_what_was_done_to_its_pieces(desk: Desk) -> None:
    before = await desk.said()
    first, *_ = await desk.children()
    done = await desk.do(Wish(kind=WorkKind.SPLIT, span=first.span, cuts=(9,)), first)
    piece = done.chunks[0]
    await desk.do(edit(piece, "leave"), piece)
    split, *_ = [view.work for view in await desk.views()]
    undone = await desk.restore(split.id[:8])
    assert len(undone.ended) == 2
    assert await desk.said() == before


async def test_ids_of_earlier_versions_lead_to_the_same_passages(desk: Desk) -> None:
    first, second, *_ = await desk.children()
    await desk.do(edit(first, "leave"), first)
    await desk.do(edit(second, "days"), second)
    assert [found_by for _, _, found_by in await desk.said()][:2] == ["leave", "days"]
    await desk.shop.add({"handbook": "Something else altogether."})
    with pytest.raises(UsageError, match="earlier version"):
        await desk.do(edit(first, "leave"), first)


async def test_a_document_that_changed_meanwhile_is_left_alone(desk: Desk) -> None:
    first, *_ = await desk.children()
    kb = await desk.shop.kb()
    ground = await footing(desk.shop.catalog, desk.shop.blobs, kb, EVERYONE, [first.id])
    await desk.shop.add({"handbook": HANDBOOK + "\n\nMore."})
    orders = Orders(version=ground.version, text=ground.text, wishes=[edit(first, "leave")])
    with pytest.raises(UsageError, match="changed meanwhile"):
        await rework(desk.shop.ingest, await desk.shop.kb(), orders)
    assert await desk.views(ended=True) == []


async def test_who_may_not_read_a_document_cannot_work_on_it(desk: Desk) -> None:
    first, *_ = await desk.children()
    kb = await desk.shop.kb()
    await desk.shop.catalog.grant(kb.id, first.document_id, "board")
    with pytest.raises(NotFoundError):
        await footing(desk.shop.catalog, desk.shop.blobs, kb, EVERYONE, [first.id])
    board = await footing(desk.shop.catalog, desk.shop.blobs, kb, {"board"}, [first.id])
    assert board.named == (first,)


async def test_another_strategy_for_one_document_touches_it_alone(desk: Desk) -> None:
    first, *_ = await desk.children()
    done = await desk.do(Wish(kind=WorkKind.STRATEGY, span=Span(0, 0), said="fixed"), first)
    assert {chunk.strategy.split("-")[0] for chunk in await desk.chunks()} == {"fixed"}
    assert {chunk.strategy.split("-")[0] for chunk in await desk.chunks("other")} == {"recursive"}
    assert (await desk.shop.add({"handbook": HANDBOOK})).unchanged == 1
    assert (await desk.shop.add({"handbook": HANDBOOK + "\n\nMore."})).updated == 1
    assert {chunk.strategy.split("-")[0] for chunk in await desk.chunks()} == {"fixed"}
    (first, *_) = await desk.children()
    await desk.do([], first, [done.work[0].id])
    assert {chunk.strategy.split("-")[0] for chunk in await desk.chunks()} == {"recursive"}


async def test_wrong_wishes_say_what_is_wrong(desk: Desk) -> None:
    kb = await desk.shop.kb()
    first, second, third, *_ = await desk.children()
    parent = next(chunk for chunk in await desk.chunks() if chunk.level is ChunkLevel.PARENT)

    async def ground(*chunks: Chunk) -> chunk_orders.Footing:
        ids = [chunk.id for chunk in chunks]
        return await footing(desk.shop.catalog, desk.shop.blobs, kb, EVERYONE, ids)

    for places, said in (([], "where"), ([0], "at 0"), ([10_000], "characters"), (["nowhere"], "does not hold")):
        with pytest.raises(UsageError, match=said):
            chunk_orders.split(await ground(first), places)
    with pytest.raises(UsageError, match="alone"):
        chunk_orders.merge(await ground(first))
    with pytest.raises(UsageError, match="between"):
        chunk_orders.merge(await ground(first, third))
    assert chunk_orders.merge(await ground(second, first)).span == Span(first.span.start, second.span.end)
    with pytest.raises(UsageError, match="empty"):
        chunk_orders.edit(await ground(first), "  \n")
    with pytest.raises(UsageError, match="no text"):
        chunk_orders.edit(await ground(first), "a\x00b")
    with pytest.raises(UsageError, match="parent"):
        chunk_orders.exclude(await ground(parent))
    with pytest.raises(NotFoundError):
        await footing(desk.shop.catalog, desk.shop.blobs, kb, EVERYONE, ["f" * 32])
    with pytest.raises(UsageError, match="several documents"):
        await ground(first, (await desk.children("other"))[0])
    with pytest.raises(UsageError, match="Nobody has done anything"):
        await desk.restore(first.id)
    with pytest.raises(UsageError, match="at most 48"):
        await desk.do(edit(first, "many words " * 40), first)
    assert (await desk.shop.kb()).head == 1
