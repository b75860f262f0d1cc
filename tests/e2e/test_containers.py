"""Archives and messages in a knowledge base: found inside, cited by address, gone when they go."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests import sample_files
from tests.sample_files import zipped

from kaijuan import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

LEAVE = "员工每年有十五天年假，需提前三天申请。"
TRAVEL = "出差住宿标准是每晚六百元。"


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        yield engine
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    members = {"制度/年假.txt": LEAVE.encode(), "差旅.xlsx": sample_files.xlsx(), "坏.docx": b"no document"}
    (path / "all.zip").write_bytes(zipped(members))
    (path / "mail.eml").write_bytes(sample_files.EML)
    return path


async def names(base: Kaijuan) -> list[str]:
    return sorted(version.source.rpartition("/docs/")[2] for version in await base.list())


async def test_members_are_documents_and_a_bad_one_is_named(base: Kaijuan, folder: Path) -> None:
    report = await base.add([str(folder)])
    assert [(failed.code, failed.source.rpartition("/docs/")[2]) for failed in report.failed] == [
        ("document_broken", "all.zip#%E5%9D%8F.docx")
    ]
    assert await names(base) == [
        "all.zip#%E5%88%B6%E5%BA%A6/%E5%B9%B4%E5%81%87.txt",
        "all.zip#%E5%B7%AE%E6%97%85.xlsx",
        "mail.eml",
        "mail.eml#note.txt",
    ]
    passage = (await base.search("年假有几天")).passages[0]
    assert passage.text == LEAVE
    view = await base.show("差旅.xlsx")
    assert [block.place for block in view.blocks][1] == "sheet 销售!A1"
    assert view.blocks[2].table is not None
    again = await base.add([str(folder)])
    assert (again.added, again.updated, again.unchanged) == (0, 0, 4)


async def test_what_has_gone_from_an_archive_goes_with_a_mirror(base: Kaijuan, folder: Path) -> None:
    await base.add([str(folder)])
    (folder / "all.zip").write_bytes(zipped({"制度/差旅.txt": TRAVEL.encode(), "制度/年假.txt": LEAVE.encode()}))
    report = await base.add([str(folder / "all.zip")], mirror=True)
    assert (report.added, report.removed) == (1, 1)
    (folder / "mail.eml").unlink()
    report = await base.add([str(folder)], mirror=True)
    assert report.removed == 2
    assert len(await names(base)) == 2


async def test_an_archive_that_can_not_be_read_in_full_loses_nothing(base: Kaijuan, folder: Path) -> None:
    await base.add([str(folder)])
    (folder / "all.zip").write_bytes(zipped({"a.txt": b"x"}, locked=True))
    report = await base.add([str(folder)], mirror=True)
    assert (report.removed, [failed.code for failed in report.failed]) == (0, ["document_encrypted"])


@pytest.mark.parametrize(("word", "removed"), [("all.zip", 2), ("mail.eml", 2), ("mail.eml#note.txt", 1)])
async def test_removing_a_file_removes_what_came_out_of_it(
    base: Kaijuan, folder: Path, word: str, removed: int
) -> None:
    await base.add([str(folder)])
    report = await base.remove([f"file://{folder}/{word}"])
    assert report.removed == removed
    assert len(await names(base)) == 4 - removed
