"""Small documents go through a run in groups: what one of them does is its own affair."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import BrokenDocumentError, DocumentError
from kaijuan.index.catalog import ItemState
from kaijuan.ingest.ports import SourceItem
from kaijuan.jobs.settings import JobSettings
from kaijuan.testing.workshop import ROOT, Workshop, each, offered, read_text

TEXTS: dict[str, str | None] = {f"{number:02}": f"Rule {number} holds. 第{number}条规定。" for number in range(20)}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path, settings=JobSettings(group_documents=8))
    yield shop
    await shop.close()


def _records(texts: dict[str, str]) -> AsyncIterator[SourceItem]:
    async def walk() -> AsyncIterator[SourceItem]:
        async for item in offered(texts):
            assert isinstance(item, SourceItem)
            yield replace(item, kind="record")

    return walk()


async def test_a_group_is_one_transaction(shop: Workshop) -> None:
    steps: Counter[str] = Counter()
    shop.ingest = replace(shop.ingest, reached=lambda step: steps.update([step]))
    report = await shop.add(TEXTS)
    assert (report.added, report.documents) == (20, 20)
    assert steps["stage"] == steps["store_blobs"] == 3
    assert await shop.texts(1) == TEXTS
    assert (await shop.ingest.check(await shop.kb())).problems == 0
    again = await shop.add(TEXTS)
    assert (again.unchanged, again.snapshot, steps["stage"]) == (20, 1, 3)


async def test_a_failure_leaves_its_group_alone(shop: Workshop) -> None:
    async def read(item: SourceItem) -> ParsedDocument:
        if item.name == "03":
            raise BrokenDocumentError("Broken.")
        return await read_text(item)

    shop.ingest = replace(shop.ingest, read=each(read))
    texts = TEXTS | {"05": "", "06": None, "07": "\udcff".encode("utf-8", "replace").decode()}
    report = await shop.add(texts)
    assert [one.source for one in report.failed] == [ROOT + name for name in ("03", "05", "06")]
    assert report.added == 17
    assert set(await shop.texts(1)) == set(texts) - {"03", "05", "06"}
    lines = [(line.source, line.state) for line in await shop.catalog.items(report.run_id)]
    assert [source for source, _ in lines] == [ROOT + name for name in texts]
    assert [state for _, state in lines].count(ItemState.FAILED) == 3


async def test_records_are_read_together_and_keep_their_order(shop: Workshop) -> None:
    sizes: list[int] = []

    async def read(items: Sequence[SourceItem]) -> list[ParsedDocument | DocumentError]:
        sizes.append(len(items))
        return list(await each(read_text)(items))

    shop.ingest = replace(shop.ingest, read=read)
    texts = {f"{number:02}": f"text {number}" for number in range(20)}
    report = await shop.ingest.add(await shop.kb(), _records(texts))
    assert sizes == [8, 8, 4]
    assert [line.source for line in await shop.catalog.items(report.run_id)] == [ROOT + name for name in texts]


async def test_much_text_is_a_group_by_itself(shop: Workshop) -> None:
    steps: Counter[str] = Counter()
    shop.ingest = replace(shop.ingest, reached=lambda step: steps.update([step]))
    await shop.add({str(number): f"{number} " + "word " * 60_000 for number in range(3)})
    assert steps["stage"] == 3


async def test_what_is_read_does_not_wait_for_a_slow_document(shop: Workshop) -> None:
    slow, steps = asyncio.Event(), Counter[str]()

    def reached(step: str) -> None:
        steps.update([step])
        if step == "stage":
            slow.set()  # only what was stored before it lets the slow one go on

    async def read(item: SourceItem) -> ParsedDocument:
        if item.name == "02":
            await slow.wait()
        return await read_text(item)

    shop.ingest = replace(shop.ingest, read=each(read), reached=reached)
    assert (await shop.add({"00": "a rule", "01": "another", "02": "slow"})).added == 3
    assert steps["stage"] == 2
