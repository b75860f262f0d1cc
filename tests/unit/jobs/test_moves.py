"""A closed document that was moved is never more open than before, whatever is published on the way."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kaijuan.core.identity import FOLDER
from kaijuan.core.ids import document_id
from kaijuan.core.reviews import ReviewState
from kaijuan.ingest.settings import GateSettings
from kaijuan.jobs.gate import GateRules
from kaijuan.jobs.settings import JobSettings
from kaijuan.stores.catalog.sql import SqlCatalog
from kaijuan.stores.index.edge_store import EdgeIndexStore
from kaijuan.testing.workshop import ROOT, Workshop, offered

SECRET = "Salaries of the board: nine hundred thousand. 董事薪酬九十万元。"
OTHERS = {f"n{at}": f"Rule {at} of the house. 第{at}条。" for at in range(6)}


class Looking:
    """Looks, as everybody and with a connection of its own, each time readers are moved to a snapshot."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.snapshots: list[int] = []
        self.leaks: list[tuple[int, str]] = []

    def __call__(self, step: str) -> None:
        if step == "move_head":
            with ThreadPoolExecutor(1) as pool:
                pool.submit(asyncio.run, self._look()).result()

    async def _look(self) -> None:
        catalog = SqlCatalog(self.home / "catalog.db")
        kb = await catalog.kb("acme", "shelf")
        self.snapshots.append(kb.head)
        for version in await catalog.versions(kb.id, kb.head):
            chunks = [chunk.id for chunk in await catalog.chunks_of(version.id)]
            if version.content_hash == self.secret and await catalog.authorise(kb.id, kb.head, chunks, ["all"]):
                self.leaks.append((kb.head, version.source.removeprefix(ROOT)))
        await catalog.close()

    secret = ""


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    """A shelf that publishes after every document."""
    made = Workshop(
        tmp_path,
        reached=Looking(tmp_path),
        settings=JobSettings(group_documents=1, publish_documents=1, ahead=1, backlog_chunks=4),
    )
    yield made
    await made.close()


async def _closed(shop: Workshop, texts: dict[str, str], resource: str, *readers: str) -> Looking:
    """Add texts, and let only some read a document or folder; return who looks from then on."""
    await shop.add(texts)
    kb = await shop.kb()
    secret = [one for one in await shop.catalog.versions(kb.id, kb.head) if one.source.endswith("secret")]
    await _grant(shop, resource, *readers)
    looking = shop.reached
    assert isinstance(looking, Looking)
    looking.secret, looking.snapshots, looking.leaks = secret[0].content_hash, [], []
    return looking


async def _grant(shop: Workshop, resource: str, *readers: str) -> None:
    kb = await shop.kb()
    name = FOLDER + ROOT + resource if resource.endswith("/") else document_id(kb.id, ROOT + resource)
    for reader in readers:
        await shop.catalog.grant(kb.id, name, reader)


async def _readers(shop: Workshop, name: str) -> frozenset[str]:
    kb = await shop.kb()
    document = document_id(kb.id, ROOT + name)
    return (await shop.catalog.principals_of(kb.id, [document]))[document]


async def test_it_is_not_seen_at_its_new_place_before_it_is_closed_there(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET, "n0": OTHERS["n0"]}, "secret", "li")
    report = await shop.add({"a": SECRET, **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert [one.after for one in report.moved] == [ROOT + "a"]
    assert await _readers(shop, "a") == {"li"}


async def test_what_came_before_it_is_published_on_the_way(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET}, "secret", "li")
    await shop.add({**OTHERS, "z": SECRET}, mirror=True)
    assert looking.leaks == []
    assert len(looking.snapshots) >= len(OTHERS)


async def test_a_copy_is_governed_where_it_is_and_holds_nothing_up_once_its_original_is_met(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET}, "secret", "li")
    report = await shop.add({"copy": SECRET, "secret": SECRET, **OTHERS}, mirror=True)
    assert report.moved == ()
    assert await _readers(shop, "copy") == {"all"}
    assert {name for _, name in looking.leaks} == {"copy"}
    assert len(looking.snapshots) >= len(OTHERS)


async def test_the_rule_of_a_folder_that_was_renamed_goes_with_its_documents(shop: Workshop) -> None:
    looking = await _closed(shop, {"hr/secret": SECRET, "hr/b": "Beta. 乙。"}, "hr/", "group:hr")
    await shop.add({"a/secret": SECRET, "a/b": "Beta. 乙。", **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert await _readers(shop, "a/secret") == {"group:hr"}
    assert await _readers(shop, "a/b") == {"group:hr"}
    assert await _readers(shop, "n0") == {"all"}


async def test_a_wider_rule_above_both_places_is_not_enough(shop: Workshop) -> None:
    looking = await _closed(shop, {"docs/hr/secret": SECRET}, "docs/hr/", "group:hr")
    await _grant(shop, "docs/", "all")
    await shop.add({"docs/a/secret": SECRET, **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert await _readers(shop, "docs/a/secret") == {"group:hr"}


async def test_a_folder_elsewhere_with_a_rule_of_its_own_decides(shop: Workshop) -> None:
    await _closed(shop, {"drafts/secret": SECRET}, "drafts/", "ann")
    await _grant(shop, "issued/", "all")
    await shop.add({"issued/secret": SECRET, **OTHERS}, mirror=True)
    assert await _readers(shop, "issued/secret") == {"all"}


async def test_moved_into_the_place_of_another_only_those_of_both_read_it(shop: Workshop) -> None:
    texts = {"secret": SECRET, "other": "Something else. 别的。"}
    looking = await _closed(shop, texts, "secret", "li", "wang")
    await _grant(shop, "other", "wang", "zhao")
    await shop.add({"other": SECRET, **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert await _readers(shop, "other") == {"wang"}


async def test_moved_over_an_open_document_it_closes_that_place(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET, "open": "Open. 公开。"}, "secret", "li")
    await shop.add({"open": SECRET, **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert await _readers(shop, "open") == {"li"}


async def test_of_a_place_that_cannot_be_read_nobody_knows_and_it_is_closed(shop: Workshop) -> None:
    looking = await _closed(shop, {"d/secret": SECRET}, "d/secret", "li")
    report = await shop.add({"a": SECRET, "d": None, **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert report.moved == ()
    assert await _readers(shop, "a") == {"li"}
    assert await _readers(shop, "d/secret") == {"li"}


async def test_moved_to_two_places_it_is_closed_at_both(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET}, "secret", "li")
    await shop.add({"a": SECRET, **OTHERS, "z": SECRET}, mirror=True)
    assert looking.leaks == []
    assert await _readers(shop, "a") == await _readers(shop, "z") == {"li"}


async def test_two_documents_that_changed_places(shop: Workshop) -> None:
    looking = await _closed(shop, {"a": "Open. 公开。", "secret": SECRET}, "secret", "li")
    await shop.add({"secret": "Open. 公开。", "a": SECRET, **OTHERS}, mirror=True)
    assert looking.leaks == []
    assert await _readers(shop, "a") == await _readers(shop, "secret") == {"li"}


async def test_what_lies_outside_of_the_mirrored_place_is_no_move(shop: Workshop) -> None:
    looking = await _closed(shop, {"x/secret": SECRET}, "x/secret", "li")
    await shop.ingest.add(await shop.kb(), offered({"y/secret": SECRET}), mirror_scope=ROOT + "y/")
    assert {name for _, name in looking.leaks} == {"y/secret"}
    assert await _readers(shop, "y/secret") == {"all"}


async def test_without_mirroring_a_copy_is_a_copy(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET}, "secret", "li")
    await shop.add({"a": SECRET})
    assert {name for _, name in looking.leaks} == {"a"}


async def test_moved_and_held_back_it_is_closed_when_it_is_let_in_later(shop: Workshop) -> None:
    looking = await _closed(shop, {"secret": SECRET}, "secret", "li")
    untrusted = GateSettings(untrusted_sources=(ROOT + "a",))
    shop.ingest = replace(shop.ingest, gate=GateRules(settings=untrusted))
    report = await shop.add({"a": SECRET}, mirror=True)
    assert (len(report.held), report.removed) == (1, 1)
    kb = await shop.kb()
    assert await shop.catalog.readers_of(kb.id, [ROOT + "a"]) == {ROOT + "a": frozenset({"li"})}
    await shop.ingest.approve(kb, await shop.catalog.reviews(kb.id, [ReviewState.PENDING]), by="wang")
    assert set(await shop.texts((await shop.kb()).head)) == {"a"}
    assert looking.leaks == []
    assert await _readers(shop, "a") == {"li"}


KILLED = """
import asyncio, json, os, signal, sys
from pathlib import Path
from kaijuan.jobs.settings import JobSettings
from kaijuan.stores.index.edge_store import EdgeIndexStore
from kaijuan.testing.workshop import Workshop

def reached(step):
    if step == "stage":
        os.kill(os.getpid(), signal.SIGKILL)

settings = JobSettings(group_documents=1, publish_documents=1, ahead=1, backlog_chunks=4)
home = Path(sys.argv[1])
shop = Workshop(home, indexes=EdgeIndexStore(home, 120.0), reached=reached, settings=settings)
asyncio.run(shop.add(json.loads(sys.argv[2]), mirror=sys.argv[3] == "mirror", request="the shelf"))
"""


@pytest.mark.parametrize(("mode", "readers"), [("mirror", {"li"}), ("plain", {"all"})])
async def test_what_a_killed_run_left_is_not_published_more_open(tmp_path: Path, mode: str, readers: set[str]) -> None:
    settings = JobSettings(group_documents=1, publish_documents=1, ahead=1, backlog_chunks=4)
    shop = Workshop(tmp_path, indexes=EdgeIndexStore(tmp_path, 120.0), reached=Looking(tmp_path), settings=settings)
    looking = await _closed(shop, {"secret": SECRET}, "secret", "li")
    texts = {"a": SECRET, **OTHERS}
    words = [sys.executable, "-c", KILLED, str(shop.home), json.dumps(texts), mode]
    child = await asyncio.create_subprocess_exec(*words)
    assert await child.wait() == -signal.SIGKILL
    report = await shop.add(texts, mirror=mode == "mirror", request="the shelf")
    assert report.salvaged == 1
    assert {name for _, name in looking.leaks} == ({"a"} if mode == "plain" else set())
    assert await _readers(shop, "a") == readers
    await shop.close()
