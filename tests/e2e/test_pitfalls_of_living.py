"""What users of other systems suffer from while documents come, change and go: their reports, rebuilt (C and numbers
as in the list of pitfalls)."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from bench import kills
from numpy.random import Generator

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.documents import INDEXED
from kaijuan.core.filters import EVERYTHING, Eq, at_snapshot
from kaijuan.core.ids import ChunkId, content_hash, piece_of
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import BusyError, SpaceMismatchError
from kaijuan.index.ports import Point, Vectors
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.jobs.settings import RetentionSettings
from kaijuan.stores.index import qdrant_edge
from kaijuan.testing.embedders import HashEmbedder

SMALL = Config(
    chunk=ChunkSettings(child_tokens=32, max_tokens=64, parent_tokens=96, summaries=False),
    retention=RetentionSettings(keep_days=0, keep_snapshots=1, grace_seconds=0),
)
RULE = "差旅住宿标准：一线城市每晚上限 500 元。代码 RULE-1001。"


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    async with Kaijuan(tmp_path / "home", config=SMALL, embedder=HashEmbedder()) as engine:
        yield engine
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


async def _live(base: Kaijuan) -> tuple[set[str], set[ChunkId]]:
    """Return the versions and the chunks that head shows."""
    versions = await base.list()
    kb = await base.catalog.kb("default", "default")
    index = await base._index(kb)
    assert index is not None
    return {one.id for one in versions}, {header.id async for header in index.scan(at_snapshot(kb.head))}


@pytest.mark.parametrize("view", ["file", "document"])
async def test_only_live_ids_appear_after_upload_ask_delete_and_upload_again(
    base: Kaijuan, tmp_path: Path, view: str
) -> None:
    """Input 8, C1: by the file, and by the id that the knowledge base shows."""
    path = write(tmp_path / "docs", "rule.md", RULE)
    other = write(tmp_path / "docs", "other.md", "食堂开放时间：十一点到十三点。代码 RULE-2002。")
    await base.add([str(other)])
    for _ in range(3):
        await base.add([str(path)])
        await _assert_only_live(base)
        assert "500" in (await base.ask("一线城市住宿每晚上限是多少？")).answer
        (version,) = [one for one in await base.list() if one.source.endswith("rule.md")]
        await base.remove([str(path) if view == "file" else version.document_id])
        await _assert_only_live(base)
        answer = await base.ask("一线城市住宿每晚上限是多少？")
        assert "500" not in answer.answer
        assert "RULE-1001" not in "".join(one.text for one in (await base.search("RULE-1001", cut=False)).passages)


async def _assert_only_live(base: Kaijuan) -> None:
    versions, chunks = await _live(base)
    for question in ("差旅住宿标准", "RULE-1001", "食堂 RULE-2002"):
        result = await base.search(question, k=20, cut=False)
        assert {passage.version_id for passage in result.passages} <= versions
        pieces = {piece_of(chunk) for chunk in chunks}
        assert {passage.chunk_id for passage in result.passages} <= pieces
        assert {candidate.chunk_id for candidate in result.trace.candidates} <= pieces
        answer = await base.ask(question)
        assert {citation.version_id for citation in answer.citations} <= versions


QUEUE = """
import asyncio, hashlib, sys
from pathlib import Path
from kaijuan import Kaijuan
from kaijuan.models.around.embedding_cache import CachedEmbedder
from kaijuan.testing.embedders import HashEmbedder

home, docs, log = map(Path, sys.argv[1:4])

class Logged(HashEmbedder):
    async def embed_passages(self, texts):
        vectors = await super().embed_passages(texts)
        with log.open("a") as file:
            file.write("".join(hashlib.sha256(text.encode()).hexdigest() + chr(10) for text in texts))
        return vectors

from kaijuan.config import Config
from kaijuan.index.settings import IndexSettings
from kaijuan.jobs.settings import JobSettings
SETTINGS = Config(
    jobs=JobSettings(group_documents=1, backlog_chunks=1), index=IndexSettings(embed_batch=1, group_chunks=1)
)

async def main():
    cached = CachedEmbedder(Logged(), home / "cache" / "vectors.db", max_bytes=1 << 28)
    async with Kaijuan(home, config=SETTINGS, embedder=cached) as engine:
        await engine.add([str(docs)])
        if len(sys.argv) > 4:
            (log.parent / "asked.log").write_bytes(log.read_bytes())  # the doctor asks the model as well
            health = await engine.doctor(deep=True)
            assert health.ok, health
            print(len(await engine.list()))
            await engine.indexes.stop_owner()

asyncio.run(main())
"""


def test_a_killed_queue_of_twenty_is_complete_after_a_restart(tmp_path: Path) -> None:
    """Input 9, C5: nothing is lost, nothing is there twice, and finished model calls are not made again."""
    docs, home, log = tmp_path / "docs", tmp_path / "home", tmp_path / "calls.log"
    for number in range(20):
        write(docs, f"d{number:02}.txt", f"Document {number} holds rule {number * 7919}. 第 {number} 份文件。")
    words = [sys.executable, "-c", QUEUE, str(home), str(docs), str(log)]
    chance = random.Random(9)
    kills = 0
    for _ in range(3):
        goal = _calls(log) + chance.randint(1, 5)
        with subprocess.Popen(words, stderr=subprocess.PIPE) as child:
            while child.poll() is None and _calls(log) < goal:
                os.sched_yield()  # no time is waited for, only what it writes
            child.kill()
            kills += child.wait() == -signal.SIGKILL
    assert kills == 3
    done = subprocess.run([*words, "check"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "20"), done.stderr
    calls = (tmp_path / "asked.log").read_text("ascii").split()
    assert len(set(calls)) == 20
    # The one call under way when it was killed may not have been kept.
    assert len(calls) - len(set(calls)) <= kills


def _calls(log: Path) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


async def test_what_is_deleted_while_it_is_taken_in_never_comes_back(base: Kaijuan, tmp_path: Path) -> None:
    """C2: the deletion has to wait or is refused; whatever the order, what is gone stays gone and leaves nothing."""
    docs = tmp_path / "docs"
    for number in range(8):
        write(docs, f"d{number}.txt", f"Rule {number} RULE-{number:04}. 第 {number} 条规定。")
    first = write(tmp_path / "kept", "kept.txt", "Kept. RULE-9999.")
    await base.add([str(first)])
    async with Kaijuan(base.home, config=SMALL, embedder=HashEmbedder()) as other:
        adding = asyncio.create_task(base.add([str(docs)]))
        refused = 0
        while not adding.done():
            try:
                await other.remove([str(first)])
                break
            except BusyError:
                refused += 1
                await asyncio.sleep(0)
        await adding
        if [one for one in await other.list() if one.source.endswith("kept.txt")]:
            await other.remove([str(first)])
        await other.remove([str(docs)])
        assert await other.list() == []
        assert (await other.search("RULE-0001", cut=False)).passages == ()
        assert (await other.doctor(deep=True)).ok


async def test_a_failing_document_is_failed_with_a_reason_and_not_queued_for_ever(
    base: Kaijuan, tmp_path: Path
) -> None:
    """C4, C7: nothing stays under way, what failed has a code and a sentence, success is not shown for it."""
    write(tmp_path / "docs", "good.txt", RULE)
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of a PDF follows")
    report = await base.add([str(tmp_path / "docs")])
    assert (report.added, len(report.failed)) == (1, 1)
    (view,) = await base.run_views()
    _, items = await base.run_view("last")
    assert view.run.finished_at is not None
    failed = [item for item in items if item.code]
    assert [item.source.rpartition("/")[2] for item in failed] == ["broken.pdf"]
    assert failed[0].message
    assert [one.source.rpartition("/")[2] for one in await base.list()] == ["good.txt"]


async def test_another_model_of_the_same_size_is_refused_and_never_mixed(base: Kaijuan, tmp_path: Path) -> None:
    """C12."""
    await base.add([str(write(tmp_path / "docs", "rule.md", RULE))])
    other_model = HashEmbedder(max_tokens=256)
    assert other_model.info.dimensions == base.embedder.info.dimensions
    async with Kaijuan(base.home, config=SMALL, embedder=other_model) as other:
        with pytest.raises(SpaceMismatchError):
            await other.search("差旅住宿标准")
        with pytest.raises(SpaceMismatchError):
            await other.add([str(write(tmp_path / "docs", "more.md", "再来一条。"))])
    assert "RULE-1001" in "".join(one.text for one in (await base.search("RULE-1001", cut=False)).passages)


async def test_a_double_click_stores_nothing_twice(base: Kaijuan, tmp_path: Path) -> None:
    """C20: the same folder at the same moment, from two windows, and once more."""
    docs = tmp_path / "docs"
    write(docs, "rule.md", RULE)
    write(docs, "table.md", "# 表\n\n前。\n\n<table><tr><td>甲-7001</td><td>乙-7002</td></tr></table>\n\n后。\n")
    async with Kaijuan(base.home, config=SMALL, embedder=HashEmbedder()) as other:
        await base.add([str(write(tmp_path / "first", "first.txt", "first"))])
        both = await asyncio.gather(base.add([str(docs)]), other.add([str(docs)]), return_exceptions=True)
    assert all(isinstance(one, BusyError) or not isinstance(one, BaseException) for one in both), both
    again = await base.add([str(docs)])
    assert again.unchanged + again.added == 2
    names = [one.source.rpartition("/")[2] for one in await base.list()]
    assert sorted(names) == ["first.txt", "rule.md", "table.md"]
    view = await base.show("table.md")
    for cell in ("甲-7001", "乙-7002"):
        assert sum(cell in chunk.span.of(view.text) for chunk in view.chunks if chunk.level in INDEXED) == 1
    versions, chunks = await _live(base)
    kb = await base.catalog.kb("default", "default")
    assert (await base.catalog.counts(kb.id, kb.head)).documents == len(versions) == 3
    index = await base._index(kb)
    assert index is not None
    assert await index.count(EVERYTHING) == len(chunks)


async def test_an_update_replaces_the_whole_set_of_chunks(base: Kaijuan, tmp_path: Path) -> None:
    """C21, C24: longer, shorter, gone: parents, children, points and words change together, and nothing is left."""
    path = tmp_path / "docs" / "rule.txt"
    for paragraphs in (12, 30, 3):
        text = "\n\n".join(
            f"第 {at} 段：规定 PART-{paragraphs}-{at:02} 的内容，各部门遵照执行。" for at in range(paragraphs)
        )
        await base.add([str(write(tmp_path / "docs", "rule.txt", text))])
        view = await base.show("rule.txt")
        said = "\n".join(chunk.span.of(view.text) for chunk in view.chunks)
        assert all(f"PART-{paragraphs}-{at:02}" in said for at in range(paragraphs))
        await _assert_families(base)
        words = "".join(one.text for one in (await base.search(f"PART-{paragraphs}-02", k=20, cut=False)).passages)
        assert f"PART-{paragraphs}-02" in words
        assert all(f"PART-{other}-" not in words for other in (12, 30, 3) if other != paragraphs)
    await base.remove([str(path)])
    await base.gc()
    kb = await base.catalog.kb("default", "default")
    index = await base._index(kb)
    assert index is not None
    assert await index.count(EVERYTHING) == 0
    assert (await base.doctor(deep=True)).ok


async def _assert_families(base: Kaijuan) -> None:
    """Every child has its parent in the same version, and every searchable chunk its one point."""
    versions, points = await _live(base)
    (version,) = await base.list()
    assert versions == {version.id}
    chunks = await base.catalog.chunks_of(version.id)
    ids = {chunk.id for chunk in chunks}
    assert all(chunk.parent_id in ids for chunk in chunks if chunk.parent_id is not None)
    assert {chunk.id for chunk in chunks if chunk.level in INDEXED} == points


async def test_not_known_is_not_remembered_when_documents_arrive(base: Kaijuan, tmp_path: Path) -> None:
    """C22: asked again after the document came, it is answered; after it went, it is not."""
    await base.add([str(write(tmp_path / "docs", "other.md", "食堂开放时间：十一点到十三点。"))])
    question = "一线城市住宿每晚上限是多少元？"
    assert "500" not in (await base.ask(question)).answer
    assert "500" not in (await base.ask(question)).answer
    path = write(tmp_path / "docs", "rule.md", RULE)
    await base.add([str(path)])
    assert "500" in (await base.ask(question)).answer
    assert "500" in (await base.ask(question)).answer
    path.write_text(RULE.replace("500", "600"), encoding="utf-8")
    await base.add([str(path)])
    changed = (await base.ask(question)).answer
    assert "600" in changed
    assert "500" not in changed
    await base.remove([str(path)])
    gone = await base.ask(question)
    assert "600" not in json.dumps([gone.answer, [citation.quote for citation in gone.citations]], ensure_ascii=False)


@pytest.mark.parametrize("share", [0.1, 0.02, 0.001])
def test_a_narrow_filter_finds_all_that_match_also_after_deletes(
    share: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Input 10: as brute force has it, where the graph is walked; then with half of all points gone, and optimised."""
    # As in a base of a hundred thousand: the graph is walked unless the filter leaves few.
    monkeypatch.setattr(qdrant_edge, "APPROXIMATE_ABOVE", 1_000)
    monkeypatch.setattr(qdrant_edge, "_SCAN", 400)
    count, numbers = 20_000, np.random.default_rng(10)
    vectors = numbers.normal(size=(count, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tagged = numbers.permutation(count) < count * share
    ids = [ChunkId(content_hash(str(at).encode())[:32]) for at in range(count)]
    shard = qdrant_edge.Shard.create(tmp_path / "shard", 16)
    try:
        for at in range(0, count, 1000):
            shard.upsert(
                [
                    Point(
                        id=ids[n],
                        vector=vectors[n],
                        terms={1: 1.0},
                        payload={"kind": "rare" if tagged[n] else "usual"},
                        valid_from=1,
                        valid_to=OPEN,
                    )
                    for n in range(at, at + 1000)
                ]
            )
        shard.optimise()
        _as_brute_force(shard, ids, vectors, tagged, numbers)
        gone = numbers.permutation(count) < count // 2
        shard.delete([ids[n] for n in np.flatnonzero(gone)])
        _as_brute_force(shard, ids, vectors, tagged & ~gone, numbers)
        shard.optimise()
        _as_brute_force(shard, ids, vectors, tagged & ~gone, numbers)
    finally:
        shard.close()


def _as_brute_force(
    shard: qdrant_edge.Shard, ids: list[ChunkId], vectors: Vectors, tagged: npt.NDArray[np.bool_], numbers: Generator
) -> None:
    places = np.flatnonzero(tagged)
    found = wanted = 0
    for _ in range(20):
        query = numbers.normal(size=16).astype(np.float32)
        query /= np.linalg.norm(query)
        best = places[np.argsort(-(vectors[places] @ query), kind="stable")[:10]]
        hits = [hit.id for hit in shard.search_dense(query, 10, Eq("kind", "rare"))]
        assert len(hits) == len(best)
        assert set(hits) <= {ids[n] for n in places}
        found += len({ids[n] for n in best} & set(hits))
        wanted += len(best)
    # What is scanned is exact; where many match the graph is walked, which may miss one in a hundred.
    assert found >= (0.99 if len(places) > 400 else 1.0) * wanted


async def test_an_old_catalog_is_migrated_and_finds_what_it_found(tmp_path: Path) -> None:
    """C23: the same passages with the same scores before and after, and nothing that the doctor would mend."""
    home, docs = tmp_path / "home", tmp_path / "docs"
    questions = ("一线城市住宿标准", "RULE-1001", "how many days of leave", "设备报修")
    for name, text in {
        "rule.md": RULE,
        "leave.md": "# Leave\n\nAnnual leave is 20 days a year.",
        "repair.md": "# 设备报修\n\n设备故障请在两小时内报修。",
    }.items():
        write(docs, name, text)

    async def asked() -> list[list[tuple[str, float]]]:
        async with Kaijuan(home, config=SMALL, embedder=HashEmbedder()) as engine:
            if not (home / "catalog.db").exists():
                await engine.add([str(docs)])
            found = [await engine.search(question, cut=False) for question in questions]
            report = await engine.doctor(deep=True)
            assert [check.name for check in report.checks if not check.ok] == []
            await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's
            return [[(one.chunk_id, one.score) for one in result.passages] for result in found]

    before = await asked()
    assert all(before)
    kills.age(kills.Ordeal(tmp_path, random.Random(1)))
    with closing(sqlite3.connect(home / "catalog.db")) as catalog:
        assert catalog.execute("SELECT version_num FROM alembic_version").fetchone() == (kills.OLD_REVISION,)
    assert await asked() == before


async def test_a_file_that_takes_all_memory_costs_only_itself(tmp_path: Path) -> None:
    """C6: the budget ends its reader and not the engine; what came with it is in the base, and a code says why."""
    config = SMALL.model_copy(update={"ingest": SMALL.ingest.model_copy(update={"parse_memory_mb": 300})})
    docs = tmp_path / "docs"
    write(docs, "rule.md", RULE)
    # Some 60 MB that unpack to gigabytes of objects.
    (docs / "huge.json").write_text("[" + ",".join(["[[[[[]]]]]"] * 5_000_000) + "]", encoding="ascii")
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as engine:
        report = await engine.add([str(docs)])
        assert [one.source.rpartition("/")[2] for one in report.failed] == ["huge.json"]
        assert report.failed[0].code == "parse_memory"
        assert report.added == 1
        assert (await engine.search("住宿标准", cut=False)).passages
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's
