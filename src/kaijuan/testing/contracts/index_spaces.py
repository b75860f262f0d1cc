"""The last part of the index contract, and the whole: spaces, handles, what outlives what, callers at once."""

from __future__ import annotations

import asyncio

import pytest

from kaijuan.core.filters import EVERYTHING, Eq, at_snapshot
from kaijuan.errors import ClosedError, NotFoundError, SpaceMismatchError
from kaijuan.index.ports import Index, IndexStore, SpaceSpec
from kaijuan.testing.contracts.index import Make, Ranking, Refusing, SharedTests, Writing, scanned
from kaijuan.testing.contracts.index_filters import Filtering
from kaijuan.testing.contracts.index_points import chunk, corpus, point, spec, vector
from kaijuan.testing.contracts.index_readers import Access


class Spaces(SharedTests):
    """Spaces are apart, are what they were built for, and handles know when they are over."""

    async def test_two_spaces_never_meet(self, store: IndexStore) -> None:
        left, right = await store.open(spec("left")), await store.open(spec("right", dimensions=3))
        await left.upsert([point(1)])
        await right.upsert([point(2, at=vector(1.0, dimensions=3))])
        assert await scanned(left) == [1]
        assert await scanned(right) == [2]
        assert await store.spaces() == ["left", "right"]

    async def test_an_unknown_space_is_not_made_unasked(self, store: IndexStore) -> None:
        with pytest.raises(NotFoundError):
            await store.open(spec(), create=False)
        assert await store.spaces() == []
        await store.drop("main")

    @pytest.mark.parametrize(
        "other", [spec(dimensions=8), spec(model="m2"), spec(analyser="a2")], ids=["dimensions", "model", "analyser"]
    )
    async def test_a_space_built_for_another_model_is_refused(self, store: IndexStore, other: SpaceSpec) -> None:
        index = await store.open(spec())
        await index.upsert([point(1)])
        with pytest.raises(SpaceMismatchError):
            await store.open(other)
        with pytest.raises(SpaceMismatchError):
            await store.open(other, create=False)
        assert await scanned(index) == [1]
        assert index.spec == spec()

    async def test_a_dropped_space_is_gone_for_old_handles_too(self, store: IndexStore) -> None:
        old = await store.open(spec())
        await old.upsert([point(1)])
        await store.drop("main")
        assert await store.spaces() == []
        with pytest.raises(NotFoundError):
            await old.count(EVERYTHING)
        new = await store.open(spec(model="m2"))
        assert await new.count(EVERYTHING) == 0
        with pytest.raises(NotFoundError):
            await old.upsert([point(2)])
        assert await scanned(new) == []

    async def test_a_closed_handle_is_of_no_use(self, store: IndexStore) -> None:
        index, other = await store.open(spec()), await store.open(spec())
        await index.upsert([point(1)])
        await index.close()
        await index.close()
        for use in (
            index.upsert([point(2)]),
            index.close_interval([chunk(1)], 3),
            index.delete([chunk(1)]),
            index.search_dense(vector(1.0), 3, EVERYTHING),
            index.search_dense(vector(1.0), 0, EVERYTHING),
            index.search_lexical({1: 1.0}, 3, EVERYTHING),
            index.search_lexical({}, 3, EVERYTHING),
            scanned(index),
            index.count(EVERYTHING),
            index.optimise(),
            index.flush(),
        ):
            with pytest.raises(ClosedError):
                await use
        assert await scanned(other) == [1]

    async def test_a_closed_store_is_of_no_use(self, make: Make) -> None:
        store = await make()
        index = await store.open(spec())
        await store.close()
        await store.close()
        for use in (store.open(spec()), store.spaces(), store.drop("main"), index.count(EVERYTHING)):
            with pytest.raises(ClosedError):
                await use


class Lasting(SharedTests):
    """Optimising, flushing and opening again change no answer."""

    async def test_optimising_keeps_every_answer(self, index: Index) -> None:
        points = corpus(1_500)
        await index.upsert(points)
        gone, closed = [item.id for item in points[::9]], [item.id for item in points[1::9]]
        await index.delete(gone)
        await index.close_interval(closed, 3)
        before = await _answers(index)
        await index.optimise()
        assert await _answers(index) == before
        await index.optimise()
        await index.upsert([point(10**6, kind="new")])
        assert await scanned(index, Eq("kind", "new")) == [10**6]

    async def test_writes_during_optimising_are_kept(self, index: Index) -> None:
        points = corpus(1_200)
        await index.upsert(points[:800])
        running = asyncio.create_task(index.optimise())
        for start in range(800, 1_200, 50):
            await index.upsert(points[start : start + 50])
            await index.delete([points[start - 800].id])
            await index.close_interval([points[start - 799].id], 9)
            await asyncio.sleep(0.02)
        await running
        assert await index.count(EVERYTHING) == 1_200 - 8
        assert await index.count(Eq("valid_to", 9)) == 8
        left = [item for number, item in enumerate(points) if number not in range(0, 400, 50)]
        assert [chunk(number) for number in await scanned(index)] == sorted(item.id for item in left)

    async def test_opening_again_keeps_every_answer(self, make: Make) -> None:
        store = await make()
        if not store.abilities.durable:
            await store.close()
            pytest.skip("this engine declares that it forgets at the end of the process")
        index = await store.open(spec())
        await index.upsert(corpus(700))
        before = await _answers(index)
        await index.flush()
        await store.close()
        again = await make()
        assert await _answers(await again.open(spec(), create=False)) == before
        await again.close()

    async def test_two_handles_see_the_same(self, store: IndexStore) -> None:
        one, two = await store.open(spec()), await store.open(spec(), create=False)
        await one.upsert([point(1)])
        assert await scanned(two) == [1]
        await two.delete([chunk(1)])
        assert await scanned(one) == []


async def _answers(index: Index) -> list[object]:
    query = vector(0.3, -1.0, 0.5, 0.1)
    answers: list[object] = [[header async for header in index.scan(EVERYTHING)]]
    for where in (EVERYTHING, at_snapshot(2), at_snapshot(6), Eq("kind", "pdf")):
        answers.append(await index.count(where))
        answers.append(await index.search_dense(query, 30, where))
        answers.append(await index.search_lexical({1: 1.0, 2: 0.5, 77: 1.0}, 30, where))
    return answers


class Company(SharedTests):
    """Many callers at once get what each would get alone."""

    async def test_searches_at_once_are_as_alone(self, index: Index) -> None:
        points = corpus(1_000)
        await index.upsert(points)
        queries = [item.vector for item in points[:25]]
        alone = [await index.search_dense(query, 5, at_snapshot(6)) for query in queries]
        words = [await index.search_lexical({number: 1.0}, 5, EVERYTHING) for number in range(1, 26)]
        together = await asyncio.gather(
            *(index.search_dense(query, 5, at_snapshot(6)) for query in queries),
            *(index.search_lexical({number: 1.0}, 5, EVERYTHING) for number in range(1, 26)),
        )
        assert list(together) == [*alone, *words]

    async def test_several_writers_and_readers(self, store: IndexStore) -> None:
        handles = [await store.open(spec()) for _ in range(4)]

        async def write(index: Index, first: int) -> None:
            for number in range(first, first + 30, 3):
                await index.upsert([point(number), point(number + 1), point(number + 2)])
                seen = await scanned(index)
                assert {number, number + 1, number + 2} <= set(seen)
                assert seen == sorted(seen)

        await asyncio.gather(*(write(index, 1_000 * place) for place, index in enumerate(handles)))
        assert await handles[0].count(EVERYTHING) == 120

    async def test_a_cancelled_search_disturbs_nobody(self, index: Index) -> None:
        await index.upsert(corpus(1_000))
        running = [asyncio.create_task(index.search_dense(vector(1.0), 9, EVERYTHING)) for _ in range(20)]
        await asyncio.sleep(0)
        for task in running[::2]:
            task.cancel()
        answers = await asyncio.gather(*running, return_exceptions=True)
        whole = await index.search_dense(vector(1.0), 9, EVERYTHING)
        assert all(answer == whole for answer in answers[1::2])

    async def test_a_cancelled_write_is_whole_or_absent(self, index: Index) -> None:
        for number in range(12):
            batch = [point(number * 100 + place, batch=number) for place in range(40)]
            task = asyncio.create_task(index.upsert(batch))
            await asyncio.sleep(0.001 * (number % 4))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await index.upsert([point(99_999)])
        for number in range(12):
            assert await index.count(Eq("batch", number)) in (0, 40)


class IndexContract(Writing, Refusing, Ranking, Filtering, Access, Spaces, Lasting, Company):
    """Everything that an index engine must keep."""
