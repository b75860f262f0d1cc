"""The catalog under random runs of staging, retiring, rolling back and publishing, against a plain model of it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kaijuan.core.ids import ChunkId, VersionId
from kaijuan.core.snapshots import OPEN, visible
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.stores.catalog.sql import SqlCatalog
from kaijuan.testing.contracts.catalog_samples import NOW, publish, sample, stage

SOURCES = ("file:///a", "file:///b", "file:///文/c")
actions = st.lists(
    st.tuples(st.sampled_from(SOURCES), st.sampled_from(["one", "two\n三", ""])),
    max_size=4,
    unique_by=lambda item: item[0],
)
"""Source to new text; an empty text retires."""
runs = st.lists(st.tuples(actions, st.booleans()), min_size=1, max_size=7)


class _Model:
    """Intervals of versions, kept by hand."""

    def __init__(self) -> None:
        self.head = 0
        self.intervals: dict[VersionId, tuple[str, int, int]] = {}
        self.chunks: dict[VersionId, list[ChunkId]] = {}
        self.numbers = dict.fromkeys(SOURCES, 0)

    def live(self, source: str) -> VersionId | None:
        for id, (name, _, valid_to) in self.intervals.items():
            if name == source and valid_to == OPEN:
                return id
        return None

    def shown(self, snapshot: int) -> set[VersionId]:
        return {id for id, (_, start, end) in self.intervals.items() if visible(start, end, snapshot)}


async def _run(catalog: Catalog, kb: KnowledgeBase, model: _Model, changes: list[tuple[str, str]], keep: bool) -> None:
    run = await catalog.begin_run(kb.id, "add", now=NOW)
    target = model.head + 1
    intervals, chunks, numbers = dict(model.intervals), dict(model.chunks), dict(model.numbers)
    for source, text in changes:
        live = model.live(source)
        if live is not None:
            intervals[live] = (source, intervals[live][1], target)
        if text:
            numbers[source] += 1
            made = sample(kb.id, source, text, number=numbers[source])
            await stage(catalog, run, made)
            intervals[made.version.id] = (source, target, OPEN)
            chunks[made.version.id] = [chunk.id for chunk in made.children]
        elif live is not None:
            await catalog.retire(run, [live])
    await _check(catalog, kb, model)  # nothing of it shows before
    if keep:
        await publish(catalog, run)
        model.head, model.intervals, model.chunks, model.numbers = target, intervals, chunks, numbers
    else:
        await catalog.roll_back(run, now=NOW)
        model.chunks = {id: model.chunks[id] for id in model.intervals}


async def _check(catalog: Catalog, kb: KnowledgeBase, model: _Model) -> None:
    assert (await catalog.kb(kb.tenant, kb.name)).head == model.head
    every = [id for chunks in model.chunks.values() for id in chunks]
    for snapshot in range(model.head + 1):
        shown = model.shown(snapshot)
        assert {one.id for one in await catalog.versions(kb.id, snapshot)} == shown
        readable = {id for version in shown for id in model.chunks[version]}
        assert await catalog.authorise(kb.id, snapshot, every, ["all"]) == readable
        counts = await catalog.counts(kb.id, snapshot)
        assert (counts.documents, counts.chunks) == (len(shown), len(readable))


async def _check_settled(catalog: Catalog, kb: KnowledgeBase, model: _Model) -> None:
    await _check(catalog, kb, model)
    kept = {one.id: (one.source, one.valid_from, one.valid_to) for one in await catalog.all_versions(kb.id)}
    assert kept == model.intervals
    rows = [row async for row in catalog.chunk_ids(kb.id)]
    assert rows == sorted((id, *model.intervals[version][1:]) for version, ids in model.chunks.items() for id in ids)
    assert await catalog.pending(kb.id, limit=1) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs)
def test_the_catalog_is_its_model(history: list[tuple[list[tuple[str, str]], bool]]) -> None:
    async def run() -> None:
        with tempfile.TemporaryDirectory() as home:
            catalog = SqlCatalog(Path(home) / "catalog.db")
            kb = await catalog.create_kb("acme", "shelf", now=NOW)
            model = _Model()
            for changes, keep in history:
                await _run(catalog, kb, model, changes, keep)
                await _check_settled(catalog, kb, model)
            await catalog.close()

    asyncio.run(run())
