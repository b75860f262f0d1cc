"""Blobs damaged or missing: healed by adding again, left out of rebuilds and answers, named by the doctor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan import telemetry
from kaijuan.core.documents import ChunkLevel, ParsedDocument, Version
from kaijuan.core.filters import EVERYTHING
from kaijuan.core.ids import piece_of
from kaijuan.errors import CorruptStoreError
from kaijuan.ingest.ports import SourceItem
from kaijuan.jobs.doctor import Check, Patient, examine
from kaijuan.retrieve.pipeline import Retrieval, SearchRequest, search
from kaijuan.retrieve.results import SearchResult
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.texts import TextShelf
from kaijuan.testing.workshop import ROOT, Workshop, each, offered, read_text

TEXTS: dict[str, str | None] = {"a": "The alpha rule holds. 规定一。", "b": "The beta rule holds. 规定二。"}


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3])


DAMAGES = pytest.mark.parametrize("damage", [_flip, _cut_short, Path.unlink])
Damage = Callable[[Path], None]


def _blob(shop: Workshop, name: str) -> Path:
    return shop.home / "blobs" / name[:2] / name[2:4] / name


async def _version(shop: Workshop, name: str) -> Version:
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + name, kb.head)
    assert version is not None
    return version


async def _hurt(shop: Workshop, name: str, damage: Damage = _flip) -> Version:
    version = await _version(shop, name)
    damage(_blob(shop, version.text_hash))
    return version


async def _points(shop: Workshop) -> int:
    index = await shop.index()
    return await index.count(EVERYTHING)


async def _searched(shop: Workshop, text: str, k: int = 5) -> SearchResult:
    kb = await shop.kb()
    context = Retrieval(
        catalog=shop.catalog,
        index=await shop.index(),
        embedder=shop.embedder,
        texts=TextShelf(shop.blobs),
        settings=RetrieveSettings(),
    )
    request = SearchRequest(text=text, k=k, kb=kb, snapshot=kb.head, principals=frozenset({"all"}), cut=False)
    return await search(context, request, trace_id="t")


async def _checks(shop: Workshop) -> dict[str, Check]:
    patient = Patient(
        home=shop.home,
        kb=await shop.kb(),
        catalog=shop.catalog,
        blobs=shop.blobs,
        index=shop.index,
        embedder=shop.embedder,
        clock=shop.clock,
    )
    return {check.name: check for check in (await examine(patient)).checks}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    await shop.add(TEXTS)
    yield shop
    await shop.close()


class TestAddingAgain:
    """The same file, added again, heals what it can."""

    @DAMAGES
    async def test_heals_the_text(self, shop: Workshop, damage: Damage) -> None:
        await _hurt(shop, "a", damage)
        report = await shop.add(TEXTS)
        assert (report.updated, report.unchanged, report.failed) == (1, 1, ())
        assert await shop.texts(1) == await shop.texts(2) == TEXTS
        assert {check.name for check in (await _checks(shop)).values() if not check.ok} == set()

    @DAMAGES
    async def test_heals_the_original(self, shop: Workshop, damage: Damage) -> None:
        async def shouted(item: SourceItem) -> ParsedDocument:
            return await read_text(replace(item, data=item.data.upper()))

        shop.ingest = replace(shop.ingest, read=each(shouted))
        await shop.add({"c": "original"})
        version = await _version(shop, "c")
        damage(_blob(shop, version.original_hash))
        assert (await shop.add({"c": "original"})).unchanged == 1
        assert await shop.blobs.get(version.original_hash) == b"original"

    @DAMAGES
    async def test_after_removing(self, shop: Workshop, damage: Damage) -> None:
        await _hurt(shop, "a", damage)
        await shop.remove(["a"])
        assert (await shop.add(TEXTS)).added == 1
        assert await shop.texts(1) == await shop.texts(3) == TEXTS

    async def test_brings_back_what_a_rebuild_left_out(self, shop: Workshop) -> None:
        await _hurt(shop, "a")
        await shop.ingest.rebuild(await shop.kb())
        await shop.add(TEXTS)
        found = await _searched(shop, "alpha rule")
        assert found.passages[0].source == ROOT + "a"
        assert await shop.points(2) == await shop.chunks(2)
        # The earlier version's points too, once asked.
        await shop.ingest.reconcile(await shop.kb())
        assert await shop.points(1) == await shop.chunks(1)


class TestRebuilding:
    """One unreadable text costs that text alone."""

    @DAMAGES
    async def test_goes_on_without_it_and_tells(self, shop: Workshop, damage: Damage) -> None:
        hurt = await _hurt(shop, "a", damage)
        before = telemetry.counters().get("index.unreadable", 0)
        skipped: list[Version] = []
        rebuilt = await shop.ingest.rebuild(await shop.kb(), skipped=skipped.append)
        assert (await shop.kb()).space == rebuilt.space
        assert [version.id for version in skipped] == [hurt.id]
        assert telemetry.counters()["index.unreadable"] == before + 1
        assert await _points(shop) == len(
            await shop.catalog.chunks_of((await _version(shop, "b")).id, ChunkLevel.CHILD)
        )

    async def test_goes_on_when_only_history_is_hurt(self, shop: Workshop) -> None:
        await _hurt(shop, "a")
        await shop.remove(["a"])
        await shop.ingest.rebuild(await shop.kb())
        assert await shop.points(2) == await shop.chunks(2)

    async def test_refuses_when_nothing_can_be_read(self, shop: Workshop) -> None:
        kb = await shop.kb()
        points = await _points(shop)
        (shop.home / "blobs").rename(shop.home / "moved")
        with pytest.raises(CorruptStoreError, match="None of the 2"):
            await shop.ingest.rebuild(kb)
        assert await shop.kb() == kb
        assert await _points(shop) == points

    async def test_mending_mends_the_others(self, shop: Workshop) -> None:
        await _hurt(shop, "a")
        kb = await shop.kb()
        index = await shop.index()
        await index.delete(await shop.chunks(1))
        report = await shop.ingest.reconcile(kb)
        assert report.unreadable == (ROOT + "a",)
        found = await _searched(shop, "rule")
        assert [passage.source for passage in found.passages] == [ROOT + "b"]

    async def test_a_change_of_readers_reaches_the_others(self, shop: Workshop) -> None:
        await _hurt(shop, "a")
        kb = await shop.kb()
        await shop.catalog.revoke(kb.id, kb.id, "all")
        assert await shop.ingest.refresh_access(kb) > 0
        assert (await _searched(shop, "rule")).passages == ()


class TestSearching:
    """A passage that cannot be read is left out, and the trace says so."""

    @DAMAGES
    async def test_gives_the_others(self, shop: Workshop, damage: Damage) -> None:
        before = telemetry.counters().get("search.unreadable", 0)
        assert (await _searched(shop, "alpha rule", k=1)).passages[0].source == ROOT + "a"
        hurt = await _hurt(shop, "a", damage)
        found = await _searched(shop, "alpha rule", k=1)
        assert [(passage.source, passage.rank) for passage in found.passages] == [(ROOT + "b", 1)]
        assert found.passages[0].text == TEXTS["b"]
        chunks = {piece_of(chunk.id) for chunk in await shop.catalog.chunks_of(hurt.id)}
        fates = {item.chunk_id in chunks: item.fate for item in found.trace.candidates}
        assert fates[True].startswith("unreadable: ")
        assert fates[False] == "used"
        assert telemetry.counters()["search.unreadable"] == before + 1

    @DAMAGES
    async def test_says_so_when_nothing_can_be_read(self, shop: Workshop, damage: Damage) -> None:
        for name in TEXTS:
            await _hurt(shop, name, damage)
        with pytest.raises(CorruptStoreError, match="doctor"):
            await _searched(shop, "rule")


class TestDoctor:
    """Who is hurt is named, and who is at work is let alone."""

    @DAMAGES
    async def test_names_the_hurt(self, shop: Workshop, damage: Damage) -> None:
        await _hurt(shop, "a", damage)
        check = (await _checks(shop))["blobs"]
        assert (check.ok, check.detail) == (False, f"2 blobs, 1 missing or damaged: {ROOT}a")
        assert check.hint.startswith("Add these documents again")

    async def test_names_a_few_of_many_the_live_ones_first(self, shop: Workshop) -> None:
        await shop.add({f"n{at}": f"text {at}" for at in range(7)})
        for name in ("a", *(f"n{at}" for at in range(7))):
            await _hurt(shop, name)
        await shop.remove(["a"])
        detail = (await _checks(shop))["blobs"].detail
        assert detail.endswith(": " + ", ".join(f"{ROOT}n{at}" for at in range(5)) + " and 3 more")

    async def test_tells_history_from_the_present(self, shop: Workshop) -> None:
        await _hurt(shop, "a")
        await shop.add({"a": "another text"})
        assert (await _checks(shop))["blobs"].detail.endswith(f": {ROOT}a (an earlier version)")

    async def test_a_run_under_way_is_no_fault(self, shop: Workshop) -> None:
        seen: list[Check] = []

        async def walk() -> AsyncIterator[SourceItem]:
            async for item in offered({"c": "gamma"}):
                assert isinstance(item, SourceItem)
                yield item
            seen.append((await _checks(shop))["runs"])

        await shop.ingest.add(await shop.kb(), walk())
        assert [(check.ok, check.detail) for check in seen] == [(True, "1 under way")]
        after = (await _checks(shop))["runs"]
        assert (after.ok, after.detail) == (True, "0 unfinished")

    @pytest.mark.parametrize("lease", [None, 0.0], ids=["no lease", "lapsed"])
    async def test_a_dead_run_is_one(self, shop: Workshop, lease: float | None) -> None:
        kb = await shop.kb()
        now = shop.clock()
        if lease is not None:
            await shop.catalog.acquire_lease(kb.id, "elsewhere@1/1/1/a", now=now, seconds=lease)
        await shop.catalog.begin_run(kb.id, "add", now=now)
        check = (await _checks(shop))["runs"]
        assert (check.ok, check.detail) == (False, "1 unfinished")

    async def test_a_run_that_ends_meanwhile_is_none(self, shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
        kb = await shop.kb()
        run = await shop.catalog.begin_run(kb.id, "add", now=shop.clock())
        lease = shop.catalog.lease

        async def ended(id: object) -> object:
            await shop.catalog.roll_back(run, now=shop.clock())
            return await lease(kb.id)

        monkeypatch.setattr(shop.catalog, "lease", ended)
        assert (await _checks(shop))["runs"].ok
