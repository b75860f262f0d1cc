"""What the cache of vectors saves, keeps bit for bit, and survives."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from kaijuan import telemetry
from kaijuan.errors import OverlongInputError
from kaijuan.index.ports import Vector, Vectors
from kaijuan.models.around.embedding_cache import CachedEmbedder
from kaijuan.testing.embedders import HashEmbedder

TEXTS = [f"第{number}条 rule {number}" for number in range(40)]


class CountingEmbedder(HashEmbedder):
    """Remembers what it was asked, and gives slightly other vectors each time, as a batch-dependent engine would."""

    def __init__(self, dimensions: int = 64) -> None:
        super().__init__(dimensions)
        self.passages: list[str] = []
        self.queries: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += texts
        rows = await super().embed_passages(texts)
        return rows * np.float32(1 + 1e-6 * len(self.passages))

    async def embed_query(self, text: str) -> Vector:
        self.queries.append(text)
        return await super().embed_query(text)


def _counted(name: str) -> int:
    return telemetry.counters().get(name, 0)


def _rows(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        number: int = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    return number


async def _filled(path: Path, texts: Sequence[str] = TEXTS, max_bytes: int = 10_000_000) -> Vectors:
    embedder = CachedEmbedder(HashEmbedder(), path, max_bytes=max_bytes)
    rows = await embedder.embed_passages(texts)
    await embedder.close()
    return rows


async def test_a_text_is_computed_once_and_comes_back_bit_for_bit(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    cached, computed = _counted("embedding.cached"), _counted("embedding.computed")
    embedder = CachedEmbedder(inner, tmp_path / "v.db", max_bytes=10_000_000)
    first = await embedder.embed_passages(TEXTS)
    await embedder.close()
    again = CachedEmbedder(inner, tmp_path / "v.db", max_bytes=10_000_000)
    inner._closed = False
    second = await again.embed_passages([*TEXTS[::-1], "new"])
    await again.close()
    assert first.tobytes() == second[:-1][::-1].tobytes()
    assert inner.passages == [*TEXTS, "new"]
    assert _counted("embedding.computed") - computed == len(TEXTS) + 1
    assert _counted("embedding.cached") - cached == len(TEXTS)


async def test_the_same_text_twice_in_a_call_is_computed_once(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, tmp_path / "v.db", max_bytes=10_000_000)
    rows = await embedder.embed_passages(["a", "b", "a"])
    await embedder.close()
    assert inner.passages == ["a", "b"]
    assert rows[0].tobytes() == rows[2].tobytes()


async def test_another_model_finds_nothing(tmp_path: Path) -> None:
    await _filled(tmp_path / "v.db")
    inner = CountingEmbedder(dimensions=32)
    embedder = CachedEmbedder(inner, tmp_path / "v.db", max_bytes=10_000_000)
    rows = await embedder.embed_passages(TEXTS[:3])
    await embedder.close()
    assert rows.shape == (3, 32)
    assert inner.passages == TEXTS[:3]


async def test_what_was_computed_before_a_failure_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaijuan.models.around.embedding_cache._SLICE", 10)
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, tmp_path / "v.db", max_bytes=10_000_000)
    with pytest.raises(OverlongInputError):
        await embedder.embed_passages([*TEXTS[:20], "word " * 9000])
    inner.passages.clear()
    await embedder.embed_passages(TEXTS[:20])
    await embedder.close()
    assert inner.passages == []


@pytest.mark.parametrize("damage", ["not a database", "middle", "empty"])
async def test_a_damaged_file_is_set_aside_and_made_anew(
    tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "v.db"
    expected = await _filled(path)
    data = bytearray(path.read_bytes())
    if damage == "middle":
        data[4096:12288] = os.urandom(8192)
    path.write_bytes({"not a database": b"garbage " * 2000, "middle": bytes(data), "empty": b""}[damage])
    with caplog.at_level("INFO", logger="kaijuan"):
        rows = await _filled(path)
        assert rows.tobytes() == expected.tobytes()
        assert (await _filled(path)).tobytes() == expected.tobytes()
    if damage != "empty":
        assert path.with_name("v.db.damaged").exists()
        assert "embedding_cache.damaged" in caplog.text
    assert _rows(path) == len(TEXTS)


async def test_a_flipped_bit_in_a_vector_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    expected = await _filled(path)
    connection = sqlite3.connect(path)
    key, blob = connection.execute("SELECT key, vector FROM vectors LIMIT 1").fetchone()
    changed = bytearray(blob)
    changed[7] ^= 1
    connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (bytes(changed), key))
    connection.commit()
    connection.close()
    before = _counted("embedding.computed")
    assert (await _filled(path)).tobytes() == expected.tobytes()
    assert _counted("embedding.computed") - before == 1


async def test_the_file_stays_below_its_bound_and_drops_the_oldest(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    bound = 300_000
    texts = [f"text number {number}" for number in range(3000)]
    await _filled(path, texts, max_bytes=bound)
    assert path.stat().st_size < bound + 256 * 2 * 400
    before = _counted("embedding.cached")
    await _filled(path, texts[-200:], max_bytes=bound)
    assert _counted("embedding.cached") - before == 200
    before = _counted("embedding.cached")
    await _filled(path, texts[:200], max_bytes=bound)
    assert _counted("embedding.cached") - before == 0


async def test_a_folder_that_cannot_be_made_costs_the_cache_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    rows = await _filled(tmp_path / "file" / "v.db")
    assert rows.shape == (len(TEXTS), 64)


async def test_a_locked_file_costs_the_cache_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kaijuan.models.around.embedding_cache._BUSY_SECONDS", 0.05)
    path = tmp_path / "v.db"
    await _filled(path, TEXTS[:1])
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    rows = await _filled(path)
    holder.execute("ROLLBACK")
    holder.close()
    assert rows.shape == (len(TEXTS), 64)
    assert not path.with_name("v.db.damaged").exists()


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from kaijuan.models.around.embedding_cache import CachedEmbedder
        from kaijuan.testing.embedders import HashEmbedder
        async def main():
            embedder = CachedEmbedder(HashEmbedder(), Path(sys.argv[1]), max_bytes=10_000_000)
            for at in range(0, 600, 20):
                await embedder.embed_passages([f"{sys.argv[2]} {number}" for number in range(at, at + 20)])
            await embedder.close()
        asyncio.run(main())
    """)
    path = tmp_path / "v.db"
    running = [subprocess.Popen([sys.executable, "-c", script, str(path), name]) for name in ("a", "b")]
    assert [process.wait(60) for process in running] == [0, 0]
    assert _rows(path) == 1200


async def test_a_question_is_remembered_and_cannot_be_spoilt_by_its_caller(tmp_path: Path) -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, tmp_path / "v.db", max_bytes=10_000_000)
    first = await embedder.embed_query("年假")
    kept = first.copy()
    first *= 2
    second = await embedder.embed_query("年假")
    assert second.tobytes() == kept.tobytes()
    assert inner.queries == ["年假"]
    for number in range(300):
        await embedder.embed_query(str(number))
    await embedder.embed_query("年假")
    await embedder.close()
    assert inner.queries.count("年假") == 2
