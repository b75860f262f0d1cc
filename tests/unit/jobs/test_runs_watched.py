"""Runs that say how far they are, are cancelled from outside, publish on the way, and are asked for again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import StoppedError
from kaijuan.index.catalog import RunState
from kaijuan.ingest.ports import SourceItem
from kaijuan.jobs.run_views import named, views
from kaijuan.jobs.settings import JobSettings
from kaijuan.testing.workshop import ROOT, Workshop, each, offered, read_text

TEXTS: dict[str, str | None] = {f"{number:02}": f"Rule {number} holds. 第{number}条规定。" for number in range(12)}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path, settings=JobSettings(group_documents=2, note_seconds=0.01))
    yield shop
    await shop.close()


async def test_a_long_run_publishes_on_the_way(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, settings=JobSettings(group_documents=2, publish_documents=4))
    seen: list[int] = []

    async def read(item: SourceItem) -> ParsedDocument:
        seen.append((await shop.kb()).head)
        return await read_text(item)

    shop.ingest = replace(shop.ingest, read=each(read))
    report = await shop.add(TEXTS)
    assert (report.added, report.documents, report.snapshots) == (12, 12, (1, 2, 3))
    assert max(seen) >= 1, "early documents are found before the last is read"
    for snapshot, documents in ((1, 4), (2, 8), (3, 12)):
        assert len(await shop.texts(snapshot)) == documents
        assert await shop.points(snapshot) == await shop.chunks(snapshot)
    kb = await shop.kb()
    last, *others = await shop.catalog.runs(kb.id)
    assert [run.state for run in others] == [RunState.PUBLISHED] * 3
    assert last.reason == "All of it was published already."
    assert (await shop.ingest.check(kb)).problems == 0
    assert (await shop.add(TEXTS)).unchanged == 12
    assert (await shop.kb()).head == 3
    await shop.close()


async def test_what_was_published_before_a_failure_stays(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, settings=JobSettings(group_documents=1, publish_documents=3, ahead=1))
    count = 0

    async def read(item: SourceItem) -> ParsedDocument:
        nonlocal count
        count += 1
        if count == 8:
            raise RuntimeError("the power is cut")
        return await read_text(item)

    shop.ingest = replace(shop.ingest, read=each(read))
    with pytest.raises(RuntimeError):
        await shop.add(TEXTS)
    kept = (await shop.kb()).head
    assert kept >= 1
    published = len(await shop.texts(kept))
    assert published >= 3
    report = await shop.add(TEXTS)
    assert (report.unchanged, report.added) == (published, 12 - published)
    assert len(await shop.texts((await shop.kb()).head)) == 12
    assert (await shop.ingest.check(await shop.kb())).problems == 0
    await shop.close()


async def test_gone_documents_go_with_the_last_part(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, settings=JobSettings(group_documents=2, publish_documents=4))
    await shop.add({"old": "Obsolete. 作废。"})
    report = await shop.add(TEXTS, mirror=True)
    assert report.removed_sources == (ROOT + "old",)
    assert (await shop.texts(report.snapshot)).keys() == TEXTS.keys()
    assert "old" in await shop.texts(report.snapshots[0])
    await shop.close()


async def test_a_run_is_cancelled_from_outside(shop: Workshop) -> None:
    kb = await shop.kb()
    slow = asyncio.Event()

    async def read(item: SourceItem) -> ParsedDocument:
        if item.name == "05":
            (run,) = await shop.catalog.unfinished_runs(kb.id)
            await shop.catalog.cancel_run(run.id, "wang")
            await slow.wait()
        return await read_text(item)

    shop.ingest = replace(shop.ingest, read=each(read))
    with pytest.raises(StoppedError, match="wang"):
        await shop.add(TEXTS)
    (run,) = await shop.catalog.runs(kb.id)
    assert (run.state, "wang" in run.reason) == (RunState.ROLLED_BACK, True)
    assert await shop.texts(0) == {}
    assert (await shop.ingest.check(await shop.kb())).problems == 0
    (view,) = await views(shop.catalog, kb, shop.clock())
    assert view.cancelled == "wang"


async def test_others_see_how_far_a_run_is(shop: Workshop) -> None:
    kb = await shop.kb()
    looked = []

    async def read(item: SourceItem) -> ParsedDocument:
        if item.name == "09":
            await asyncio.sleep(0.1)
            (view,) = await views(shop.catalog, kb, shop.clock())
            looked.append(view)
        return await read_text(item)

    shop.ingest = replace(shop.ingest, read=each(read))
    await shop.ingest.add(kb, offered(TEXTS), request=json.dumps({"verb": "add"}), expected=lambda: 12)
    (view,) = looked
    assert view.stage == "reading"
    assert 0 < view.done < 12
    assert view.total == 12
    assert view.documents_a_second
    assert view.remaining_seconds is not None
    assert view.worker.startswith("process ")
    assert view.can_resume
    (after,) = await views(shop.catalog, kb, shop.clock())
    assert (after.done, after.counts, after.worker) == (12, {"added": 12}, "")
    assert (await named(shop.catalog, kb, "last")).id == after.run.id
    assert (await named(shop.catalog, kb, after.run.id[:6])).id == after.run.id
