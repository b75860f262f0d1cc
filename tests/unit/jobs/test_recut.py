"""Another way of cutting: which documents it touches, without parsing, and back again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from kaijuan import registry
from kaijuan.core.documents import Chunk, ParsedDocument
from kaijuan.errors import DocumentError, UsageError
from kaijuan.ingest.chunkers.policy import ChunkPolicy
from kaijuan.ingest.ports import SourceItem
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.testing.workshop import ROOT, SIZES, Workshop, each, read_text

STATUTE = "\n\n".join(f"第{number}条 本单位的员工应当遵守第{number}项规定，不得违反。" for number in "一二三四五六七八")
PROSE = "\n\n".join(f"In year {year} the orchard gave {year % 7} baskets of pears." for year in range(2000, 2020))
TEXTS = {"law": STATUTE, "story": PROSE}


class Reading:
    """Reads, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._inner = each(read_text)

    async def __call__(self, items: Sequence[SourceItem]) -> Sequence[ParsedDocument | DocumentError]:
        self.asked += [item.name for item in items]
        return await self._inner(items)


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    shop = Workshop(tmp_path)
    yield shop
    await shop.close()


def use(shop: Workshop, reading: Reading, **settings: object) -> None:
    chosen = ChunkSettings.model_validate(SIZES.model_dump() | settings)
    policy = ChunkPolicy(chosen, partial(registry.load, "chunker"))
    shop.ingest = replace(shop.ingest, chunking=policy, read=reading)


async def chunks(shop: Workshop, name: str) -> list[Chunk]:
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + name, kb.head)
    assert version is not None
    return await shop.catalog.chunks_of(version.id)


async def cut(shop: Workshop, name: str) -> list[tuple[object, ...]]:
    found = await chunks(shop, name)
    return [(chunk.strategy, chunk.level, chunk.span, chunk.title_path) for chunk in found]


async def test_another_strategy_touches_only_what_it_cuts_and_parses_nothing(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add(TEXTS)
    before = {name: await cut(shop, name) for name in TEXTS}
    use(shop, reading, strategy="auto")
    report = await shop.add(TEXTS)
    assert (report.updated, report.unchanged) == (1, 1)
    assert reading.asked == ["law", "story"]
    assert await cut(shop, "story") == before["story"]
    assert {path for *_, path in await cut(shop, "law")} >= {("第一条",), ("第八条",)}
    kb = await shop.kb()
    assert await shop.points(kb.head) == await shop.chunks(kb.head)


async def test_there_and_back_gives_the_same_pieces(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add(TEXTS)
    first = {name: await cut(shop, name) for name in TEXTS}
    use(shop, reading, strategy="sliding")
    assert (await shop.add(TEXTS)).updated == 2
    assert await cut(shop, "law") != first["law"]
    use(shop, reading)
    assert (await shop.add(TEXTS)).updated == 2
    assert {name: await cut(shop, name) for name in TEXTS} == first
    assert (await shop.add(TEXTS)).unchanged == 2
    assert reading.asked == ["law", "story"]


async def test_another_name_for_the_same_strategy_changes_nothing(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add(TEXTS)
    use(shop, reading, strategy="parent_child")
    assert (await shop.add(TEXTS)).unchanged == 2


async def test_a_run_gives_its_vectors_to_the_strategy_that_needs_them(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading, strategy="semantic")
    assert (await shop.add(TEXTS)).added == 2
    assert {chunk.strategy.split("-")[0] for chunk in await chunks(shop, "story")} == {"semantic"}
    assert (await shop.add(TEXTS)).unchanged == 2


async def test_other_sizes_cut_everything_anew(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add(TEXTS)
    use(shop, reading, child_tokens=12)
    assert (await shop.add(TEXTS)).updated == 2
    assert reading.asked == ["law", "story"]


async def test_warnings_and_metadata_stay_when_a_document_is_cut_anew(shop: Workshop) -> None:
    class Warned(Reading):
        async def __call__(self, items: Sequence[SourceItem]) -> Sequence[ParsedDocument | DocumentError]:
            made = await super().__call__(items)
            return [
                one if isinstance(one, DocumentError) else replace(one, warnings=("odd",), metadata={"author": "白"})
                for one in made
            ]

    reading = Warned()
    use(shop, reading)
    await shop.add(TEXTS)
    use(shop, reading, strategy="fixed")
    await shop.add(TEXTS)
    kb = await shop.kb()
    version = await shop.catalog.version_of(kb.id, ROOT + "law", kb.head)
    assert version is not None
    assert (version.number, version.warnings, version.metadata) == (2, ("odd",), {"author": "白"})
    assert [block.span for block in await shop.catalog.blocks_of(version.id)] != []


async def test_where_the_stored_text_is_lost_the_file_is_read_again(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add({"law": STATUTE})
    for blob in (shop.home / "blobs").rglob("*"):
        if blob.is_file():
            blob.write_bytes(b"rot")
    use(shop, reading, strategy="fixed")
    report = await shop.add({"law": STATUTE})
    assert report.updated == 1
    assert reading.asked == ["law", "law"]


async def test_a_changed_file_is_read_again_under_the_same_strategy(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add({"law": STATUTE})
    await shop.add({"law": STATUTE + "\n\n第九条 附则。"})
    assert reading.asked == ["law", "law"]


async def test_an_unknown_strategy_is_named_and_nothing_is_changed(shop: Workshop) -> None:
    reading = Reading()
    use(shop, reading)
    await shop.add(TEXTS)
    use(shop, reading, strategy="clever")
    with pytest.raises(UsageError, match="clever"):
        await shop.add(TEXTS)
    assert (await shop.kb()).head == 1
