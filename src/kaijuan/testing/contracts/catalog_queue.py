"""Work that waits: the part of the catalog's contract about claiming, extending, settling and giving up."""

from __future__ import annotations

import asyncio

import pytest

from kaijuan.errors import BusyError, NotFoundError
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.catalog_queue import Job, JobState
from kaijuan.testing.contracts.catalog_access import CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW


def _job(kb: KnowledgeBase, id: str, key: str = "a", request: str = "") -> Job:
    return Job(id=id, kb_id=kb.id, key=key, request=request or f'{{"of": "{id}"}}', created_at=NOW)


class Queue(CatalogFixtures):
    """Each job is done by one worker at a time, in order within its key, until it is done or given up."""

    async def test_claimed_once_under_many_workers(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        for number in range(12):
            await catalog.enqueue(_job(kb, f"j{number:02}", key=f"k{number}"))
        claims = await asyncio.gather(
            *(catalog.claim(kb.id, f"worker{number}", now=NOW, seconds=60) for number in range(20))
        )
        taken = [job.id for job in claims if job is not None]
        assert sorted(taken) == [f"j{number:02}" for number in range(12)]
        assert [job.state for job in await catalog.jobs(kb.id)] == [JobState.RUNNING] * 12

    async def test_of_one_key_none_overtakes_another(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        for id, key in (("one", "a"), ("two", "a"), ("three", "b")):
            await catalog.enqueue(_job(kb, id, key))
        first = await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        second = await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        assert first is not None
        assert second is not None
        assert (first.id, second.id) == ("one", "three")
        assert await catalog.claim(kb.id, "w", now=NOW, seconds=60) is None
        # Also not while the first waits for its next attempt.
        await catalog.fail("one", "w", "the disk was full", now=NOW, again_at=NOW + 10)
        assert await catalog.claim(kb.id, "w", now=NOW + 5, seconds=60) is None
        again = await catalog.claim(kb.id, "w", now=NOW + 10, seconds=60)
        assert again is not None
        assert (again.id, again.attempts, again.reason) == ("one", 2, "the disk was full")
        await catalog.settle("one", "w")
        after = await catalog.claim(kb.id, "w", now=NOW + 10, seconds=60)
        assert after is not None
        assert after.id == "two"

    async def test_asking_twice_is_asking_once(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.enqueue(_job(kb, "one", request="same"))
        assert (await catalog.enqueue(_job(kb, "two", request="same"))).id == "one"
        await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        # What is under way may have read the folder already: the next word counts.
        assert (await catalog.enqueue(_job(kb, "three", request="same"))).id == "three"
        assert [job.id for job in await catalog.jobs(kb.id)] == ["one", "three"]

    async def test_an_expired_claim_is_free_and_its_late_word_refused(
        self, catalog: Catalog, kb: KnowledgeBase
    ) -> None:
        await catalog.enqueue(_job(kb, "one"))
        await catalog.claim(kb.id, "slow", now=NOW, seconds=60)
        await catalog.extend("one", "slow", now=NOW + 50, seconds=60)
        assert await catalog.claim(kb.id, "quick", now=NOW + 100, seconds=60) is None
        taken = await catalog.claim(kb.id, "quick", now=NOW + 110, seconds=60)
        assert taken is not None
        assert (taken.id, taken.attempts) == ("one", 2)
        for late in (
            catalog.settle("one", "slow"),
            catalog.extend("one", "slow", now=NOW + 111, seconds=60),
            catalog.fail("one", "slow", "late", now=NOW + 111, again_at=None),
        ):
            with pytest.raises(BusyError):
                await late
        await catalog.settle("one", "quick")
        assert await catalog.jobs(kb.id) == []

    async def test_what_a_dead_worker_held_waits_again(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.enqueue(_job(kb, "one"))
        await catalog.claim(kb.id, "dead", now=NOW, seconds=1_000_000)
        assert await catalog.release_of(kb.id, "another") == 0
        assert await catalog.release_of(kb.id, "dead") == 1
        taken = await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        assert taken is not None

    async def test_given_up_it_says_why_and_is_in_nobody_s_way(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.enqueue(_job(kb, "one", request="same"))
        await catalog.enqueue(_job(kb, "two"))
        await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        await catalog.fail("one", "w", "There is no such folder.", now=NOW, again_at=None)
        dead = (await catalog.jobs(kb.id))[0]
        assert (dead.state, dead.reason, dead.attempts) == (JobState.DEAD, "There is no such folder.", 1)
        after = await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        assert after is not None
        assert after.id == "two"
        await catalog.settle("two", "w")
        # Asked for again, or revived, it is tried again.
        assert (await catalog.enqueue(_job(kb, "three", request="same"))).state is JobState.WAITING
        await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        await catalog.fail("one", "w", "still none", now=NOW, again_at=None)
        await catalog.revive("one", now=NOW)
        assert (await catalog.claim(kb.id, "w", now=NOW, seconds=60)) is not None

    async def test_dropped_and_missing(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        await catalog.enqueue(_job(kb, "one"))
        await catalog.claim(kb.id, "w", now=NOW, seconds=60)
        with pytest.raises(BusyError):
            await catalog.drop("one")
        await catalog.fail("one", "w", "no", now=NOW, again_at=None)
        await catalog.drop("one")
        assert await catalog.jobs(kb.id) == []
        for missing in (catalog.drop("one"), catalog.revive("one", now=NOW)):
            with pytest.raises(NotFoundError):
                await missing

    async def test_bases_do_not_see_each_other_s(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        other = await catalog.create_kb(kb.tenant, "other", now=NOW)
        await catalog.enqueue(_job(kb, "one"))
        assert await catalog.jobs(other.id) == []
        assert await catalog.claim(other.id, "w", now=NOW, seconds=60) is None
