"""What every index engine must keep, as tests to inherit: subclass `IndexContract` (`index_spaces.py`) and give the
fixture `make`.

`make` is a function that opens another store on the same state (a durable one finds what the first wrote). State
must be empty at the start of each test, and `make`'s clean-up must leave none.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from kaijuan.core.filters import EVERYTHING, And, Eq, Exists, Filter, In, Not, Range, all_of, at_snapshot, matches
from kaijuan.core.snapshots import OPEN, visible
from kaijuan.errors import FilterError, UsageError
from kaijuan.index.ports import Hit, Index, IndexStore, Point, Vector, search_lexical_each
from kaijuan.testing.contracts.index_points import (
    DIMENSIONS,
    SHARES,
    Fields,
    assert_best,
    bm25_scores,
    chunk,
    corpus,
    cosine_scores,
    judged,
    point,
    spec,
    vector,
)

Make = Callable[[], Awaitable[IndexStore]]


def ids(hits: list[Hit]) -> list[int]:
    """Return the numbers of the chunks hit."""
    return [int(hit.id, 16) for hit in hits]


async def scanned(index: Index, where: Filter = EVERYTHING) -> list[int]:
    """Return the numbers of all chunks that match, as scan gives them."""
    return [int(header.id, 16) async for header in index.scan(where)]


class SharedTests:
    """Refuses subclasses that replace a shared test without saying why (as langchain-tests does)."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        for name, member in vars(cls).items():
            inherited = name.startswith("test_") and any(name in vars(base) for base in cls.__mro__[1:])
            if inherited and not any(mark.name == "xfail" for mark in getattr(member, "pytestmark", ())):
                raise TypeError(f"{cls.__name__} replaces the shared test {name}; mark it xfail with a reason.")

    @pytest.fixture
    async def make(self) -> Make:
        """Return a function that opens a store; override."""
        raise NotImplementedError

    @pytest.fixture
    async def store(self, make: Make) -> AsyncIterator[IndexStore]:
        store = await make()
        yield store
        await store.close()

    @pytest.fixture
    async def index(self, store: IndexStore) -> Index:
        return await store.open(spec())


class Writing(SharedTests):
    """What is written is there, once, and nothing else."""

    async def test_starts_empty(self, store: IndexStore) -> None:
        assert await store.spaces() == []
        index = await store.open(spec())
        assert await store.spaces() == ["main"]
        assert await index.count(EVERYTHING) == 0
        assert await scanned(index) == []
        assert await index.search_dense(vector(1.0), 5, EVERYTHING) == []
        assert await index.search_lexical({1: 1.0}, 5, EVERYTHING) == []

    async def test_writing_twice_is_writing_once(self, index: Index) -> None:
        points = [point(1), point(2, at=vector(0, 1))]
        await index.upsert(points)
        await index.upsert(points)
        assert await scanned(index) == [1, 2]
        assert ids(await index.search_dense(vector(1.0), 5, EVERYTHING)) == [1, 2]

    async def test_an_upsert_replaces_the_whole_point(self, index: Index) -> None:
        await index.upsert([point(1, terms={1: 1.0, 2: 1.0}, kind="pdf", valid_to=9)])
        await index.upsert([point(1, at=vector(0, 1), terms={3: 1.0}, size=4)])
        assert await index.count(Eq("kind", "pdf")) == 0
        assert await index.count(And((Eq("size", 4), Eq("valid_to", OPEN)))) == 1
        assert (await index.search_dense(vector(0, 1), 1, EVERYTHING))[0].score == pytest.approx(1, abs=1e-5)
        assert await index.search_lexical({1: 1.0, 2: 1.0}, 5, EVERYTHING) == []
        assert ids(await index.search_lexical({3: 1.0}, 5, EVERYTHING)) == [1]

    async def test_of_one_id_twice_in_a_call_the_last_counts(self, index: Index) -> None:
        await index.upsert([point(1, size=1), point(2), point(1, size=2)])
        assert await scanned(index, Eq("size", 2)) == [1]
        assert await index.count(EVERYTHING) == 2

    async def test_deleted_points_are_found_by_nothing(self, index: Index) -> None:
        await index.upsert([point(1), point(2), point(3)])
        await index.delete([chunk(2), chunk(2)])
        assert await scanned(index) == [1, 3]
        assert ids(await index.search_dense(vector(1.0), 5, EVERYTHING)) == [1, 3]
        assert ids(await index.search_lexical({1: 1.0}, 5, EVERYTHING)) == [1, 3]
        await index.upsert([point(2)])
        assert await scanned(index) == [1, 2, 3]

    async def test_the_missing_are_deleted_and_closed_quietly(self, index: Index) -> None:
        await index.upsert([point(1)])
        await index.delete([chunk(7)])
        await index.close_interval([chunk(7), chunk(1)], 3)
        await index.delete([])
        await index.close_interval([], 3)
        await index.upsert([])
        assert await scanned(index, Eq("valid_to", 3)) == [1]

    async def test_inputs_are_not_changed(self, index: Index) -> None:
        places = np.ones(DIMENSIONS, dtype=np.float32)
        points = [point(1, at=places, terms={1: 0.3, 2: 0.0}, acl=("a", "b"))]
        before = copy.deepcopy(points)
        query, terms = np.full(DIMENSIONS, 2, dtype=np.float32), {1: 0.7}
        await index.upsert(points)
        await index.search_dense(query, 3, EVERYTHING)
        await index.search_lexical(terms, 3, EVERYTHING)
        assert np.array_equal(points[0].vector, before[0].vector)
        assert points[0].terms == before[0].terms
        assert points[0].payload == before[0].payload
        assert (query == 2).all()
        assert terms == {1: 0.7}

    async def test_payloads_come_back_as_they_went_in(self, index: Index) -> None:
        payload: Fields = {
            "text": "汉字 かな العربية हिन्दी Ελληνικά 😀👩‍👩‍👧 e\u0301 \u200b \x00 \n",
            "marked": "\x00true",
            "empty": "",
            "long": "长" * 100_000,
            "yes": True,
            "no": False,
            "one": 1,
            "float_one": 1.0,
            "least": -(2**63),
            "most": 2**63 - 1,
            "odd": 2**53 + 1,
            "seventeen_digits": 1.0999999999999999,
            "ugly": 94.52706955539223,
            "tiny": 5e-324,
            "huge": 1.7976931348623157e308,
            "list": ("a", "b", "a"),
            "empty_list": (),
            "with.dot": "d",
        }
        await index.upsert([point(1, fields=payload), point(2)])
        headers = [header async for header in index.scan(EVERYTHING)]
        assert dict(headers[0].payload) == payload
        assert {name: type(value) for name, value in headers[0].payload.items()} == {
            name: type(value) for name, value in payload.items()
        }
        assert dict(headers[1].payload) == {}
        for name in ("seventeen_digits", "ugly", "tiny", "huge", "least", "odd", "marked", "with.dot"):
            value = payload[name]
            assert not isinstance(value, tuple)
            assert await scanned(index, Eq(name, value)) == [1], name
        assert await scanned(index, In("ugly", (1, 94.52706955539223))) == [1]

    async def test_more_than_one_batch(self, index: Index) -> None:
        points = corpus(1_700)
        await index.upsert(points)
        assert await index.count(EVERYTHING) == len(points)
        assert [chunk(number) for number in await scanned(index)] == sorted(item.id for item in points)
        gone = [item.id for item in points[::2]]
        await index.close_interval([item.id for item in points], 77)
        await index.delete(gone)
        assert await index.count(Eq("valid_to", 77)) == len(points) - len(gone)

    async def test_scan_tells_intervals_and_only_what_matches(self, index: Index) -> None:
        await index.upsert([point(3, kind="a", valid_from=2, valid_to=9), point(1, kind="a"), point(2, kind="b")])
        headers = [header async for header in index.scan(Eq("kind", "a"))]
        assert [(int(header.id, 16), header.valid_from, header.valid_to) for header in headers] == [
            (1, 0, OPEN),
            (3, 2, 9),
        ]


_BAD = {
    "negative term": point(1, terms={-1: 1.0}),
    "long term": point(1, terms={2**32: 1.0}),
    "undefined weight": point(1, terms={1: float("nan")}),
    "negative weight": point(1, terms={1: -0.5}),
    "long integer": point(1, size=2**63),
    "infinity": point(1, size=float("inf")),
    "surrogate": point(1, text="\ud800"),
    "mixed list": point(1, fields={"list": ("a", 1)}),  # type: ignore[dict-item]  # a wrong list
    "marked field": point(1, fields={"\x00exact": 1}),
    "reserved field": point(1, fields={"valid_to": 3}),
    "nameless field": point(1, fields={"": 3}),
    "early start": point(1, valid_from=-1),
    "late end": point(1, valid_to=OPEN + 1),
    "wrong id": Point(id="../etc", vector=vector(1.0), terms={}),  # type: ignore[arg-type]  # a wrong id
}


class Refusing(SharedTests):
    """What cannot be is refused whole."""

    @pytest.mark.parametrize(
        "bad",
        [
            np.ones(DIMENSIONS - 1, dtype=np.float32),
            np.ones((1, DIMENSIONS), dtype=np.float32),
            np.full(DIMENSIONS, np.nan, dtype=np.float32),
            np.full(DIMENSIONS, np.inf, dtype=np.float32),
            np.zeros(DIMENSIONS, dtype=np.float32),
        ],
        ids=["short", "matrix", "nan", "infinite", "zero"],
    )
    async def test_bad_vectors_are_refused_and_nothing_is_written(self, index: Index, bad: Vector) -> None:
        good = [point(number) for number in range(1_200)]
        with pytest.raises(UsageError):
            await index.upsert([*good, point(5_000, at=bad)])
        assert await index.count(EVERYTHING) == 0
        with pytest.raises(UsageError):
            await index.search_dense(bad, 3, EVERYTHING)

    @pytest.mark.parametrize("bad", _BAD.values(), ids=_BAD)
    async def test_bad_points_are_refused_and_nothing_is_written(self, index: Index, bad: Point) -> None:
        with pytest.raises(UsageError):
            await index.upsert([point(2), bad])
        assert await index.count(EVERYTHING) == 0

    async def test_bad_questions_are_refused(self, index: Index) -> None:
        await index.upsert([point(1)])
        with pytest.raises(UsageError):
            await index.search_dense(vector(1.0), -1, EVERYTHING)
        with pytest.raises(UsageError):
            await index.search_lexical({1: float("nan")}, 3, EVERYTHING)
        with pytest.raises(UsageError):
            await index.search_lexical({-1: 1.0}, 3, EVERYTHING)
        with pytest.raises(UsageError):
            await index.close_interval([chunk(1)], -1)
        with pytest.raises(UsageError):
            await index.delete(["x"])  # type: ignore[list-item]  # a wrong id

    async def test_fields_may_have_chinese_names(self, index: Index) -> None:
        mine: dict[str, Any] = {"部门": "运维", "版本.年份": 2024, "标签": ("红", "蓝")}
        other: dict[str, Any] = {"部门": "行政", "版本.年份": 2023}
        await index.upsert([point(1, **mine), point(2, **other)])
        cases: tuple[tuple[Filter, int], ...] = (
            (Eq("部门", "运维"), 1),
            (In("部门", ("运维", "行政")), 2),
            (Range(field="版本.年份", gte=2024), 1),
            (Eq("标签", "蓝"), 1),
            (Exists("标签"), 1),
            (Not(Eq("部门", "运维")), 1),
        )
        for where, found in cases:
            assert await index.count(where) == found
            assert len(await index.search_dense(vector(1.0), 5, where)) == found

    async def test_a_filter_that_cannot_be_applied_is_an_error(self, index: Index) -> None:
        deep: Filter = Eq("a", 1)
        for _ in range(5_000):
            deep = Not(deep)
        for bad in (deep, Eq("a", 2**64), In("a", ("\udfff",))):
            with pytest.raises(FilterError):
                await index.search_dense(vector(1.0), 3, bad)
            with pytest.raises(FilterError):
                await index.search_lexical({1: 1.0}, 3, bad)
            with pytest.raises(FilterError):
                await index.count(bad)
            with pytest.raises(FilterError):
                await scanned(index, bad)

    @pytest.mark.parametrize("name", ["", "..", "a/b", "a b", "x" * 101, "中", ".hidden", "a\n"])
    async def test_names_that_are_no_names_are_refused(self, store: IndexStore, name: str) -> None:
        with pytest.raises(UsageError):
            await store.open(spec(name))
        with pytest.raises(UsageError):
            await store.drop(name)


class Ranking(SharedTests):
    """The exact best k, ties by id."""

    async def test_k_beyond_the_count_gives_all(self, index: Index) -> None:
        await index.upsert([point(1), point(2)])
        assert ids(await index.search_dense(vector(1.0), 10**9, EVERYTHING)) == [1, 2]
        assert ids(await index.search_lexical({1: 1.0}, 10**9, EVERYTHING)) == [1, 2]

    async def test_no_hits_wanted_none_given(self, index: Index) -> None:
        await index.upsert([point(1)])
        assert await index.search_dense(vector(1.0), 0, EVERYTHING) == []
        assert await index.search_lexical({1: 1.0}, 0, EVERYTHING) == []
        assert await index.search_lexical({}, 5, EVERYTHING) == []

    async def test_ties_go_by_id_also_across_the_border(self, index: Index) -> None:
        await index.upsert([point(number) for number in range(300, 0, -1)])
        await index.upsert([point(900, at=vector(1.0, 0.5), terms={1: 1.5})])
        for k in (1, 2, 7, 150, 299):
            assert ids(await index.search_dense(vector(1.0), k, EVERYTHING)) == list(range(1, k + 1))
            assert ids(await index.search_lexical({1: 1.0}, k, EVERYTHING)) == [900, *range(1, k)]

    async def test_only_scores_above_zero_are_lexical_hits(self, index: Index) -> None:
        await index.upsert([point(1), point(2, terms={2: 1.0}), point(3, terms={}), point(4, terms={1: 0.0})])
        assert ids(await index.search_lexical({1: 1.0, 9: 1.0}, 5, EVERYTHING)) == [1]
        assert await index.search_lexical({9: 1.0}, 5, EVERYTHING) == []
        assert await index.search_lexical({1: 0.0}, 5, EVERYTHING) == []
        assert len(await index.search_dense(vector(0, 1), 5, EVERYTHING)) == 4

    async def test_vectors_count_by_direction_alone(self, index: Index) -> None:
        await index.upsert([point(1, at=vector(1.0) * 9), point(2, at=-vector(1.0)), point(3, at=vector(1, 1))])
        hits = await index.search_dense(vector(1.0) * 3, 5, EVERYTHING)
        assert ids(hits) == [1, 3, 2]
        assert [hit.score for hit in hits] == pytest.approx([1, 2**-0.5, -1], abs=1e-5)

    async def test_term_ids_use_all_32_bits(self, index: Index) -> None:
        await index.upsert([point(1, terms={2**32 - 1: 1.0}), point(2, terms={0: 1.0}), point(3, terms={2**31: 1.0})])
        assert ids(await index.search_lexical({2**32 - 1: 1.0}, 5, EVERYTHING)) == [1]
        assert ids(await index.search_lexical({0: 1.0, 2**31: 2.0}, 5, EVERYTHING)) == [3, 2]

    async def test_several_searches_by_words_in_one_call_find_what_single_ones_find(self, index: Index) -> None:
        await index.upsert([point(number, terms={number % 3: 1.0, 7: 1.0 / number}) for number in range(1, 9)])
        several = [{0: 1.0}, {}, {7: 1.0, 2: 0.5}, {99: 1.0}, {1: 1.0}]
        for where in (EVERYTHING, at_snapshot(4)):
            alone = [await index.search_lexical(terms, 3, where) for terms in several]
            assert await search_lexical_each(index, several, 3, where) == alone
        assert await search_lexical_each(index, [], 3, EVERYTHING) == []
        assert await search_lexical_each(index, several, 0, EVERYTHING) == [[]] * len(several)
        with pytest.raises(UsageError):
            await search_lexical_each(index, [{1: 1.0}, {-1: 1.0}], 3, EVERYTHING)

    async def test_rarity_is_counted_in_the_snapshot_asked_for(self, index: Index) -> None:
        old = [point(number, terms={1: 1.0, 2: 1.0} if number < 3 else {3: 1.0}) for number in range(1, 9)]
        await index.upsert(old)
        now = await index.search_lexical({1: 1.0, 2: 0.5}, 5, at_snapshot(4))
        staged = [point(number, terms={1: 1.0}, valid_from=5) for number in range(20, 60)]
        await index.upsert(staged)
        await index.close_interval([chunk(1)], 5)
        assert await index.search_lexical({1: 1.0, 2: 0.5}, 5, at_snapshot(4)) == now
        later = [*old[1:], *staged]
        expected = bm25_scores(later, {1: 1.0, 2: 0.5}, later)
        assert_best(await index.search_lexical({1: 1.0, 2: 0.5}, 60, at_snapshot(5)), expected, 60)

    async def test_rarity_without_a_snapshot_is_counted_in_all_points_left(self, index: Index) -> None:
        points = [point(number, terms={1: 1.0, number: 1.0}) for number in range(2, 40)]
        await index.upsert(points)
        await index.delete([item.id for item in points[:30]])
        await index.upsert([point(39, terms={5: 1.0})])
        left = [*points[30:-1], point(39, terms={5: 1.0})]
        assert_best(
            await index.search_lexical({1: 1.0, 35: 1.0}, 9, EVERYTHING),
            bm25_scores(left, {1: 1.0, 35: 1.0}, left),
            9,
        )

    async def test_exact_at_every_selectivity(self, index: Index) -> None:
        points = corpus(4_000)
        await index.upsert(points)
        await assert_exact(index, points, k=50)

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    async def test_exact_among_a_hundred_thousand(self, index: Index) -> None:
        points = corpus(100_000)
        for start in range(0, len(points), 5_000):
            await index.upsert(points[start : start + 5_000])
        await assert_exact(index, points, k=10)


async def assert_exact(index: Index, points: list[Point], *, k: int) -> None:
    """Fail unless dense and lexical search are exact for every share, alone and with tenant, groups and snapshot."""
    counted = [item for item in points if visible(item.valid_from, item.valid_to, 6)]
    query, terms = points[17].vector + points[3].vector, {1: 1.0, 2: 0.6, 5: 1.0, 40: 1.0, 333: 0.8}
    everyone = (Eq("tenant", "t1"), In("acl", ("g1", "g4")), at_snapshot(6))
    for share in SHARES:
        band = Range(field="band", lt=share)
        for where, population in ((band, points), (all_of([band, *everyone]), counted)):
            passing = [item for item in points if matches(where, judged(item))]
            assert await index.count(where) == len(passing)
            assert_best(await index.search_dense(query, k, where), cosine_scores(passing, query), k)
            found = await index.search_lexical(terms, k, where)
            assert_best(found, bm25_scores(passing, terms, population), k)
