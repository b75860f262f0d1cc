"""What waits for a decision: the part of the catalog's contract that keeps reviews."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaijuan.core.reviews import Finding, Review, ReviewState, review_id
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.testing.contracts.catalog_access import CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW, publish, published, sample, stage

_ALL = list(ReviewState)


def _review(kb: KnowledgeBase, source: str = "file:///a", content: str = "c1", at: float = NOW) -> Review:
    reason = Finding(detector="instructions", said="忽略", excerpt="…\ud800\x00 words", place="para 3", page=2, count=4)
    return Review(
        id=review_id(kb.id, source, content, ""),
        kb_id=kb.id,
        source=source,
        content_hash=content,
        original_hash=content,
        reasons=(reason,),
        created_at=at,
        name="a.txt",
        kind="record",
        title="标题",
        metadata={"year": 2024, "tags": ("a", "b")},
    )


class Reviews(CatalogFixtures):
    """Kept whole, decided with who and when, superseded by what becomes of the source, never forgotten."""

    async def _states(self, catalog: Catalog, kb: KnowledgeBase) -> list[tuple[str, ReviewState]]:
        return [(one.content_hash, one.state) for one in await catalog.reviews(kb.id, _ALL)]

    async def test_it_comes_back_as_it_was(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        review = _review(kb)
        await catalog.hold(review)
        await catalog.hold(review)
        assert await catalog.reviews(kb.id, [ReviewState.PENDING]) == [review]
        assert await catalog.reviews(kb.id, [ReviewState.APPROVED]) == []
        other = await catalog.create_kb("rival", "handbook", now=NOW)
        assert await catalog.reviews(other.id, _ALL) == []

    async def test_decisions_are_all_kept(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        review = _review(kb)
        await catalog.hold(review)
        await catalog.decide([review.id], ReviewState.REJECTED, by="li", note="spam", now=NOW + 1)
        await catalog.decide([review.id], ReviewState.APPROVED, by="王", note="", now=NOW + 2)
        (found,) = await catalog.reviews(kb.id, _ALL)
        assert found.state is ReviewState.APPROVED
        assert [(one.state.value, one.by, one.note, one.at) for one in found.history] == [
            ("rejected", "li", "spam", NOW + 1),
            ("approved", "王", "", NOW + 2),
        ]

    async def test_held_again_with_other_reasons_it_waits_again(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        review = _review(kb)
        await catalog.hold(review)
        await catalog.decide([review.id], ReviewState.APPROVED, by="li", note="", now=NOW)
        more = replace(review, reasons=(*review.reasons, Finding(detector="secrets", said="a key")))
        await catalog.hold(more)
        (found,) = await catalog.reviews(kb.id, _ALL)
        assert (found.state, found.reasons) == (ReviewState.PENDING, more.reasons)
        assert len(found.history) == 1

    async def test_deciding_is_all_or_nothing(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        review = _review(kb)
        await catalog.hold(review)
        with pytest.raises(NotFoundError):
            await catalog.decide([review.id, "0" * 32], ReviewState.APPROVED, by="li", note="", now=NOW)
        assert await self._states(catalog, kb) == [("c1", ReviewState.PENDING)]

    async def test_newer_content_supersedes(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        old = _review(kb)
        await catalog.hold(old)
        await catalog.hold(_review(kb, content="c2", at=NOW + 1))
        await catalog.hold(_review(kb, source="file:///b", content="c3", at=NOW + 2))
        assert await self._states(catalog, kb) == [
            ("c1", ReviewState.SUPERSEDED),
            ("c2", ReviewState.PENDING),
            ("c3", ReviewState.PENDING),
        ]
        with pytest.raises(UsageError):
            await catalog.decide([old.id], ReviewState.APPROVED, by="li", note="", now=NOW)

    async def test_withdrawn_sources(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.hold(_review(kb))
        decided = _review(kb, source="file:///b", content="c2", at=NOW + 1)
        await catalog.hold(decided)
        await catalog.decide([decided.id], ReviewState.REJECTED, by="li", note="", now=NOW)
        await catalog.withdraw(kb.id, ["file:///a", "file:///b", "file:///c"], now=NOW)
        assert await self._states(catalog, kb) == [("c1", ReviewState.SUPERSEDED), ("c2", ReviewState.REJECTED)]

    async def test_publishing_supersedes_and_a_rollback_does_not(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.hold(_review(kb))
        await catalog.hold(_review(kb, source="file:///b", content="c2", at=NOW + 1))
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, sample(kb.id, "file:///a", "text"))
        await catalog.roll_back(run, now=NOW)
        assert {state for _, state in await self._states(catalog, kb)} == {ReviewState.PENDING}
        made = sample(kb.id, "file:///a", "text")
        await published(catalog, kb, made)
        assert await self._states(catalog, kb) == [("c1", ReviewState.SUPERSEDED), ("c2", ReviewState.PENDING)]
        await catalog.hold(_review(kb, content="c4", at=NOW + 2))
        run = await catalog.begin_run(kb.id, "remove", now=NOW)
        await catalog.retire(run, [made.version.id])
        await publish(catalog, run)
        assert (await self._states(catalog, kb))[-1] == ("c4", ReviewState.SUPERSEDED)
