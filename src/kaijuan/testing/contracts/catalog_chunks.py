"""What people do to chunks: the part of the catalog's contract that keeps it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kaijuan.core.chunk_work import ChunkWork, Miss, Passage, WorkKind, work_id
from kaijuan.core.documents import ChunkLevel
from kaijuan.core.ids import PIECE_LENGTH, DocumentId, VersionId, piece_of
from kaijuan.core.snapshots import OPEN
from kaijuan.core.spans import Span
from kaijuan.errors import NotFoundError, StoreError
from kaijuan.index.catalog import Catalog, KnowledgeBase, Run, Staged
from kaijuan.testing.contracts.catalog_access import CatalogFixtures
from kaijuan.testing.contracts.catalog_samples import NOW, Sample, publish, published, sample, stage, staged


def _work(run: Run, made: Sample, number: int = 0, kind: WorkKind = WorkKind.EDIT) -> ChunkWork:
    return ChunkWork(
        id=work_id(run.id, number),
        kb_id=run.kb_id,
        document_id=made.version.document_id,
        version_id=made.version.id,
        number=number,
        kind=kind,
        passage=Passage(span=Span(3, 9), quote="第一\x00段", before="", after='"\n'),
        cuts=(1, 2),
        said="年假 leave",
        by="王",
        note="why",
        at=NOW,
    )


class ChunkWorks(CatalogFixtures):
    """Work is staged with its run, in force from its snapshot on, undone without being forgotten."""

    async def _recorded(self, catalog: Catalog, kb: KnowledgeBase) -> tuple[Sample, ChunkWork]:
        made = sample(kb.id, "file:///a", "text")
        await published(catalog, kb, made)
        run = await catalog.begin_run(kb.id, "chunks", now=NOW)
        work = _work(run, made)
        await catalog.record_work(run, [work])
        await catalog.record_work(run, [work])
        await publish(catalog, run)
        return made, replace(work, valid_from=2, valid_to=OPEN)

    async def test_it_comes_back_as_it_was_from_its_snapshot_on(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made, work = await self._recorded(catalog, kb)
        assert await catalog.work(kb.id, 2) == [work]
        assert await catalog.work(kb.id, 2, made.version.document_id) == [work]
        assert await catalog.work(kb.id, 2, DocumentId("0" * 32)) == []
        assert await catalog.work(kb.id, 1) == []
        other = await catalog.create_kb("rival", "handbook", now=NOW)
        assert await catalog.work(other.id, 2) == []

    async def test_it_is_undone_from_a_snapshot_on_and_stays_in_the_history(
        self, catalog: Catalog, kb: KnowledgeBase
    ) -> None:
        _, work = await self._recorded(catalog, kb)
        run = await catalog.begin_run(kb.id, "chunks", now=NOW)
        await catalog.end_work(run, [work.id], by="li", now=NOW + 5)
        await catalog.end_work(run, [work.id], by="li", now=NOW + 5)
        await publish(catalog, run)
        assert await catalog.work(kb.id, 3) == []
        ended = replace(work, valid_to=3, ended_by="li", ended_at=NOW + 5)
        assert await catalog.work(kb.id, 2) == [ended]
        assert await catalog.work_history(kb.id, 3) == [ended]
        again = await catalog.begin_run(kb.id, "chunks", now=NOW)
        with pytest.raises(NotFoundError):
            await catalog.end_work(again, [work.id], by="li", now=NOW)
        with pytest.raises(StoreError):
            await catalog.end_work(run, [work.id], by="li", now=NOW)

    async def test_a_rollback_takes_work_and_endings_with_it(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made, work = await self._recorded(catalog, kb)
        run = await catalog.begin_run(kb.id, "chunks", now=NOW)
        await catalog.record_work(run, [_work(run, made, 0), _work(run, made, 1, WorkKind.ALIAS)])
        await catalog.end_work(run, [work.id], by="li", now=NOW)
        await catalog.roll_back(run, now=NOW)
        assert await catalog.work(kb.id, 9) == [work]
        assert await catalog.work_history(kb.id, 9) == [work]

    async def test_it_comes_in_the_order_in_which_it_was_done(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made, work = await self._recorded(catalog, kb)
        run = await catalog.begin_run(kb.id, "chunks", now=NOW - 100)
        await catalog.record_work(run, [_work(run, made, 1), _work(run, made, 0)])
        await publish(catalog, run)
        found = await catalog.work(kb.id, 3)
        assert [(one.valid_from, one.number) for one in found] == [(2, 0), (3, 0), (3, 1)]
        assert found[0].id == work.id

    async def test_misses_go_with_their_version(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "text")
        miss = Miss(work_id="w" * 32, why="它变了")
        whole = staged(made)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await catalog.stage(
            run, [Staged(version=whole.version, blocks=whole.blocks, chunks=whole.chunks, misses=[miss])]
        )
        missing = VersionId("0" * 32)
        assert await catalog.misses([made.version.id, missing]) == {made.version.id: [miss], missing: []}
        await catalog.roll_back(run, now=NOW)
        assert await catalog.misses([made.version.id]) == {made.version.id: []}

    async def test_chunks_of_every_level_and_origin_come_back(self, catalog: Catalog, kb: KnowledgeBase) -> None:
        made = sample(kb.id, "file:///a", "one\ntwo\nthree")
        parent, one, two, three = made.chunks
        chunks = (
            parent,
            replace(one, origin="manual_edit", search_text="别的 words", context="table of two columns"),
            replace(two, level=ChunkLevel.EXCLUDED, origin="manual_exclude"),
            replace(three, level=ChunkLevel.DOCUMENT, search_text="摘要 summary", context="outline"),
        )
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await catalog.stage(run, [Staged(version=made.version, blocks=made.blocks, chunks=chunks)])
        assert await catalog.chunks([chunk.id for chunk in chunks]) == {chunk.id: chunk for chunk in chunks}
        levels = (ChunkLevel.CHILD, ChunkLevel.DOCUMENT)
        found = await catalog.chunks_of_each([made.version.id], *levels)
        assert [chunk.id for chunk in found[made.version.id]] == [chunks[1].id, chunks[3].id]
        assert sorted([row[0] async for row in catalog.chunk_ids(kb.id)]) == sorted([chunks[1].id, chunks[3].id])

    async def test_ids_of_pieces_mean_the_chunk_that_a_snapshot_shows(
        self, catalog: Catalog, kb: KnowledgeBase
    ) -> None:
        old = sample(kb.id, "file:///a", "报销\nsame words")
        new = sample(kb.id, "file:///a", "other\nsame words", number=2)
        other = sample(kb.id, "file:///b", "报销\nsame words")
        await published(catalog, kb, old, other)
        run = await catalog.begin_run(kb.id, "add", now=NOW)
        await stage(catalog, run, new)
        (gone, before), (_, after) = old.children, new.children
        lasting, left = piece_of(before.id), piece_of(gone.id)
        assert lasting == piece_of(after.id) not in {piece_of(one.id) for one in other.children}
        assert await catalog.chunks_meant([lasting], 1) == {lasting: before}
        assert await catalog.chunks_meant([lasting, after.id], 2) == {lasting: before}, "what is staged means nothing"
        await publish(catalog, run)
        assert await catalog.chunks_meant([lasting], 1) == {lasting: before}
        asked = [
            after.id,
            left,
            lasting,
            before.id,
            lasting,
            "nobody",
            "0" * PIECE_LENGTH,
            "\x00",
            "\ud800" * PIECE_LENGTH,
        ]
        meant = await catalog.chunks_meant(asked, 2)
        assert list(meant.items()) == [(after.id, after), (left, gone), (lasting, after), (before.id, before)]
