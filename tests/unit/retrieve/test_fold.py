"""Equal passages of merged documents are shown once, to each reader what that reader may see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.duplicates import DuplicateState, Ruling
from kaijuan.core.ids import document_id
from kaijuan.testing.embedders import HashEmbedder

POLICY = (
    "差旅住宿标准由财务部制定，一线城市每晚上限五百元，超出部分由个人承担。"
    "Travel claims are filed within a month through the travel desk, with every receipt attached to the claim. "
    "特殊情况须由分管领导书面同意后方可报销，国际差旅另行规定，外币按当日牌价折算。"
)
OTHER = "食堂中午供应三种套餐。The canteen serves lunch at noon. 差旅不适用于食堂用餐。"


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    config = Config.model_validate({"stores": {"index": "memory"}, "retrieve": {"cut_ratio": 0, "cut_relevance": 0}})
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as engine:
        for name, text in {"a.txt": POLICY, "b.txt": POLICY, "c.txt": OTHER}.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        await engine.add([str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt")])
        yield engine


async def _found(base: Kaijuan, k: int = 5, cut: bool = True) -> list[tuple[str, list[str]]]:
    result = await base.search("差旅住宿标准每晚上限", k=k, cut=cut)
    assert [passage.rank for passage in result.passages] == list(range(1, len(result.passages) + 1))
    return [(one.source[-5:], [also[-5:] for also in one.also]) for one in result.passages]


async def test_shown_once_with_the_other_source_named(base: Kaijuan) -> None:
    found = await _found(base)
    assert [entry for entry in found if entry[0] != "c.txt"] == [("a.txt", ["b.txt"])]
    explained = await base.explain("差旅住宿标准每晚上限", contains="一线城市")
    verdicts = {target.source[-5:]: target.verdict for target in explained.targets}
    assert "folded: the same words as in" in verdicts["b.txt"]
    assert {version.source[-5:] for version in await base.list()} == {"a.txt", "b.txt", "c.txt"}


async def test_the_next_takes_the_place_of_what_is_folded(base: Kaijuan) -> None:
    shown = await base.search(POLICY[:70], k=2)
    assert {passage.source[-5:] for passage in shown.passages} == {"a.txt", "c.txt"}


async def test_measuring_sees_all(base: Kaijuan) -> None:
    assert {source for source, _ in await _found(base, cut=False)} >= {"a.txt", "b.txt"}


async def test_kept_apart_by_a_person_both_are_shown(base: Kaijuan) -> None:
    kb = await base.catalog.kb(base.tenant, base.kb_name)
    (found,) = await base.catalog.duplicates(kb.id, kb.head)
    ruling = Ruling(state=DuplicateState.KEPT, at=1.0, by="wang")
    await base.catalog.rule_duplicates([found.version_id], ruling)
    assert {source for source, _ in await _found(base)} >= {"a.txt", "b.txt"}


async def test_who_may_read_only_the_duplicate_sees_it(base: Kaijuan) -> None:
    kb = await base.catalog.kb(base.tenant, base.kb_name)
    first = next(version for version in await base.list() if version.source.endswith("a.txt"))
    await base.catalog.grant(kb.id, document_id(kb.id, first.source), "finance")
    found = await _found(base)
    assert ("b.txt", []) in found
    assert "a.txt" not in {source for source, _ in found}


async def test_nothing_is_folded_that_differs(base: Kaijuan, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(POLICY.replace("五百元", "八百元"), encoding="utf-8")
    await base.add(str(tmp_path / "b.txt"))
    found = await _found(base)
    assert {source for source, _ in found} >= {"a.txt", "b.txt"}
