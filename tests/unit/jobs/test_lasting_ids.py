"""A piece of a document keeps its id while its words stand, whatever is done around it and however it is cut."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.documents import ChunkLevel
from kaijuan.core.ids import ID_LENGTH, PIECE_LENGTH
from kaijuan.errors import NotFoundError
from kaijuan.testing.embedders import HashEmbedder

SIZES = {"child_tokens": 16, "max_tokens": 96, "parent_tokens": 96, "child_overlap": 0.0}
CHINESE = """# 差旅管理办法

第一条 员工出差住宿费每晚不超过五百元，凭发票报销。

第二条 市内交通费按每日八十元包干。超出部分由本人承担，特殊情况须事先书面申请。

第三条 本办法自二〇二五年三月一日起施行，由财务部负责解释。
"""
ENGLISH = """# Travel policy

A night in a hotel is paid up to 120 euros against a receipt.

Local transport is paid at 20 euros a day. What exceeds it is borne by the traveller, unless agreed in writing before.

This policy is in force from 1 March 2025.
"""
LANGUAGES = pytest.mark.parametrize(
    ("text", "question"), [(CHINESE, "住宿费上限"), (ENGLISH, "hotel night")], ids=["zh", "en"]
)


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    config = Config.model_validate({"stores": {"index": "memory"}, "chunk": SIZES})
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as engine:
        yield engine


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


async def ids(base: Kaijuan, as_of: int | None = None) -> list[tuple[str, str | None, str, str]]:
    """Return (id, parent's id, level, words) of all chunks of the one document."""
    (version,) = await base.list(as_of=as_of)
    view = await base.show(version.source, as_of=as_of)
    return [(one.id, one.parent_id, one.level.value, one.span.of(view.text)) for one in view.chunks]


async def found(base: Kaijuan, question: str, as_of: int | None = None) -> list[str]:
    return [one.chunk_id for one in (await base.search(question, cut=False, as_of=as_of)).passages]


@LANGUAGES
async def test_another_method_and_back_gives_the_same_ids(
    base: Kaijuan, tmp_path: Path, text: str, question: str
) -> None:
    await base.add(write(tmp_path / "a.md", text))
    first, hits = await ids(base), await found(base, question)
    await base.cut_by("a.md", "fixed")
    second = await ids(base)
    assert [one[3] for one in second] != [one[3] for one in first]
    await base.cut_by("a.md", "default")
    assert await ids(base) == first
    assert await found(base, question) == hits
    # Snapshots between and before still show what they showed, under the same ids.
    assert [await ids(base, number) for number in (1, 2, 3)] == [first, second, first]
    assert await found(base, question, 1) == hits
    (version,) = await base.list()
    assert version.number == 3
    assert (await base.doctor(deep=True)).ok


@LANGUAGES
async def test_settings_changed_and_changed_back_give_the_same_ids(tmp_path: Path, text: str, question: str) -> None:
    file, seen = write(tmp_path / "a.md", text), []
    for strategy in ("recursive", "fixed", "recursive"):
        config = Config.model_validate({"chunk": {**SIZES, "strategy": strategy}})
        async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as base:
            await base.add(file)
            seen.append((await ids(base), await found(base, question)))
    assert seen[0] == seen[2] != seen[1]


@LANGUAGES
async def test_a_text_changed_and_changed_back_gives_the_same_ids(
    base: Kaijuan, tmp_path: Path, text: str, question: str
) -> None:
    file = tmp_path / "a.md"
    await base.add(write(file, text))
    first = await ids(base)
    await base.add(write(file, text + "\n新的一条。 A new rule.\n"))
    second = await ids(base)
    # What stands as it stood is what it was: here all that is searched, but not the parent that grew.
    kept = {one[0] for one in first} & {one[0] for one in second}
    assert kept
    assert {one[3] for one in first if one[2] == "child"} & {one[3] for one in second} <= {
        one[3] for one in second if one[0] in kept
    }
    await base.add(write(file, text))
    assert await ids(base) == first
    await base.remove("a.md")
    await base.add(file)
    assert await ids(base) == first
    await base.roll_back(2)
    assert await ids(base) == second


@LANGUAGES
async def test_an_id_means_what_is_live_and_else_what_was(
    base: Kaijuan, tmp_path: Path, text: str, question: str
) -> None:
    file = tmp_path / "a.md"
    await base.add(write(file, text))
    (first, *_) = await found(base, question)
    assert len(first) == PIECE_LENGTH
    old = (await base.show("a.md")).version
    await base.add(write(file, "前言 Preface. " * 30 + "\n\n" + text))
    view = await base.chunk(first)
    assert (view.version.number, view.text) == (2, (await base.chunk(first)).text)
    row = next(one for one in await base.catalog.chunks_of(old.id) if one.id.startswith(first))
    assert len(row.id) == ID_LENGTH
    by_row = await base.chunk(row.id)
    assert (by_row.version.number, by_row.text, by_row.chunk.id) == (1, view.text, first)
    await base.edit_chunk(first, "QZX-1 其他说法")
    assert (await found(base, "QZX-1"))[0] == first, "edited, it is the same piece"
    await base.exclude_chunks(first)
    assert (await base.chunk(first)).chunk.level is ChunkLevel.EXCLUDED
    await base.restore_chunks(first)
    assert (await base.chunk(first)).chunk.origin == "auto"
    await base.add(write(file, "完全不同。 Nothing of it."))
    assert (await base.chunk(first)).text == view.text, "as long as an earlier snapshot has it"
    await base.remove("a.md")
    await base.purge("a.md")
    with pytest.raises(NotFoundError):
        await base.chunk(first)


async def test_equal_words_are_pieces_of_their_own_and_keep_their_order(base: Kaijuan, tmp_path: Path) -> None:
    same = "## 说明 Note\n\n同样的一段话出现三次。 The same words three times."
    await base.add(write(tmp_path / "a.md", "\n\n".join([same, "甲 " * 60, same, "乙 " * 60, same])))
    first = await ids(base)
    again = [one for one in first if one[3] == "The same words three times." and one[2] == "child"]
    assert len({one[0] for one in again}) == len(again) == 3
    await base.cut_by("a.md", "fixed")
    await base.cut_by("a.md", "default")
    assert await ids(base) == first


async def test_traces_speak_of_pieces_and_are_still_kept_from_others(base: Kaijuan, tmp_path: Path) -> None:
    await base.add(write(tmp_path / "a.md", ENGLISH))
    answer = await base.ask("What is paid for a hotel night?")
    trace = await base.trace(answer.trace_id)
    listed = trace.body["candidates"]
    assert isinstance(listed, list)
    assert listed
    assert {one["chunk_id"] for one in listed} <= {one[0] for one in await ids(base)}
    kb = await base.catalog.kb("default", "default")
    await base.catalog.grant(kb.id, (await base.list())[0].document_id, "board")
    with pytest.raises(NotFoundError):
        await base.trace(answer.trace_id)
