"""What a point holds, and that writing again changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan.core.documents import Metadata
from kaijuan.core.filters import EVERYTHING, And, Eq, In, Range
from kaijuan.core.ids import KbId
from kaijuan.core.snapshots import OPEN
from kaijuan.core.text.bm25 import query_weights
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.ports import PointHeader
from kaijuan.index.write import payload_of, write_versions
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.testing.contracts.catalog_samples import sample
from kaijuan.testing.workshop import ROOT, Workshop

KB = KnowledgeBase(id=KbId("kb"), tenant="acme", name="shelf", head=0, policy_version=1, space="")


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


async def _headers(shop: Workshop) -> list[PointHeader]:
    index = await shop.index()
    headers = [header async for header in index.scan(EVERYTHING)]
    await index.close()
    return headers


def test_our_fields_win_over_the_documents() -> None:
    metadata: Metadata = {
        "acl": ("all",),
        "kb": "other",
        "valid_from": 0,
        "department": "财务",
        "Bad Name": 1,
        "tags": ("x", "y"),
    }
    made = sample(KbId("kb"), "file:///a", "text", metadata=metadata)
    payload = payload_of(KB, made.version, {"bob", "ann"})
    assert payload["acl"] == ("ann", "bob")
    assert (payload["kb"], payload["tenant"], payload["department"], payload["tags"]) == (
        "kb",
        "acme",
        "财务",
        ("x", "y"),
    )
    assert {"valid_from", "valid_to", "Bad Name"}.isdisjoint(payload)
    assert (payload["source"], payload["kind"], payload["language"]) == ("file:///a", "text", "zh")
    assert payload["created"] == made.version.created_at


async def test_writing_again_changes_nothing(shop: Workshop) -> None:
    await shop.add({"a": "one\ntwo\nthree", "b": "four"})
    await shop.add({"a": "five"})
    before = await _headers(shop)
    kb = await shop.kb()
    async with shop.ingest.opened(kb) as (writer, _):
        versions = [version.id for version in await shop.catalog.all_versions(kb.id)]
        assert await write_versions(writer, versions) == len(before)
    assert await _headers(shop) == before


async def test_points_carry_the_catalogs_interval(shop: Workshop) -> None:
    await shop.add({"a": "alpha"})
    await shop.add({"a": "beta"})
    assert sorted((header.valid_from, header.valid_to) for header in await _headers(shop)) == [(1, 2), (2, OPEN)]


async def test_title_and_headings_are_searched_but_count_less(shop: Workshop) -> None:
    async def records() -> AsyncIterator[SourceItem | SourceFailure]:
        for name, title, text in (("1", "unrelated", "kiwi fruit"), ("2", "kiwi", "other fruit")):
            yield SourceItem(
                source=ROOT + name, name=name, size=9, data=text.encode(), kind="record", title=title, metadata={}
            )

    await shop.ingest.add(await shop.kb(), records())
    index = await shop.index()
    hits = await index.search_lexical(query_weights("kiwi"), 10, EVERYTHING)
    sources = {header.id: header.payload["source"] async for header in index.scan(EVERYTHING)}
    await index.close()
    assert [sources[hit.id] for hit in hits] == [ROOT + "1", ROOT + "2"]


async def test_metadata_can_be_filtered_by(shop: Workshop) -> None:
    async def records() -> AsyncIterator[SourceItem | SourceFailure]:
        for at in range(4):
            metadata: Metadata = {"year": 2020 + at, "tags": ("even",) if at % 2 == 0 else ("odd",)}
            yield SourceItem(source=f"{ROOT}{at}", name=str(at), size=4, data=b"text", kind="record", metadata=metadata)

    await shop.ingest.add(await shop.kb(), records())
    index = await shop.index()
    where = And((Range(field="year", gte=2021), Eq("tags", "even"), In("acl", ("all",)), Eq("tenant", "acme")))
    assert [header.payload["year"] async for header in index.scan(where)] == [2022]
    await index.close()


async def _readers(shop: Workshop) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for header in await _headers(shop):
        acl = header.payload["acl"]
        assert isinstance(acl, list | tuple)
        found[str(header.payload["source"])] = set(acl)
    return found


async def test_a_change_of_readers_reaches_the_points(shop: Workshop) -> None:
    await shop.add({"a": "alpha", "b": "beta"})
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + "a", 1)
    assert version is not None
    await shop.catalog.grant(kb.id, version.document_id, "ann")
    assert await shop.ingest.refresh_access(kb, [version.document_id]) == 1
    assert await _readers(shop) == {ROOT + "a": {"ann"}, ROOT + "b": {"all"}}
    await shop.catalog.revoke(kb.id, kb.id, "all")
    assert await shop.ingest.refresh_access(kb) == 2
    assert await _readers(shop) == {ROOT + "a": {"ann"}, ROOT + "b": set()}
