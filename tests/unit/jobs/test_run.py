"""Runs: what is added, updated, removed, left alone, undone; one at a time; told on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan.core.documents import ParsedDocument
from kaijuan.core.filters import EVERYTHING
from kaijuan.errors import (
    BusyError,
    DiskFullError,
    MissingSourceError,
    ModelError,
    NotFoundError,
    UnsupportedDocumentError,
)
from kaijuan.index.catalog import ItemState, RunState
from kaijuan.index.ports import Vectors
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.jobs.report import Progress, RunReport, Stage
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.testing.workshop import ROOT, Workshop, each, offered, read_text

LONG = "\n\n".join(f"Paragraph {at} says that rule {at * 7} holds. 第{at}段说明规则。" for at in range(20))


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


async def _assert_consistent(shop: Workshop) -> None:
    kb = await shop.kb()
    assert await shop.points(kb.head) == await shop.chunks(kb.head)
    assert (await shop.ingest.check(kb)).problems == 0
    assert await shop.catalog.lease(kb.id) is None
    assert await shop.catalog.unfinished_runs(kb.id) == []


async def test_adding_updating_and_leaving_alone(shop: Workshop) -> None:
    first = await shop.add({"a": "alpha", "b": LONG})
    assert (first.snapshot, first.added, first.documents) == (1, 2, 2)
    second = await shop.add({"a": "alpha changed", "b": LONG, "c": "new"})
    assert (second.snapshot, second.added, second.updated, second.unchanged) == (2, 1, 1, 1)
    assert await shop.texts(1) == {"a": "alpha", "b": LONG}
    assert await shop.texts(2) == {"a": "alpha changed", "b": LONG, "c": "new"}
    assert await shop.points(1) == await shop.chunks(1)
    assert second.chunks == len(await shop.points(2))
    await _assert_consistent(shop)


async def test_the_same_again_publishes_nothing(shop: Workshop) -> None:
    await shop.add({"a": "alpha", "b": LONG})
    before = await shop.catalog.all_versions((await shop.kb()).id)
    again = await shop.add({"a": "alpha", "b": LONG})
    assert (again.snapshot, again.unchanged, again.added) == (1, 2, 0)
    assert await shop.catalog.all_versions((await shop.kb()).id) == before
    assert len(await shop.catalog.snapshots((await shop.kb()).id)) == 1
    await _assert_consistent(shop)


async def test_there_and_back_again_is_a_third_version(shop: Workshop) -> None:
    for text in ("alpha", "beta", "alpha"):
        await shop.add({"a": text})
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + "a", 3)
    assert version is not None
    history = await shop.catalog.history(version.document_id)
    assert [one.number for one in history] == [1, 2, 3]
    assert len({one.id for one in history}) == 3
    assert [await shop.texts(at) for at in (1, 2, 3)] == [{"a": "alpha"}, {"a": "beta"}, {"a": "alpha"}]


async def test_removing_and_adding_again(shop: Workshop) -> None:
    await shop.add({"a": "alpha", "b": "beta"})
    gone = await shop.remove(["a"])
    assert (gone.snapshot, gone.removed, gone.documents) == (2, 1, 1)
    assert await shop.texts(2) == {"b": "beta"}
    assert await shop.texts(1) == {"a": "alpha", "b": "beta"}
    back = await shop.add({"a": "alpha"})
    assert (back.added, back.updated) == (1, 0)
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + "a", kb.head)
    assert version is not None
    assert version.number == 2
    await _assert_consistent(shop)


async def test_what_is_not_live_cannot_be_removed(shop: Workshop) -> None:
    await shop.add({"a": "alpha"})
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + "a", 1)
    assert version is not None
    await shop.remove(["a"])
    with pytest.raises(NotFoundError):
        await shop.ingest.remove(kb, [version.id])
    assert (await shop.kb()).head == 2
    await _assert_consistent(shop)


async def test_a_failing_document_keeps_its_old_version_and_the_run_goes_on(shop: Workshop) -> None:
    await shop.add({"a": "alpha", "b": "beta"})
    report = await shop.add({"a": "   ", "x": None, "b": "beta 2"})
    assert report.updated == 1
    failed = {item.source.removeprefix(ROOT): item.code for item in report.failed}
    assert failed == {"a": "document_empty", "x": "source_missing"}
    assert await shop.texts(2) == {"a": "alpha", "b": "beta 2"}
    items = {item.source.removeprefix(ROOT): item.state for item in await shop.catalog.items(report.run_id)}
    assert items == {"a": ItemState.FAILED, "x": ItemState.FAILED, "b": ItemState.UPDATED}


async def test_only_failures_publish_nothing(shop: Workshop) -> None:
    report = await shop.add({"a": " ", "b": None})
    assert (report.snapshot, len(report.failed), report.documents) == (0, 2, 0)
    assert (await shop.kb()).head == 0


async def test_the_same_source_twice_counts_once(shop: Workshop) -> None:
    async def twice() -> AsyncIterator[SourceItem | SourceFailure]:
        for text in ("first", "second"):
            async for item in offered({"a": text}):
                yield item

    report = await shop.ingest.add(await shop.kb(), twice())
    assert report.added == 1
    assert await shop.texts(1) == {"a": "first"}


async def test_title_and_metadata_of_a_record_are_content(shop: Workshop) -> None:
    def record(title: str, **metadata: str) -> AsyncIterator[SourceItem | SourceFailure]:
        async def walk() -> AsyncIterator[SourceItem | SourceFailure]:
            yield SourceItem(
                source=ROOT + "c.jsonl#1",
                name="1",
                size=4,
                data=b"text",
                kind="record",
                title=title,
                metadata=metadata,
            )

        return walk()

    kb = await shop.kb()
    reports = [
        await shop.ingest.add(kb, record("one", lang="zh")),
        await shop.ingest.add(kb, record("one", lang="zh")),
        await shop.ingest.add(kb, record("two", lang="zh")),
        await shop.ingest.add(kb, record("two", lang="en")),
    ]
    assert [(report.added, report.updated, report.unchanged) for report in reports] == [
        (1, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
        (0, 1, 0),
    ]


async def test_a_touched_file_is_unchanged(shop: Workshop) -> None:
    async def file(modified: float) -> AsyncIterator[SourceItem | SourceFailure]:
        yield SourceItem(source=ROOT + "a", name="a", size=5, data=b"alpha", metadata={"modified": modified})

    kb = await shop.kb()
    await shop.ingest.add(kb, file(1.0))
    assert (await shop.ingest.add(kb, file(2.0))).unchanged == 1


async def test_another_pipeline_makes_new_versions(shop: Workshop) -> None:
    await shop.add({"a": "alpha"})
    newer = replace(shop.ingest, parsing=lambda _: "workshop-2")
    report = await newer.add(await shop.kb(), offered({"a": "alpha"}))
    assert report.updated == 1


async def test_another_parser_of_one_kind_leaves_the_other_kinds_alone(shop: Workshop) -> None:
    await shop.add({"a.txt": "alpha", "b.md": "beta"})
    newer = replace(shop.ingest, parsing=lambda item: "newer" if item.name.endswith(".md") else "workshop-1")
    report = await newer.add(await shop.kb(), offered({"a.txt": "alpha", "b.md": "beta"}))
    assert (report.updated, report.unchanged) == (1, 1)


async def test_an_item_whose_kind_cannot_be_told_fails_alone(shop: Workshop) -> None:
    def parsing(item: SourceItem) -> str:
        if item.name == "b":
            raise UnsupportedDocumentError("b is of no kind.")
        return "workshop-1"

    report = await replace(shop.ingest, parsing=parsing).add(await shop.kb(), offered({"a": "alpha", "b": "beta"}))
    assert (report.added, [failed.code for failed in report.failed]) == (1, ["document_unsupported"])


class TestMirror:
    """A mirrored place loses what has gone, and only that."""

    async def test_what_has_gone_is_removed(self, shop: Workshop) -> None:
        await shop.add({"a": "alpha", "d/b": "beta", "d/c": "gamma"})
        report = await shop.add({"a": "alpha", "d/c": "gamma 2"}, mirror=True)
        assert (report.removed, report.updated, report.unchanged) == (1, 1, 1)
        assert await shop.texts(2) == {"a": "alpha", "d/c": "gamma 2"}

    async def test_without_mirroring_nothing_goes(self, shop: Workshop) -> None:
        await shop.add({"a": "alpha", "b": "beta"})
        await shop.add({"a": "alpha"})
        assert set(await shop.texts((await shop.kb()).head)) == {"a", "b"}

    async def test_what_could_not_be_read_has_not_gone(self, shop: Workshop) -> None:
        kept = {"d/a": "1", "d/e/b": "2", "c.jsonl#1": "3", "f": "4"}
        await shop.add({**kept, "dd": "5"})
        report = await shop.add({"d": None, "c.jsonl": None, "f": " "}, mirror=True)
        assert report.removed == 1
        assert await shop.texts(2) == kept

    async def test_a_walk_that_breaks_off_removes_nothing(self, shop: Workshop) -> None:
        await shop.add({"a": "alpha", "b": "beta"})

        async def broken() -> AsyncIterator[SourceItem | SourceFailure]:
            async for item in offered({"c": "new"}):
                yield item
            raise MissingSourceError("The place is gone.")

        report = await shop.ingest.add(await shop.kb(), broken(), mirror_scope=ROOT)
        assert (report.added, report.removed) == (1, 0)
        assert [item.code for item in report.failed] == ["source_missing"]

    async def test_neighbours_with_a_longer_name_stay(self, shop: Workshop) -> None:
        await shop.add({"a.txt": "1", "a.txt.bak": "2", "a.txt#3": "3"})
        await shop.ingest.add(await shop.kb(), offered({}), mirror_scope=ROOT + "a.txt")
        assert await shop.texts(2) == {"a.txt.bak": "2"}


class _Failing(HashEmbedder):
    """Fails at the nth call."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.left = at

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.left -= 1
        if self.left == 0:
            raise ModelError("The model fell over.")
        return await super().embed_passages(texts)


class TestUndoing:
    """Whatever stops a run, readers see the old snapshot and nothing stays."""

    async def _undone(self, shop: Workshop) -> None:
        kb = await shop.kb()
        assert kb.head == 1
        assert await shop.texts(1) == {"a": "alpha"}
        index = await shop.index()
        assert await index.count(EVERYTHING) == len(await shop.chunks(1))
        await _assert_consistent(shop)

    async def test_when_a_model_fails(self, tmp_path: Path) -> None:
        shop = Workshop(tmp_path, embedder=_Failing(4))
        await shop.add({"a": "alpha"})
        with pytest.raises(ModelError):
            await shop.add({"a": "alpha 2", "b": LONG})
        runs = await shop.catalog.runs((await shop.kb()).id)
        assert runs[0].state is RunState.ROLLED_BACK
        assert runs[0].reason == "The model fell over."
        await self._undone(shop)
        assert (await shop.add({"a": "alpha 2", "b": LONG})).snapshot == 2
        await shop.close()

    async def test_when_there_is_no_room(self, shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
        await shop.add({"a": "alpha"})

        async def full(_: object, contents: Sequence[bytes]) -> list[str]:
            raise DiskFullError(f"No room for {len(contents)} blobs.")

        monkeypatch.setattr(type(shop.blobs), "put_each", full)
        with pytest.raises(DiskFullError):
            await shop.add({"a": "alpha 2"})
        await self._undone(shop)

    @pytest.mark.parametrize("stop_after", ["begin_run", "stage", "write_group", "retire", "settle_outbox"])
    async def test_when_it_is_cancelled(self, tmp_path: Path, stop_after: str) -> None:
        runs: list[asyncio.Task[RunReport]] = []

        def stop(step: str) -> None:
            # Here, and not by somebody who is woken later: who comes when readers are being moved comes too late.
            if runs and step == stop_after:
                runs[0].cancel()

        shop = Workshop(tmp_path, reached=stop)
        await shop.add({"a": "alpha"})
        runs.append(asyncio.create_task(shop.add({f"b{at}": f"{LONG} {at}" for at in range(6)}, mirror=True)))
        with pytest.raises(asyncio.CancelledError):
            await runs[0]
        await self._undone(shop)
        await shop.close()

    async def test_what_was_published_stays_when_it_is_cancelled_late(self, tmp_path: Path) -> None:
        def stop(step: str) -> None:
            if step == "move_head":
                run.cancel()

        shop = Workshop(tmp_path, reached=stop)
        run = asyncio.create_task(shop.add({"a": "alpha"}))
        with pytest.raises(asyncio.CancelledError):
            await run
        assert (await shop.kb()).head == 1
        assert await shop.points(1) == await shop.chunks(1) != []
        await _assert_consistent(shop)
        await shop.close()


class TestOneAtATime:
    """One run of a base at a time; the dead do not block the living."""

    async def test_a_living_holder_is_respected(self, shop: Workshop) -> None:
        kb = await shop.kb()
        await shop.catalog.acquire_lease(kb.id, shop.ingest.owner(), now=shop.clock(), seconds=3600)
        with pytest.raises(BusyError):
            await shop.add({"a": "alpha"})
        assert (await shop.kb()).head == 0

    async def test_two_runs_of_one_process(self, shop: Workshop) -> None:
        kb = await shop.kb()
        results = await asyncio.gather(shop.add({"a": LONG}), shop.add({"b": LONG}), return_exceptions=True)
        assert sorted(type(result).__name__ for result in results) == ["BusyError", "RunReport"]
        assert (await shop.catalog.kb(kb.tenant, kb.name)).head == 1
        await _assert_consistent(shop)

    async def test_two_bases_do_not_disturb_each_other(self, shop: Workshop) -> None:
        other = await shop.catalog.create_kb("acme", "other", now=shop.clock())
        await asyncio.gather(shop.add({"a": LONG}), shop.ingest.add(other, offered({"b": LONG})))
        assert set(await shop.texts(1)) == {"a"}
        assert [one.source for one in await shop.catalog.versions(other.id, 1)] == [ROOT + "b"]
        await _assert_consistent(shop)

    async def test_a_lost_lease_stops_the_run_and_leaves_the_new_holders_work(self, tmp_path: Path) -> None:
        async def robbed() -> AsyncIterator[SourceItem | SourceFailure]:
            async for item in offered({"a": "alpha"}):
                yield item
            lease = await shop.catalog.lease(kb.id)
            assert lease is not None
            now = shop.clock()
            await shop.catalog.acquire_lease(kb.id, "thief", now=now, seconds=3600, instead_of=lease.owner)
            await asyncio.sleep(30)

        shop = Workshop(tmp_path)
        shop.ingest = replace(shop.ingest, settings=shop.settings.model_copy(update={"lease_seconds": 0.3}))
        kb = await shop.kb()
        with pytest.raises(BusyError, match="thief"):
            await shop.ingest.add(kb, robbed())
        assert len(await shop.catalog.unfinished_runs(kb.id)) == 1  # for the thief to end
        await shop.close()


async def test_progress_is_told_from_start_to_end(shop: Workshop) -> None:
    told: list[Progress] = []
    await shop.ingest.add(await shop.kb(), offered({"a": LONG, "b": "  ", "c": "gamma"}), progress=told.append)
    assert [one.stage for one in told if one.stage is not Stage.READING] == [
        Stage.INDEXING,
        Stage.PUBLISHING,
        Stage.DONE,
    ]
    assert [one.done for one in told] == sorted(one.done for one in told)
    last = told[-1]
    assert (last.done, last.total, last.failed) == (3, 3, 1)
    assert last.chunks == last.indexed == len(await shop.points(1))


async def test_a_walk_of_any_length_is_read_little_ahead(shop: Workshop) -> None:
    offered_so_far = 0
    most_ahead = 0
    stored = 0

    async def walk() -> AsyncIterator[SourceItem | SourceFailure]:
        nonlocal offered_so_far, most_ahead
        async for item in offered({str(at): f"text {at}" for at in range(60)}):
            offered_so_far += 1
            most_ahead = max(most_ahead, offered_so_far - stored)
            yield item

    def count(progress: Progress) -> None:
        nonlocal stored
        stored = progress.done

    await shop.ingest.add(await shop.kb(), walk(), progress=count)
    assert most_ahead <= shop.settings.ahead + 3


async def test_unreadable_pages_are_told(shop: Workshop) -> None:
    async def partial(item: SourceItem) -> ParsedDocument:
        parsed = await read_text(item)
        return ParsedDocument(text=parsed.text, blocks=parsed.blocks, kind="pdf", pages=3, unread_pages=(2,))

    ingest = replace(shop.ingest, read=each(partial))
    kb = await shop.kb()
    await ingest.add(kb, offered({"a": "alpha"}))
    version = await shop.catalog.version_of(kb.id, ROOT + "a", 1)
    assert version is not None
    assert version.warnings == ("partial: no text could be read on pages 2",)
