"""A chunk that says next to nothing ranks lower, and stays findable; the factor undoes it without a new index."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.ids import ChunkId
from kaijuan.retrieve.fuse import Fused, weighed
from kaijuan.testing.embedders import HashEmbedder

NOTICE = "Copyright © 2024 Example Ltd travel expenses. All rights reserved."
RULE = "Expenses for travel are paid within a month."


def test_marked_chunks_are_ordered_anew() -> None:
    fused = [Fused(id=ChunkId(name), score=score, routes={}) for name, score in (("a", 1.0), ("b", 0.8), ("c", 0.2))]
    assert [(one.id, one.score) for one in weighed(fused, {ChunkId("a")}, 0.5)] == [("b", 0.8), ("a", 0.5), ("c", 0.2)]
    assert weighed(fused, set(), 0.5) is fused


def test_of_equals_the_unmarked_comes_first() -> None:
    fused = [Fused(id=ChunkId(name), score=score, routes={}) for name, score in (("a", 1.0), ("b", 0.0))]
    assert [one.id for one in weighed(fused, {ChunkId("a")}, 0.0)] == ["b", "a"]


@pytest.mark.parametrize(("weight", "first"), [(0.0, "rule.txt"), (1.0, "notice.txt")])
async def test_the_factor_decides(tmp_path: Path, weight: float, first: str) -> None:
    config = Config.model_validate({"stores": {"index": "memory"}, "retrieve": {"marked_weight": weight}})
    (tmp_path / "notice.txt").write_text(NOTICE, encoding="utf-8")
    (tmp_path / "rule.txt").write_text(RULE, encoding="utf-8")
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as base:
        await base.add([str(tmp_path / "notice.txt"), str(tmp_path / "rule.txt")])
        found = await base.search(NOTICE, k=2, cut=False)
        assert found.passages[0].source.endswith(first)
        assert len(found.passages) == 2
        chunks = (await base.show("notice.txt")).chunks
        assert {chunk.mark for chunk in chunks if chunk.level == "child"} == {"copyright"}
