"""Runs: the part of the catalog's contract about what is staged, published and taken back."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kaijuan.core.documents import ChunkLevel
from kaijuan.core.ids import ChunkId, VersionId
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import BusyError, NotFoundError, StoreError, UsageError
from kaijuan.index.catalog import (
    Catalog,
    Counts,
    IndexChange,
    ItemState,
    KnowledgeBase,
    RunItem,
    RunState,
    Standing,
)
from kaijuan.testing.contracts.catalog_access import EVERYONE, CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW, OWNER, Sample, publish, published, sample, stage, staged

MISSING = VersionId("0" * 32)


async def chunk_ids(catalog: Catalog, kb: KnowledgeBase) -> list[tuple[ChunkId, int, int]]:
    """Return the rows of `catalog.chunk_ids`."""
    return [row async for row in catalog.chunk_ids(kb.id)]


def ids_of(made: Sample) -> list[ChunkId]:
    """Return the ids of the chunks of a sample."""
    return [chunk.id for chunk in made.chunks]


class Staging(CatalogFixtures):
    """What a run stages is whole, invisible at head, and gone after a rollback."""

    async def test_everything_comes_back_as_it_was(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a.txt", "第一段\nsecond paragraph\n𠮷 third")
        await published(catalog, kb, made)
        wanted = replace(made.version, valid_from=1, valid_to=OPEN)
        assert await catalog.version(made.version.id) == wanted
        assert await catalog.version_of(kb.id, "file:///a.txt", 1) == wanted
        assert tuple(await catalog.blocks_of(made.version.id)) == made.blocks
        assert await catalog.chunks(ids_of(made)) == {chunk.id: chunk for chunk in made.chunks}
        assert await catalog.chunks_of(made.version.id, ChunkLevel.CHILD) == list(made.children)
        assert set(await catalog.chunks_of(made.version.id)) == set(made.chunks)

    async def test_what_is_staged_is_not_seen(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "text")
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, made)
        assert run.target == 1
        assert await catalog.versions(kb.id, 0) == []
        assert await catalog.history(made.version.document_id) == []
        assert await catalog.authorise(kb.id, 0, ids_of(made), EVERYONE) == set()
        # The index is written from it, so by id it is there.
        assert (await catalog.version(made.version.id)).valid_from == 1

    async def test_staging_again_changes_nothing(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "text")
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, made)
        await stage(catalog, run, made)
        assert [entry.change for entry in await catalog.pending(kb.id, limit=10)] == [IndexChange.UPSERT]

    async def test_several_at_once(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        old = [sample(kb.id, f"file:///{name}", name) for name in "ab"]
        await published(catalog, kb, *old)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        new = [sample(kb.id, "file:///b", "new b", number=2), sample(kb.id, "file:///c", "one\ntwo")]
        empty = replace(staged(sample(kb.id, "file:///d", "void")), blocks=(), chunks=())
        await catalog.stage(run, [])
        await catalog.stage(run, [staged(new[0])])
        await catalog.stage(run, [*map(staged, new), empty])
        entries = [(entry.version_id, entry.change) for entry in await catalog.pending(kb.id, limit=9)]
        upserts = [id for id, change in entries if change is IndexChange.UPSERT]
        assert upserts == [new[0].version.id, new[1].version.id, empty.version.id]
        assert [id for id, change in entries if change is IndexChange.CLOSE] == [old[1].version.id]
        await publish(catalog, run)
        assert [one.id for one in await catalog.versions(kb.id, 2)] == [old[0].version.id, *upserts]
        assert await catalog.child_counts([*upserts, MISSING]) == dict(zip(upserts, (1, 2, 0), strict=True))
        chunks = await catalog.chunks_of_each([new[1].version.id, MISSING], ChunkLevel.CHILD)
        assert chunks == {new[1].version.id: list(new[1].children), MISSING: []}

    async def test_several_at_once_or_none(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        first = sample(kb.id, "file:///a", "text")
        await published(catalog, kb, first)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        good, late = sample(kb.id, "file:///b", "good"), sample(kb.id, "file:///a", "other")
        twice = sample(kb.id, "file:///b", "again", number=2)
        for wrong in (late, first, twice):
            with pytest.raises(UsageError):
                await catalog.stage(run, [staged(good), staged(wrong)])
        with pytest.raises(NotFoundError):
            await catalog.retire(run, [first.version.id, MISSING])
        assert await catalog.pending(kb.id, limit=9) == []
        assert [one.id for one in await catalog.all_versions(kb.id)] == [first.version.id]

    async def test_how_documents_stand(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = [sample(kb.id, f"file:///{number}", "text") for number in range(700)]
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await catalog.stage(run, [staged(one) for one in made])
        ids = [one.version.document_id for one in made]
        assert set((await catalog.standing(ids, 0)).values()) == {Standing(last_number=1)}
        await publish(catalog, run)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, sample(kb.id, "file:///0", "new", number=2))
        unknown = sample(kb.id, "file:///none", "text").version.document_id
        standing = await catalog.standing([unknown, *ids], 1)
        assert list(standing) == [unknown, *ids]
        assert standing[unknown] == Standing()
        assert [standing[id].last_number for id in ids[:2]] == [2, 1]
        lives = [standing[id].live for id in ids]
        assert [live.id for live in lives if live is not None] == [one.version.id for one in made]
        assert await catalog.standing([], 1) == {}

    async def test_a_new_version_retires_the_old(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        old = sample(kb.id, "file:///a", "old")
        new = sample(kb.id, "file:///a", "new", number=2)
        await published(catalog, kb, old)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, new)
        found = await catalog.version_of(kb.id, "file:///a", 1)
        assert found is not None
        assert found.id == old.version.id
        entries = {(entry.version_id, entry.change, entry.snapshot) for entry in await catalog.pending(kb.id, limit=9)}
        assert entries == {(old.version.id, IndexChange.CLOSE, 2), (new.version.id, IndexChange.UPSERT, 2)}
        await publish(catalog, run)
        history = [(one.id, one.valid_from, one.valid_to) for one in await catalog.history(old.version.document_id)]
        assert history == [(old.version.id, 1, 2), (new.version.id, 2, OPEN)]
        assert [one.id for one in await catalog.versions(kb.id, 1)] == [old.version.id]
        assert [one.id for one in await catalog.versions(kb.id, 2)] == [new.version.id]

    async def test_numbers_are_never_given_twice(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "text")
        document = made.version.document_id
        assert await catalog.standing([document], 0) == {document: Standing()}
        await published(catalog, kb, made)
        run = await catalog.begin_run(kb.id, "remove", now=NOW)
        await catalog.retire(run, [made.version.id])
        await publish(catalog, run)
        assert await catalog.standing([document], 2) == {document: Standing(last_number=1)}
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        with pytest.raises(UsageError):
            await stage(catalog, run, sample(kb.id, "file:///a", "other"))
        with pytest.raises(UsageError):
            await stage(catalog, run, made)

    async def test_retiring(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "text")
        await published(catalog, kb, made)
        run = await catalog.begin_run(kb.id, "remove", now=NOW)
        await catalog.retire(run, [made.version.id])
        await catalog.retire(run, [made.version.id])
        assert len(await catalog.pending(kb.id, limit=10)) == 1
        with pytest.raises(NotFoundError):
            await catalog.retire(run, [MISSING])
        assert len(await catalog.versions(kb.id, 1)) == 1
        await publish(catalog, run)
        assert await catalog.versions(kb.id, 2) == []
        assert len(await catalog.versions(kb.id, 1)) == 1
        assert await catalog.authorise(kb.id, 1, ids_of(made), EVERYONE) == set(ids_of(made))

    async def test_rolling_back_leaves_no_trace(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        kept, gone = sample(kb.id, "file:///a", "old"), sample(kb.id, "file:///b", "gone")
        await published(catalog, kb, kept, gone)
        before = [await catalog.all_versions(kb.id), await chunk_ids(catalog, kb)]
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        fresh = [sample(kb.id, "file:///a", "new", number=2), sample(kb.id, "file:///c", "third")]
        for made in fresh:
            await stage(catalog, run, made)
        await catalog.retire(run, [gone.version.id])
        await catalog.roll_back(run, now=NOW)
        await catalog.roll_back(run, now=NOW)
        assert [await catalog.all_versions(kb.id), await chunk_ids(catalog, kb)] == before
        assert await catalog.pending(kb.id, limit=10) == []
        documents = [made.version.document_id for made in fresh]
        standing = await catalog.standing(documents, 1)
        assert [standing[document].last_number for document in documents] == [1, 0]
        assert await catalog.chunks(ids_of(fresh[1])) == {}
        assert await catalog.blocks_of(fresh[1].version.id) == []
        again = await catalog.begin_run(kb.id, "add", now=NOW)
        assert (again.target, again.id != run.id) == (2, True)
        await stage(catalog, again, fresh[0])

    async def test_larger_than_a_batch(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///long", "\n".join(f"line {number}" for number in range(2500)))
        await published(catalog, kb, made)
        assert len(await catalog.chunks(ids_of(made))) == 2501
        assert await catalog.authorise(kb.id, 1, ids_of(made), EVERYONE) == set(ids_of(made))
        spans = [chunk.span for chunk in made.children[::2]]
        assert len(await catalog.blocks_of(made.version.id, spans)) == 1250
        rows = await chunk_ids(catalog, kb)
        assert rows == sorted((chunk.id, 1, OPEN) for chunk in made.children)

    async def test_a_report_takes_any_text(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        item = RunItem(source="file:///\udcff", state=ItemState.FAILED, code="usage", message="no \ud800 text")
        await catalog.record_items(run.id, [item])
        (kept,) = await catalog.items(run.id)
        assert (kept.source, kept.message) == ("file:///\\udcff", "no \\ud800 text")


class Publishing(CatalogFixtures):
    """One publisher at a time; readers move in one step, never before the index has followed."""

    async def test_snapshots_follow_each_other(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        assert await catalog.snapshots(kb.id) == []
        first = await published(catalog, kb, sample(kb.id, "file:///a", "one\ntwo"), now=NOW + 10)
        second = await published(catalog, kb, sample(kb.id, "file:///b", "three"), now=NOW + 20)
        assert await catalog.snapshots(kb.id) == [first, second]
        assert (first.number, first.documents, first.chunks) == (1, 1, 2)
        assert (second.number, second.documents, second.chunks) == (2, 2, 3)
        assert (await catalog.kb("acme", "handbook")).head == 2
        times = [NOW, NOW + 10, NOW + 19.9, NOW + 20, NOW + 99]
        assert [await catalog.snapshot_at(kb.id, time) for time in times] == [0, 1, 1, 2, 2]
        assert await catalog.counts(kb.id, 1) == Counts(documents=1, chunks=2)
        assert await catalog.counts(kb.id, 0) == Counts()

    async def test_not_before_the_index_has_followed(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, sample(kb.id, "file:///a", "text"))
        await catalog.acquire_lease(kb.id, OWNER, now=NOW, seconds=60)
        with pytest.raises(StoreError):
            await catalog.publish(run, owner=OWNER, now=NOW)
        assert (await catalog.kb("acme", "handbook")).head == 0

    async def test_only_by_the_holder_of_the_lease(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        with pytest.raises(BusyError):
            await catalog.publish(run, owner=OWNER, now=NOW)
        await catalog.acquire_lease(kb.id, "other", now=NOW, seconds=60)
        with pytest.raises(BusyError, match="other"):
            await catalog.publish(run, owner=OWNER, now=NOW)
        assert (await catalog.kb("acme", "handbook")).head == 0

    async def test_a_run_that_has_ended_changes_nothing(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "text")
        await published(catalog, kb, made)
        run = (await catalog.runs(kb.id))[0]
        await catalog.acquire_lease(kb.id, OWNER, now=NOW, seconds=60)
        for call in (
            stage(catalog, run, sample(kb.id, "file:///b", "late")),
            catalog.retire(run, [made.version.id]),
            catalog.publish(run, owner=OWNER, now=NOW),
            catalog.roll_back(run, now=NOW),
        ):
            with pytest.raises(StoreError):
                await call
        assert len(await catalog.versions(kb.id, 1)) == 1

    async def test_one_run_at_a_time(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        with pytest.raises(BusyError):
            await catalog.begin_run(kb.id, "add", now=NOW)
        assert await catalog.unfinished_runs(kb.id) == [run]
        await catalog.roll_back(run, now=NOW + 1, reason="No room: \ud83d.")
        await catalog.roll_back(run, now=NOW + 2, reason="again")
        assert await catalog.unfinished_runs(kb.id) == []
        ended = (await catalog.runs(kb.id))[0]
        assert (ended.id, ended.state, ended.finished_at) == (run.id, RunState.ROLLED_BACK, NOW + 1)
        assert ended.reason == "No room: \\ud83d."

    async def test_leases(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        assert await catalog.lease(kb.id) is None
        await catalog.acquire_lease(kb.id, "one", now=NOW, seconds=60)
        await catalog.acquire_lease(kb.id, "one", now=NOW + 30, seconds=60)
        with pytest.raises(BusyError, match="one"):
            await catalog.acquire_lease(kb.id, "two", now=NOW + 80, seconds=60)
        await catalog.release_lease(kb.id, "two")
        held = await catalog.lease(kb.id)
        assert held is not None
        assert (held.owner, held.expires_at) == ("one", NOW + 90)
        with pytest.raises(BusyError):
            await catalog.acquire_lease(kb.id, "two", now=NOW + 80, seconds=60, instead_of="three")
        await catalog.acquire_lease(kb.id, "two", now=NOW + 80, seconds=60, instead_of="one")
        await catalog.acquire_lease(kb.id, "three", now=NOW + 140, seconds=60)
        await catalog.release_lease(kb.id, "three")
        assert await catalog.lease(kb.id) is None

    async def test_one_of_many_gets_the_lease(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        calls = [catalog.acquire_lease(kb.id, f"owner {at}", now=NOW, seconds=60) for at in range(8)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(result is None for result in results) == 1
        assert sum(isinstance(result, BusyError) for result in results) == 7

    async def test_the_outbox_is_in_order(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        made = [sample(kb.id, f"file:///{name}", name) for name in "abc"]
        for one in made:
            await stage(catalog, run, one)
        entries = await catalog.pending(kb.id, limit=10)
        assert [entry.version_id for entry in entries] == [one.version.id for one in made]
        assert await catalog.pending(kb.id, limit=1) == entries[:1]
        assert await catalog.pending(kb.id, limit=9, after=entries[0].sequence) == entries[1:]
        await catalog.mark_applied([entries[0].sequence])
        await catalog.mark_applied([entries[0].sequence])
        assert await catalog.pending(kb.id, limit=9) == entries[1:]

    async def test_reports_are_kept(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        items = [
            RunItem(source="file:///坏.pdf", state=ItemState.FAILED, code="document_broken", message="Nein."),
            RunItem(source="file:///a", state=ItemState.ADDED, version_id=MISSING),
        ]
        await catalog.record_items(run.id, items[:1])
        await catalog.record_items(run.id, [])
        await catalog.record_items(run.id, items[1:])
        await catalog.roll_back(run, now=NOW)
        assert await catalog.items(run.id) == items
