"""Conversations and traces: the part of the catalog's contract that keeps what readers asked before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaijuan.core.conversations import Turn
from kaijuan.core.ids import DocumentId
from kaijuan.errors import NotFoundError
from kaijuan.index.catalog import Catalog, KnowledgeBase, StoredTrace
from kaijuan.testing.contracts.catalog_access import CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW

ME, YOU = "user:wang", "user:li"
TURN = Turn(
    number=0,
    at=NOW,
    question="那北京呢？\ud83d",
    standalone="差旅住宿标准：那北京呢？",
    status="answered",
    answer="每晚 600 元。",
    documents=(DocumentId("d" * 32),),
    titles=("差旅规定",),
    trace_id="t1",
    body={"sentences": [{"text": "每晚 600 元。", "citations": ["1"]}]},
)


class Conversations(CatalogFixtures):
    """Kept by owner and name, in order, and gone when they are deleted."""

    async def test_turns_are_numbered_and_come_back(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        talk = await catalog.converse(kb.id, ME, "出差", now=NOW)
        assert (talk.name, talk.owner, talk.turns) == ("出差", ME, 0)
        first = await catalog.add_turn(talk.id, TURN)
        second = await catalog.add_turn(talk.id, replace(TURN, question="second", at=NOW + 5))
        assert (first.number, second.number) == (1, 2)
        found = await catalog.turns(talk.id)
        assert [turn.number for turn in found] == [1, 2]
        assert replace(found[0], question=TURN.question) == replace(TURN, number=1)
        assert [turn.question for turn in await catalog.turns(talk.id, last=1)] == ["second"]
        again = await catalog.converse(kb.id, ME, "出差", now=NOW + 9)
        assert (again.id, again.turns, again.updated_at) == (talk.id, 2, NOW + 5)

    async def test_an_owner_sees_no_other_s(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        mine = await catalog.converse(kb.id, ME, "talk", now=NOW)
        yours = await catalog.converse(kb.id, YOU, "talk", now=NOW)
        assert mine.id != yours.id
        assert [talk.id for talk in await catalog.conversations(kb.id, ME)] == [mine.id]
        for name in ("nothing", yours.id):
            with pytest.raises(NotFoundError):
                await catalog.conversation(kb.id, ME, name)
            with pytest.raises(NotFoundError):
                await catalog.forget(kb.id, ME, name)
        assert (await catalog.conversation(kb.id, YOU, yours.id)).name == "talk"

    async def test_the_latest_used_comes_first(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        old = await catalog.converse(kb.id, ME, "old", now=NOW)
        await catalog.converse(kb.id, ME, "new", now=NOW + 1)
        await catalog.add_turn(old.id, replace(TURN, at=NOW + 2))
        assert [(talk.name, talk.turns) for talk in await catalog.conversations(kb.id, ME)] == [("old", 1), ("new", 0)]

    async def test_summary_and_facts(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        talk = await catalog.converse(kb.id, ME, "talk", now=NOW)
        await catalog.summarise(talk.id, "asked about hotels", 4, [DocumentId("d" * 32)])
        await catalog.summarise(talk.id, "an older one, late", 2, [])
        await catalog.pin(talk.id, ["我在上海", "hotel = 酒店"])
        found = await catalog.conversation(kb.id, ME, "talk")
        assert (found.summary, found.summed) == ("asked about hotels", 4)
        assert found.summary_documents == (DocumentId("d" * 32),)
        assert found.facts == ("我在上海", "hotel = 酒店")
        await catalog.pin(talk.id, [])
        assert (await catalog.conversation(kb.id, ME, "talk")).facts == ()

    async def test_what_is_deleted_is_gone(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        talk = await catalog.converse(kb.id, ME, "talk", now=NOW)
        await catalog.add_turn(talk.id, TURN)
        await catalog.forget(kb.id, ME, "talk")
        assert await catalog.turns(talk.id) == []
        assert await catalog.conversations(kb.id, ME) == []
        for late in (
            catalog.add_turn(talk.id, TURN),
            catalog.pin(talk.id, ["x"]),
            catalog.summarise(talk.id, "", 9, []),
        ):
            with pytest.raises(NotFoundError):
                await late
        anew = await catalog.converse(kb.id, ME, "talk", now=NOW + 1)
        assert anew.turns == 0

    async def test_traces_newest_first(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        for number in range(3):
            trace = StoredTrace(id=f"t{number}", kb_id=kb.id, created_at=NOW + number, body={"question": "?"})
            await catalog.save_trace(trace, keep=10)
        assert [trace.id for trace in await catalog.traces(kb.id, limit=2)] == ["t2", "t1"]
