"""Another model's index is built beside the one that serves, follows every run, and never mixes with it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kaijuan.core.filters import EVERYTHING, at_snapshot
from kaijuan.core.ids import ChunkId
from kaijuan.core.snapshots import OPEN, Snapshot
from kaijuan.errors import ModelError, SpaceMismatchError, UsageError
from kaijuan.index.model_spaces import ModelSpace, ModelTrial, SpaceState
from kaijuan.index.ports import Embedder, Index, Vectors
from kaijuan.index.rebuild import model_space_name, spec_of
from kaijuan.index.settings import IndexSettings
from kaijuan.jobs import models
from kaijuan.jobs.spaces import Model
from kaijuan.stores.index.memory import MemoryIndex
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.testing.workshop import START, Workshop

TEXTS: dict[str, str | None] = {
    "travel": "Travel is paid up to 500.\n差旅上限五百元。\nHotels are paid up to 300.",
    "leave": "Annual leave is fifteen days.\n年假十五天。",
    "gone": "An obsolete rule.",
}


class Failing(HashEmbedder):
    """A model of other dimensions, that fails while it is told to."""

    broken = False

    def __init__(self) -> None:
        super().__init__(dimensions=48)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed, or fail."""
        if self.broken:
            raise ModelError("The service does not answer.")
        return await super().embed_passages(texts)


@pytest.fixture
def other() -> Failing:
    return Failing()


@pytest.fixture
async def shop(tmp_path: Path, other: Failing) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    settings = IndexSettings(grace_seconds=0.0, group_chunks=3, embed_batch=2)

    def model_of(row: ModelSpace | None) -> Model:
        other_one = row is not None and row.name == "other"
        return Model(embedder=other if other_one else shop.embedder, settings=settings)

    shop.ingest = replace(shop.ingest, model_of=model_of)
    await shop.add(TEXTS)
    yield shop
    await shop.close()


async def _row(shop: Workshop, other: Embedder) -> ModelSpace:
    kb = await shop.kb()
    info = shop.embedder.info
    own = ModelSpace(
        name="own",
        space=kb.space,
        settings="{}",
        fingerprint=info.fingerprint,
        dimensions=info.dimensions,
        state=SpaceState.SERVING,
    )
    made = replace(
        own,
        name="other",
        space=model_space_name(kb, "other"),
        fingerprint=other.info.fingerprint,
        dimensions=other.info.dimensions,
        state=SpaceState.BUILDING,
    )
    for row in (own, made):
        await shop.catalog.save_model_space(kb.id, row)
    return made


async def _built(shop: Workshop, other: Embedder) -> ModelSpace:
    row = await _row(shop, other)
    return await models.build(shop.ingest, await shop.kb(), row, lambda _done, _total: None)


async def _opened(shop: Workshop, row: ModelSpace, embedder: Embedder) -> Index:
    return await shop.indexes.open(spec_of(row.space, embedder), create=False)


async def _intervals(index: Index) -> dict[ChunkId, tuple[int, int]]:
    return {header.id: (header.valid_from, header.valid_to) async for header in index.scan(EVERYTHING)}


async def _as_the_catalog_says(shop: Workshop) -> dict[ChunkId, tuple[int, int]]:
    return {id: (begin, end) async for id, begin, end in shop.catalog.chunk_ids((await shop.kb()).id)}


async def test_the_new_space_holds_all_versions_kept_and_serves_nobody(shop: Workshop, other: Failing) -> None:
    await shop.remove(["gone"])
    before = (await shop.kb()).space
    row = await _built(shop, other)
    assert row.state is SpaceState.READY
    assert (await shop.kb()).space == before
    intervals = await _intervals(await _opened(shop, row, other))
    assert intervals == await _as_the_catalog_says(shop)
    assert any(end != OPEN for _, end in intervals.values())  # what an earlier snapshot shows is there too


async def test_a_space_of_one_model_is_never_opened_for_another(shop: Workshop, other: Failing) -> None:
    row = await _built(shop, other)
    with pytest.raises(SpaceMismatchError):
        await _opened(shop, row, shop.embedder)


async def test_runs_write_to_every_ready_space(shop: Workshop, other: Failing) -> None:
    row = await _built(shop, other)
    await shop.add({"travel": "Travel is paid up to 800.", "fresh": "A fresh rule."})
    await shop.remove(["leave"])
    index = await _opened(shop, row, other)
    assert await _intervals(index) == await _as_the_catalog_says(shop)
    head = (await shop.kb()).head
    vector = await other.embed_query("A fresh rule.")
    found = await index.search_dense(vector, 1, at_snapshot(head))
    assert found[0].id in await shop.chunks(head)
    assert found[0].score > 0.8


async def test_a_model_that_fails_falls_behind_and_stops_no_run(shop: Workshop, other: Failing) -> None:
    row = await _built(shop, other)
    other.broken = True
    report = await shop.add({"fresh": "A fresh rule."})
    assert report.added == 1
    [known] = [one for one in await shop.catalog.spaces_of_models((await shop.kb()).id) if one.name == "other"]
    assert known.state is SpaceState.BUILDING
    assert "does not answer" in known.note
    with pytest.raises(UsageError):
        await shop.catalog.switch_model((await shop.kb()).id, "other", now=START)
    other.broken = False
    again = await models.build(shop.ingest, await shop.kb(), known, lambda _done, _total: None)
    assert again.state is SpaceState.READY
    assert again.note == ""
    assert await _intervals(await _opened(shop, row, other)) == await _as_the_catalog_says(shop)


async def test_the_serving_model_that_fails_stops_the_run_and_leaves_no_trace(shop: Workshop, other: Failing) -> None:
    await _built(shop, other)
    await shop.catalog.switch_model((await shop.kb()).id, "other", now=START)
    head = (await shop.kb()).head
    other.broken = True
    with pytest.raises(ModelError):
        await shop.add({"fresh": "A fresh rule."})
    assert (await shop.kb()).head == head
    states = {one.name: one.state for one in await shop.catalog.spaces_of_models((await shop.kb()).id)}
    assert states == {"own": SpaceState.FORMER, "other": SpaceState.SERVING}


async def test_a_build_that_was_stopped_goes_on_without_embedding_twice(shop: Workshop, other: Failing) -> None:
    row = await _row(shop, other)
    told: list[str] = []

    class StopError(Exception):
        pass

    def reached(step: str) -> None:
        told.append(step)
        if step == "fill_group":
            raise StopError

    stopping = replace(shop.ingest, reached=reached)
    with pytest.raises(StopError):
        await models.build(stopping, await shop.kb(), row, lambda _done, _total: None)
    counted: list[str] = []
    whole = other.embed_passages

    async def counting(texts: Sequence[str]) -> Vectors:
        counted.extend(texts)
        return await whole(texts)

    other.embed_passages = counting  # type: ignore[method-assign]
    again = await models.build(shop.ingest, await shop.kb(), row, lambda _done, _total: None)
    assert again.state is SpaceState.READY
    assert counted == []  # one group held all of this small base
    assert await _intervals(await _opened(shop, row, other)) == await _as_the_catalog_says(shop)


async def test_what_is_published_during_a_build_is_in_it(shop: Workshop, other: Failing) -> None:
    row = await _row(shop, other)
    published: list[str] = []

    class Meanwhile(Failing):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if not published:
                published.append("once")
                await shop.add({"travel": "Travel is paid up to 900.", "late": "A late rule."})
                await shop.remove(["leave"])
            return await HashEmbedder.embed_passages(self, texts)

    slow = Meanwhile()
    spaces = replace(shop.ingest, model_of=lambda one: _model(shop, slow, one))
    made = await models.build(spaces, await shop.kb(), row, lambda _done, _total: None)
    assert published
    assert made.state is SpaceState.READY
    assert await _intervals(await _opened(shop, row, slow)) == await _as_the_catalog_says(shop)


def _model(shop: Workshop, other: Embedder, row: ModelSpace | None) -> Model:
    settings = IndexSettings(grace_seconds=0.0)
    return Model(embedder=other if row is not None and row.name == "other" else shop.embedder, settings=settings)


async def test_switching_moves_head_to_the_other_space_and_back(shop: Workshop, other: Failing) -> None:
    row = await _built(shop, other)
    kb = await shop.kb()
    await shop.catalog.switch_model(kb.id, "other", now=START + 1)
    assert (await shop.kb()).space == row.space
    await shop.add({"fresh": "A fresh rule."})
    await shop.catalog.switch_model(kb.id, "own", now=START + 2)
    assert (await shop.kb()).space == kb.space
    head = (await shop.kb()).head
    assert await shop.points(head) == await shop.chunks(head)  # the former one had followed


async def test_a_rebuild_keeps_the_spaces_of_other_models(shop: Workshop, other: Failing) -> None:
    row = await _built(shop, other)
    made = await shop.ingest.rebuild(await shop.kb())
    assert set(await shop.indexes.spaces()) == {made.space, row.space}
    own = next(one for one in await shop.catalog.spaces_of_models(made.id) if one.name == "own")
    assert own.space == made.space
    await shop.ingest.reconcile(await shop.kb())
    assert set(await shop.indexes.spaces()) == {made.space, row.space}


async def test_retiring_drops_the_space_and_refuses_the_serving_one(shop: Workshop, other: Failing) -> None:
    row = await _built(shop, other)
    kb = await shop.kb()
    await shop.catalog.switch_model(kb.id, "other", now=START)
    with pytest.raises(UsageError):
        await models.retire(shop.ingest, await shop.kb(), row)
    assert row.space in await shop.indexes.spaces()
    await shop.catalog.switch_model(kb.id, "own", now=START)
    await shop.catalog.save_trial(kb.id, ModelTrial(id="one", model="other", created_at=START), keep=5)
    await models.retire(shop.ingest, await shop.kb(), row)
    assert row.space not in await shop.indexes.spaces()
    assert await shop.catalog.trials(kb.id, "other") == []
    assert [one.name for one in await shop.catalog.spaces_of_models(kb.id)] == ["own"]


async def test_only_the_newest_trials_of_a_model_are_kept(shop: Workshop) -> None:
    kb = await shop.kb()
    for at in range(5):
        trial = ModelTrial(id=f"t{at}", model="other", created_at=START + at, body={"question": str(at)})
        await shop.catalog.save_trial(kb.id, trial, keep=3)
    await shop.catalog.save_trial(kb.id, ModelTrial(id="x", model="third", created_at=START), keep=3)
    assert [one.id for one in await shop.catalog.trials(kb.id, "other")] == ["t2", "t3", "t4"]
    assert [one.id for one in await shop.catalog.trials(kb.id, "third")] == ["x"]


async def test_gc_drops_points_of_every_space(shop: Workshop, other: Failing) -> None:
    from kaijuan.jobs import retention
    from kaijuan.jobs.settings import RetentionSettings

    row = await _built(shop, other)
    await shop.remove(["gone"])
    settings = RetentionSettings(keep_days=0, keep_snapshots=1, grace_seconds=0)
    report = await retention.collect(shop.ingest, await shop.kb(), settings)
    assert report.points > 0
    assert await _intervals(await _opened(shop, row, other)) == await _as_the_catalog_says(shop)


async def test_every_space_is_flushed_before_readers_move(
    shop: Workshop, other: Failing, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await _built(shop, other)
    told: list[str] = []
    flush, publish = MemoryIndex.flush, shop.catalog.publish

    async def flushed(index: MemoryIndex) -> None:
        await flush(index)
        told.append(index.spec.name)

    async def published(*arguments: Any, **more: Any) -> Snapshot:
        told.append("published")
        return await publish(*arguments, **more)

    monkeypatch.setattr(MemoryIndex, "flush", flushed)
    monkeypatch.setattr(shop.catalog, "publish", published)
    await shop.add({"fresh": "A fresh rule."})
    before = told[: told.index("published")]
    assert {(await shop.kb()).space, row.space} <= set(before)


async def test_a_model_that_changed_under_its_name_falls_behind_and_is_built_anew(
    shop: Workshop, other: Failing
) -> None:
    row = await _built(shop, other)
    newer = HashEmbedder(dimensions=32)
    ingest = replace(shop.ingest, model_of=lambda one: _model(shop, newer, one))
    async with ingest.opened(await shop.kb()) as (writer, _):
        assert writer.beside == []
    [known] = [one for one in await shop.catalog.spaces_of_models((await shop.kb()).id) if one.name == "other"]
    assert (known.state, known.fingerprint) == (SpaceState.BUILDING, other.info.fingerprint)
    made = await models.build(ingest, await shop.kb(), known, lambda _done, _total: None)
    assert (made.state, made.fingerprint, made.dimensions) == (SpaceState.READY, newer.info.fingerprint, 32)
    assert await _intervals(await _opened(shop, row, newer)) == await _as_the_catalog_says(shop)


async def test_a_rebuild_for_a_newer_version_of_the_serving_model_is_kept(shop: Workshop, other: Failing) -> None:
    await _built(shop, other)
    newer = HashEmbedder(dimensions=32)
    settings = IndexSettings(grace_seconds=0.0)
    ingest = replace(shop.ingest, model_of=lambda _: Model(embedder=newer, settings=settings))
    made = await ingest.rebuild(await shop.kb())
    [own] = [one for one in await shop.catalog.spaces_of_models(made.id) if one.name == "own"]
    assert (own.space, own.fingerprint, own.dimensions) == (made.space, newer.info.fingerprint, 32)
