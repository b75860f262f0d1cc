"""Random points and random filters: the embedded engine answers as the judge in memory does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaijuan.core.filters import And, Eq, Exists, Filter, In, Not, Or, Range, Value, at_snapshot, matches
from kaijuan.core.snapshots import OPEN, visible
from kaijuan.index.ports import Index, Point, Vector
from kaijuan.stores.index import checks, protocol, qdrant_edge, ranking
from kaijuan.stores.index.edge_store import EdgeIndexStore
from kaijuan.stores.index.memory import MemoryIndexStore
from kaijuan.stores.index.qdrant_edge import Shard
from kaijuan.stores.index.qdrant_payloads import decode_payload, encode_payload
from kaijuan.testing.contracts.index import scanned
from kaijuan.testing.contracts.index_points import (
    assert_best,
    bm25_scores,
    chunk,
    cosine_scores,
    judged,
    spec,
)

DIMENSIONS = 3
TEXTS = st.sampled_from(["", "a", "b", "中文", "true", "1", "\x00", "\x00true", "😀"])
NUMBERS = st.one_of(
    st.integers(-3, 3), st.sampled_from([-1.5, -0.0, 0.5, 1.0, 2.0, 1e21, -1e-9]), st.sampled_from([2**53, -(2**53)])
)
SCALARS: st.SearchStrategy[Value] = st.one_of(TEXTS, NUMBERS, st.booleans())
FIELDS = st.sampled_from(["a", "b", "c.d", "tags", "tenant", "acl"])
PAYLOADS = st.dictionaries(FIELDS, st.one_of(SCALARS, st.lists(TEXTS, max_size=3).map(tuple)), max_size=4)
PLACES = st.sampled_from([(1, 0, 0), (0, 1, 0), (1, 1, 0), (-1, 0, 0), (1, 2, 3), (0.1, -0.7, 0.2)])
TERMS = st.dictionaries(st.integers(0, 5), st.sampled_from([0.25, 0.5, 1.0, 1.7]), max_size=4)
SNAPSHOTS = st.one_of(st.integers(0, 6), st.just(OPEN))


@st.composite
def ranges(draw: st.DrawFn) -> Range:
    sides = draw(st.sets(st.sampled_from(["gte", "gt", "lte", "lt"]), min_size=1, max_size=2))
    field = draw(st.one_of(FIELDS, st.sampled_from(["valid_from", "valid_to"])))
    return Range(field=field, **{side: draw(NUMBERS) for side in sorted(sides)})


LEAVES: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Eq, FIELDS, SCALARS),
    st.builds(In, FIELDS, st.lists(SCALARS, max_size=3).map(tuple)),
    ranges(),
    st.builds(Exists, FIELDS),
    st.integers(0, 6).map(at_snapshot),
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: And(tuple(items))),
        st.lists(inner, max_size=3).map(lambda items: Or(tuple(items))),
        inner.map(Not),
    ),
    max_leaves=8,
)


@st.composite
def points(draw: st.DrawFn) -> list[Point]:
    numbers = draw(st.lists(st.integers(0, 40), max_size=14, unique=True))
    return [
        Point(
            id=chunk(number),
            vector=np.array(draw(PLACES), dtype=np.float32),
            terms=draw(TERMS),
            payload=draw(PAYLOADS),
            valid_from=draw(st.integers(0, 5)),
            valid_to=draw(SNAPSHOTS),
        )
        for number in numbers
    ]


CHANGES = st.lists(st.tuples(st.sampled_from(["delete", "close", "write"]), points(), SNAPSHOTS), max_size=3)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    yield home
    asyncio.run(_stop(home))


async def _stop(home: Path) -> None:
    store = EdgeIndexStore(home)
    await store.stop_owner()
    await store.close()


async def _change(index: Index, changes: list[tuple[str, list[Point], int]]) -> None:
    for kind, items, snapshot in changes:
        if kind == "delete":
            await index.delete([item.id for item in items])
        elif kind == "close":
            await index.close_interval([item.id for item in items], snapshot)
        else:
            await index.upsert(items)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=points(), changes=CHANGES, wheres=st.lists(FILTERS, min_size=1, max_size=4), query=PLACES, terms=TERMS)
def test_the_embedded_engine_answers_as_the_judge_does(
    home: Path,
    first: list[Point],
    changes: list[tuple[str, list[Point], int]],
    wheres: list[Filter],
    query: tuple[float, float, float],
    terms: dict[int, float],
) -> None:
    async def both() -> None:
        engine, judge = EdgeIndexStore(home, 60.0), MemoryIndexStore()
        left = await engine.open(spec("law", dimensions=DIMENSIONS))
        right = await judge.open(spec("law", dimensions=DIMENSIONS))
        await left.delete([chunk(number) for number in range(41)])
        for index in (left, right):
            await index.upsert(first)
            await _change(index, changes)
        place = np.array(query, dtype=np.float32)
        for where in wheres:
            assert [header async for header in left.scan(where)] == [header async for header in right.scan(where)]
            assert await left.count(where) == len(await scanned(right, where))
            for k in (1, 3, 50):
                assert await left.search_dense(place, k, where) == await right.search_dense(place, k, where)
                found, sought = [await index.search_lexical(terms, k, where) for index in (left, right)]
                assert [hit.score for hit in found] == pytest.approx([hit.score for hit in sought], rel=1e-5)
                assert k < 50 or {hit.id for hit in found} == {hit.id for hit in sought}
        await engine.close()
        await judge.close()

    asyncio.run(both())


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shard]:
    shard = Shard.create(tmp_path_factory.mktemp("shard") / "s", DIMENSIONS)
    yield shard
    shard.close()


@pytest.mark.parametrize("optimised", [False, True])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=points(), wheres=st.lists(FILTERS, min_size=3, max_size=6), query=PLACES, terms=TERMS)
def test_indexed_fields_and_optimised_shards_change_no_answer(
    shard: Shard,
    monkeypatch: pytest.MonkeyPatch,
    optimised: bool,
    items: list[Point],
    wheres: list[Filter],
    query: tuple[float, float, float],
    terms: dict[int, float],
) -> None:
    monkeypatch.setattr(qdrant_edge, "_INDEX_FROM", 0)
    clean = checks.check_points(spec(dimensions=DIMENSIONS), items)
    shard.delete([chunk(number) for number in range(41)])
    shard.upsert(clean)
    vector = checks.unit_vector(np.array(query, dtype=np.float32), DIMENSIONS)
    for number, where in enumerate(wheres):
        if optimised and number == 1:
            shard.optimise()
        shard.index_fields(where)
        _judge(shard, clean, where, vector, terms)


def _judge(shard: Shard, items: list[Point], where: Filter, vector: Vector, terms: dict[int, float]) -> None:
    passing = sorted((item for item in items if matches(where, judged(item))), key=lambda item: item.id)
    assert [header.id for header in shard.page(None, 100, where)[0]] == [item.id for item in passing]
    assert_best(shard.search_dense(vector, 5, where), cosine_scores(passing, vector), 5)
    if terms:
        snapshot = ranking.pinned_snapshot(where)
        counted = [i for i in items if snapshot is None or visible(i.valid_from, i.valid_to, snapshot)]
        assert_best(shard.search_lexical(terms, 5, where), bm25_scores(passing, terms, counted), 5)


@given(where=FILTERS)
def test_filters_survive_the_wire(where: Filter) -> None:
    frame = protocol.pack([1, "count", [protocol.pack_filter(where)]])
    _, _, (packed,) = asyncio.run(_read(frame))
    payloads: list[dict[str, Value | tuple[str, ...] | list[str]]] = [
        {},
        {"a": 1, "tags": ("a",)},
        {"a": "中文", "c.d": True, "valid_from": 1, "valid_to": 4},
    ]
    for payload in payloads:
        assert matches(protocol.unpack_filter(packed), payload) == matches(where, payload)


async def _read(frame: bytes) -> protocol.Message:
    reader = asyncio.StreamReader()
    reader.feed_data(frame)
    reader.feed_eof()
    return await protocol.read_message(reader)


@given(items=points())
def test_points_survive_the_wire(items: list[Point]) -> None:
    back = [item for batch in protocol.pack_points(items) for item in protocol.unpack_points(batch)]
    assert len(back) == len(items)
    for sent, received in zip(items, back, strict=True):
        assert np.array_equal(sent.vector, received.vector)
        terms = {term: float(np.float32(weight)) for term, weight in sent.terms.items()}
        assert replace(received, vector=sent.vector) == replace(sent, terms=terms)


@given(
    payload=st.dictionaries(
        st.text(min_size=1, max_size=5).filter(lambda name: not name.startswith("\x00")),
        st.one_of(
            st.text(max_size=9),
            st.booleans(),
            st.integers(-(2**63), 2**63 - 1),
            st.floats(allow_nan=False, allow_infinity=False),
            st.lists(st.text(max_size=3), max_size=3).map(tuple),
        ),
        max_size=4,
    )
)
def test_payloads_survive_being_stored(payload: dict[str, Value | tuple[str, ...]]) -> None:
    back = decode_payload(encode_payload(payload))
    assert back == payload
    assert {name: type(value) for name, value in back.items()} == {name: type(value) for name, value in payload.items()}
