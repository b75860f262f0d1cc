"""Chunks mended by hand, as somebody does it over the true stores and parsers, in both languages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.documents import Chunk, ChunkLevel
from kaijuan.core.filters import LEVEL
from kaijuan.errors import FilterError, UsageError
from kaijuan.jobs.work_views import WorkState
from kaijuan.testing.embedders import HashEmbedder

CHINESE = "\n\n".join(
    ["# 员工手册"]
    + [f"## 第{n}章 {word}\n\n{text}" for n, word, text in [
        ("一", "休假", "员工每年有十天年假，须提前三天向部门经理申请，批准后方可休假。"),
        ("二", "报销", "差旅费用凭发票报销，三十日内到账，超过六百元的住宿费由本人承担。"),
        ("三", "培训", "新员工入职后一个月内参加安全培训，考试合格后上岗，每年复训一次。"),
    ]]
)  # fmt: skip
ENGLISH = "\n\n".join(
    ["# Handbook"]
    + [f"## Chapter {n}: {word}\n\n{text}" for n, word, text in [
        (1, "Leave", "Every employee has ten days of leave a year, to be asked for three days before."),
        (2, "Expenses", "Travel is paid against receipts within thirty days; hotels up to six hundred a night."),
        (3, "Training", "New staff take the safety course within a month and repeat it every year after."),
    ]]
)  # fmt: skip


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    settings = {"child_tokens": 24, "max_tokens": 96, "parent_tokens": 96, "child_overlap": 0.0, "summary_chunks": 3}
    config = Config.model_validate({"stores": {"index": "memory"}, "chunk": settings})
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as engine:
        yield engine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "手册.md").write_text(CHINESE, encoding="utf-8")
    (folder / "handbook.md").write_text(ENGLISH, encoding="utf-8")
    return folder


async def chunk_with(base: Kaijuan, document: str, words: str) -> Chunk:
    view = await base.show(document)
    return next(
        chunk
        for chunk in view.chunks
        if chunk.level in (ChunkLevel.CHILD, ChunkLevel.EXCLUDED) and words in chunk.span.of(view.text)
    )


LANGUAGES = pytest.mark.parametrize(
    ("document", "words", "found_by", "question"),
    [
        ("手册.md", "十天年假", "vacation 带薪假期 QZX-1", "我能休息多少天？QZX-2"),
        ("handbook.md", "ten days of leave", "vacation 带薪假期 QZX-1", "How long may I be away? QZX-2"),
    ],
    ids=["zh", "en"],
)


@LANGUAGES
async def test_found_by_other_words_and_quoted_in_its_own(
    base: Kaijuan, folder: Path, document: str, words: str, found_by: str, question: str
) -> None:
    await base.add(folder)
    chunk = await chunk_with(base, document, words)
    own = chunk.span
    done = await base.edit_chunk(chunk.id, found_by, by="wang", note="people say it so")
    (passage, *_) = (await base.search("QZX-1")).passages
    assert words in passage.text
    assert "QZX" not in passage.text, "what is given to readers is the document's own text"
    assert passage.chunk_id == done.chunks[0].id

    done = await base.alias_chunk(done.chunks[0].id, [question], by="wang")
    (passage, *_) = (await base.search("QZX-2")).passages
    assert words in passage.text
    assert "QZX" not in passage.text
    view = await base.chunk(done.chunks[0].id)
    assert view.chunk.span == own

    assert (await base.add(folder)).unchanged == 2, "the same files again leave work alone"
    file = folder / document
    file.write_text(file.read_text("utf-8") + "\n\n## 附则 Appendix\n\n新的一段。A new paragraph.", encoding="utf-8")
    assert (await base.add(folder)).updated == 1
    assert words in (await base.search("QZX-1")).passages[0].text
    assert [one.state for one in await base.chunk_work(document)] == [WorkState.APPLIED] * 2

    file.write_text(file.read_text("utf-8").replace(words, "*"), encoding="utf-8")
    await base.add(folder)
    works = await base.chunk_work()
    assert [(one.state, one.work.by) for one in works] == [(WorkState.STALE, "wang")] * 2
    report = await base.chunk_report()
    assert [(one.kind, one.by) for one in report.stale] == [("edit", "wang"), ("alias", "wang")]
    assert report.coverage == 1.0
    await base.restore_chunks([one.work.id for one in works], by="li")
    assert await base.chunk_work() == []
    assert [one.work.ended_by for one in await base.chunk_work(ended=True)] == ["li", "li"]


@LANGUAGES
async def test_excluded_split_and_restored(
    base: Kaijuan, folder: Path, document: str, words: str, found_by: str, question: str
) -> None:
    await base.add(folder)
    before = [(chunk.span, chunk.level) for chunk in (await base.show(document)).chunks]
    chunk = await chunk_with(base, document, words)
    await base.exclude_chunks(chunk.id)
    assert not any(words in passage.text for passage in (await base.search(words, k=20)).passages)
    (excluded,) = [one for one in (await base.show(document)).chunks if one.level is ChunkLevel.EXCLUDED]
    with pytest.raises(UsageError, match="excluded"):
        await base.edit_chunk(excluded.id, "words")
    await base.restore_chunks(excluded.id)
    assert words in (await base.search(words)).passages[0].text

    chunk = await chunk_with(base, document, words)
    done = await base.split_chunk(chunk.id, [words])
    assert [one.origin for one in done.chunks] == ["manual_split"] * 2
    assert done.chunks[1].span.of(done.text).startswith(words)
    await base.merge_chunks([one.id for one in done.chunks])
    merged = await chunk_with(base, document, words)
    assert (merged.origin, merged.span) == ("manual_merge", chunk.span)
    await base.restore_chunks(merged.id)
    assert [(chunk.span, chunk.level) for chunk in (await base.show(document)).chunks] == before
    assert (await base.doctor()).ok


async def test_documents_have_points_of_their_own_that_no_passage_search_returns(base: Kaijuan, folder: Path) -> None:
    await base.add(folder)
    view = await base.show("handbook.md")
    (own,) = [chunk for chunk in view.chunks if chunk.level is ChunkLevel.DOCUMENT]
    assert own.search_text
    assert all(line in view.text for line in own.search_text.splitlines()), "a summary is made of the text's sentences"
    assert all(chunk.parent_id == own.id for chunk in view.chunks if chunk.level is ChunkLevel.PARENT)
    found = await base.search("handbook leave expenses training", k=50)
    assert own.id not in {passage.chunk_id for passage in found.passages}
    assert own.id not in {candidate.chunk_id for candidate in found.trace.candidates}
    with pytest.raises(FilterError):
        await base.search("leave", filters=f"{LEVEL} = document")
    assert (await base.doctor()).ok
    await base.rebuild()
    assert (await base.doctor()).ok


async def test_strategies_by_base_address_and_block(tmp_path: Path, folder: Path) -> None:
    table = "| 部门 | 人数 |\n|---|---|\n" + "\n".join(f"| 部门{n} | {n} |" for n in range(60))
    (folder / "table.md").write_text(f"前言一段。\n\n各部门人数如下：\n\n{table}\n\n结尾一段。", encoding="utf-8")
    settings = {
        "by_base": {"laws": "structural"},
        "by_source": {"*.nothing": "legal", "手册.md": "fixed"},
        "by_block": {"table": "table"},
    }
    config = Config.model_validate({"stores": {"index": "memory"}, "chunk": settings})
    async with Kaijuan(tmp_path / "home", kb="laws", config=config, embedder=HashEmbedder()) as base:
        await base.add(folder)
        cut = {version.source.rpartition("/")[2]: version.source for version in await base.list()}
        words = {}
        for name, source in cut.items():
            chunks = (await base.show(source)).chunks
            words[name] = {chunk.strategy.split("-")[0] for chunk in chunks}
        assert words["handbook.md"] == {"structural"}
        assert words["%E6%89%8B%E5%86%8C.md"] == {"fixed"}
        view = await base.show("table.md")
        pieces = [
            chunk for chunk in view.chunks if chunk.level is ChunkLevel.CHILD and "| 部门4" in chunk.span.of(view.text)
        ]
        assert all(
            chunk.title_path[-1] == "部门 | 人数" for chunk in pieces if "人数 |\n" not in chunk.span.of(view.text)
        )
        assert (await base.chunk_report()).coverage == 1.0
        await base.cut_by("table.md", "fixed", by="wang")
        assert (await base.show("table.md")).chunks[1].strategy.startswith("fixed")
        assert (await base.add(folder)).unchanged == 3
        await base.cut_by("table.md", "default")
        assert (await base.show("table.md")).chunks[1].strategy.startswith("structural")
        with pytest.raises(UsageError, match="clever"):
            await base.cut_by("table.md", "clever")
        with pytest.raises(UsageError, match="already"):
            await base.cut_by("table.md", "default")
