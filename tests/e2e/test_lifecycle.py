"""A knowledge base as a user lives with it: real stores and processes, a stub only for the network."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.core.filters import Eq
from kaijuan.core.ids import ChunkId
from kaijuan.errors import FilterError, KaijuanError, NotFoundError, UsageError
from kaijuan.testing.embedders import HashEmbedder

OLD = "差旅住宿标准：一线城市每晚上限 500 元。旧规定代码 RULE-1001。"
NEW = "差旅住宿标准：一线城市每晚上限 600 元。新规定代码 RULE-2002。"


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        yield engine
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


async def texts(base: Kaijuan, question: str, as_of: int | None = None) -> str:
    result = await base.search(question, k=20, as_of=as_of, cut=False)
    return "\n".join(passage.text for passage in result.passages)


async def test_an_update_hides_the_old_text_at_head_and_keeps_it_in_the_past(base: Kaijuan, tmp_path: Path) -> None:
    path = write(tmp_path / "docs", "rule.md", OLD)
    write(tmp_path / "docs", "other.md", "食堂开放时间：十一点到十三点。")
    first = await base.add([str(tmp_path / "docs")])
    path.write_text(NEW, encoding="utf-8")
    second = await base.add([str(tmp_path / "docs")])
    assert (first.added, second.updated, second.unchanged, second.snapshot) == (2, 1, 1, first.snapshot + 1)

    for question in ("差旅住宿标准", "RULE-1001", "每晚上限 500 元"):
        assert "RULE-1001" not in await texts(base, question)
        assert "RULE-1001" in await texts(base, question, first.snapshot)
        assert "RULE-2002" not in await texts(base, question, first.snapshot)
    answer = await base.ask("一线城市住宿每晚上限是多少？")
    assert "500" not in answer.answer
    with pytest.raises(NotFoundError):
        await base.explain("差旅住宿标准", contains="RULE-1001")
    explained = await base.explain("差旅住宿标准", contains="RULE-1001", as_of=first.snapshot)
    assert "RULE-1001" in explained.targets[0].text


async def test_a_removed_document_is_gone_from_every_route_and_comes_back_new(base: Kaijuan, tmp_path: Path) -> None:
    path = write(tmp_path / "docs", "rule.md", OLD)
    for _ in range(3):
        added = await base.add([str(path)])
        assert "RULE-1001" in await texts(base, "差旅住宿标准")
        removed = await base.remove([str(path)])
        assert removed.removed == 1
        assert await texts(base, "RULE-1001") == ""
        assert await base.list() == []
        assert "RULE-1001" in await texts(base, "RULE-1001", added.snapshot)
    assert (await base.doctor()).ok


async def test_removing_one_record_by_its_source_leaves_the_rest_of_the_corpus(base: Kaijuan, tmp_path: Path) -> None:
    records = [{"_id": f"r{number}", "text": f"第 {number} 条规定。"} for number in range(3)]
    corpus = write(tmp_path, "c.jsonl", "\n".join(json.dumps(record) for record in records))
    await base.add(corpus)
    first, *others = await base.list()
    assert (await base.remove(first.source)).removed == 1
    assert await base.list() == others


async def test_mirroring_removes_what_has_gone(base: Kaijuan, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    write(folder, "a.md", OLD)
    gone = write(folder, "b.md", NEW)
    await base.add([str(folder)])
    gone.unlink()
    assert (await base.add([str(folder)])).removed == 0
    assert (await base.add([str(folder)], mirror=True)).removed == 1
    assert [version.source.rpartition("/")[2] for version in await base.list()] == ["a.md"]


async def test_adding_again_changes_nothing(base: Kaijuan, tmp_path: Path) -> None:
    write(tmp_path / "docs", "a.md", OLD)
    first = await base.add([str(tmp_path / "docs")])
    again = await base.add([str(tmp_path / "docs")])
    assert (again.snapshot, again.unchanged, again.added) == (first.snapshot, 1, 0)


async def test_a_rebuild_changes_no_answer(base: Kaijuan, tmp_path: Path) -> None:
    path = write(tmp_path / "docs", "rule.md", OLD)
    await base.add([str(path)])
    path.write_text(NEW, encoding="utf-8")
    await base.add([str(path)])
    before = [await base.search("住宿标准 RULE-1001", as_of=snapshot) for snapshot in (1, 2)]
    await base.rebuild()
    after = [await base.search("住宿标准 RULE-1001", as_of=snapshot) for snapshot in (1, 2)]
    assert [result.passages for result in before] == [result.passages for result in after]
    assert (await base.doctor()).ok


async def test_passages_and_quotes_are_exact_slices(base: Kaijuan, tmp_path: Path) -> None:
    await base.add(
        [str(write(tmp_path / "docs", "rule.md", f"# 制度\n\n## 差旅\n\n{OLD}\n\n## 食堂\n\n开放到 13 点。"))]
    )
    answer = await base.ask("住宿每晚上限是多少元？")
    view = await base.show("rule.md")
    assert answer.citations
    for citation in answer.citations:
        assert citation.quote == citation.span.of(view.text)
    for passage in (await base.search("住宿标准")).passages:
        assert passage.text == passage.span.of(view.text)
    for chunk in view.chunks:
        assert chunk.span.of(view.text).strip()


async def test_filters_narrow_and_slips_are_errors(base: Kaijuan, tmp_path: Path) -> None:
    rows = [{"_id": str(n), "text": f"第 {n} 条记录讲住宿标准。", "year": 2020 + n % 3} for n in range(30)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    await base.add([str(corpus)])
    found = await base.search("住宿标准", k=30, filters=[Eq("year", 2021)], cut=False)
    assert len(found.passages) == 10
    with pytest.raises(FilterError, match="yaer"):
        await base.search("住宿标准", filters=[Eq("yaer", 2021)])
    with pytest.raises(FilterError, match="acl"):
        await base.search("住宿标准", filters=[Eq("acl", "root")])


async def test_who_may_not_see_finds_nothing(base: Kaijuan, tmp_path: Path) -> None:
    await base.add([str(write(tmp_path / "docs", "rule.md", OLD))])
    async with Kaijuan(base.home, embedder=HashEmbedder(), principals=["someone"]) as other:
        assert (await other.search("RULE-1001")).passages == ()
        assert (await other.ask("住宿标准是多少？")).status == "refused"
        assert await other.list() == []
        chunk = (await base.show("rule.md")).chunks[0].id
        for ask in (
            other.show("rule.md"),
            other.explain("住宿", contains="RULE-1001"),
            other.explain("住宿", chunk=chunk),
        ):
            with pytest.raises(NotFoundError):
                await ask


async def test_a_revocation_holds_at_once_though_the_index_still_says_otherwise(base: Kaijuan, tmp_path: Path) -> None:
    await base.add([str(write(tmp_path / "docs", "rule.md", OLD))])
    kb = await base.catalog.kb("default", "default")
    await base.catalog.revoke(kb.id, kb.id, "all")
    assert (await base.search("RULE-1001")).passages == ()
    assert (await base.search("RULE-1001")).trace.candidates == ()


async def test_what_others_may_see_neither_crowds_out_nor_shows(base: Kaijuan, tmp_path: Path) -> None:
    rows = [{"_id": f"a{n}", "text": f"第 {n} 份：住宿标准。", "clearance": "top"} for n in range(8)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    open_one = write(tmp_path / "docs", "z.md", "公开的住宿标准。")
    await base.add([corpus, open_one])
    kb = await base.catalog.kb("default", "default")
    for version in await base.list():
        if "#" in version.source:
            await base.catalog.grant(kb.id, version.document_id, "board")
    explained = await base.explain("食堂", contains="住宿标准", filters="kind = markdown")
    assert [target.text for target in explained.targets] == ["公开的住宿标准。"]
    result = await base.search("住宿标准", cut=False)
    assert sum(route.found for route in result.trace.routes) == 2, "once by each route"
    await base._ingest().refresh_access(kb)
    with pytest.raises(FilterError, match="clearance"):
        await base.search("住宿标准", filters="clearance = top")


@pytest.mark.parametrize("question", ["", "  \n", "字" * 30_000])
async def test_a_question_that_cannot_be_asked(base: Kaijuan, tmp_path: Path, question: str) -> None:
    await base.add([str(write(tmp_path / "docs", "rule.md", OLD))])
    with pytest.raises(UsageError):
        await base.ask(question)


async def test_odd_questions_are_answered_without_a_crash(base: Kaijuan, tmp_path: Path) -> None:
    await base.add([str(write(tmp_path / "docs", "rule.md", OLD))])
    for question in ("\ud800", "🙂", "\x00", "?", "的", "a" * 5000, "ＲＵＬＥ－１００１", "{{x}} [red]"):
        result = await base.search(question)
        assert result.trace.query == question


async def test_before_the_first_document(tmp_path: Path) -> None:
    async with Kaijuan(tmp_path / "none", embedder=HashEmbedder()) as engine:
        with pytest.raises(NotFoundError, match="home folder"):
            await engine.search("x")
        with pytest.raises(UsageError):
            await engine.add([])
        assert not (tmp_path / "none").exists()
    with pytest.raises(KaijuanError):
        await engine.search("x")


async def test_a_chunk_that_does_not_exist(base: Kaijuan, tmp_path: Path) -> None:
    await base.add([str(write(tmp_path / "docs", "rule.md", OLD))])
    with pytest.raises(NotFoundError):
        await base.explain("住宿", chunk=ChunkId("0" * 32))
