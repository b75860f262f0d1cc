"""Whatever is thrown at `add`: each bad input is a named failure or a clear error, and nothing else is lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.errors import BusyError, KaijuanError, NotFoundError, StoreError, UsageError
from kaijuan.testing.embedders import HashEmbedder

GOOD = "员工每年有十五天年假，需提前三天申请。"


@pytest.fixture
async def base(tmp_path: Path) -> AsyncIterator[Kaijuan]:
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        yield engine
        await engine.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    (path / "good.txt").write_text(GOOD, encoding="utf-8")
    return path


async def failures(base: Kaijuan, folder: Path) -> dict[str, str]:
    """Add the folder; return code by file name, after proving that the good file is there and is found."""
    report = await base.add([str(folder)])
    sources = {version.source.rpartition("/")[2] for version in await base.list()}
    assert "good.txt" in sources
    assert GOOD in (await base.search("年假有几天")).passages[0].text
    assert (await base.doctor()).ok
    return {failed.source.rpartition("/")[2]: failed.code for failed in report.failed}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("empty.txt", b"", "document_empty"),
        ("blank.md", b" \n\t\n", "document_empty"),
        ("broken.pdf", b"%PDF-1.7\nthis is no pdf at all", "document_broken"),
        ("cut.pdf", b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog", "document_broken"),
        ("notzip.docx", b"just some text, not a zip", "document_broken"),
        ("cut.docx", b"PK\x03\x04" + b"\x00" * 40, "document_broken"),
        ("random.bin", bytes(range(256)) * 8, "document_unsupported"),
    ],
)
async def test_a_bad_file_is_named_and_the_run_goes_on(
    base: Kaijuan, folder: Path, name: str, data: bytes, code: str
) -> None:
    (folder / name).write_bytes(data)
    assert await failures(base, folder) == {name: code}


async def test_a_bad_state_of_a_known_file_leaves_its_good_version_live(base: Kaijuan, folder: Path) -> None:
    await failures(base, folder)
    (folder / "good.txt").write_bytes(b"")
    report = await base.add([str(folder)])
    assert [failed.code for failed in report.failed] == ["document_empty"]
    assert GOOD in (await base.search("年假有几天")).passages[0].text


async def test_a_missing_path_is_named(base: Kaijuan, folder: Path) -> None:
    report = await base.add([str(folder / "none.txt"), str(folder)])
    assert [failed.code for failed in report.failed] == ["source_missing"]
    assert report.added == 1


async def test_a_folder_that_holds_itself_ends(base: Kaijuan, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "self").symlink_to(folder / "self")
    await base.add([str(folder)])
    assert [version.source.rpartition("/")[2] for version in await base.list()] == ["good.txt"]


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-16-le", "utf-8-sig", "big5"])
async def test_old_encodings_are_read(base: Kaijuan, folder: Path, encoding: str) -> None:
    text = "出差住宿標準由財務部公布。" if encoding == "big5" else "出差住宿标准由财务部公布，每晚不超过六百元。"
    (folder / "old.txt").write_bytes((text * 5).encode(encoding))
    assert await failures(base, folder) == {}
    assert text in (await base.show("old.txt")).text


@pytest.mark.parametrize(
    "name", ["表情🙂.txt", "two\nlines.txt", "quote\"'`$.md", "ends with space .txt", "日本語%41.html"]
)
async def test_odd_names_are_kept(base: Kaijuan, folder: Path, name: str) -> None:
    body = "住宿标准是每晚六百元。"
    (folder / name).write_text(f"<p>{body}</p>" if name.endswith("html") else body, encoding="utf-8")
    assert await failures(base, folder) == {}
    assert (await base.show(name)).text == body
    await base.remove([str(folder / name)])
    assert len(await base.list()) == 1


async def test_a_name_that_is_not_utf8_is_kept(base: Kaijuan, folder: Path) -> None:
    path = folder / os.fsdecode(b"bad\xff.txt")
    try:
        path.write_text("住宿标准是每晚六百元。", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert await failures(base, folder) == {}
    assert len(await base.list()) == 2


@pytest.mark.slow
async def test_fifty_megabytes_on_one_line(base: Kaijuan, folder: Path) -> None:
    piece = "这一行没有换行。It goes on and on, "
    (folder / "line.txt").write_text(piece * (50_000_000 // len(piece.encode())), encoding="utf-8")
    assert await failures(base, folder) == {}
    view = await base.show("line.txt")
    assert all(chunk.tokens <= 512 for chunk in view.chunks if chunk.level == "child")


async def test_a_running_add_keeps_others_from_publishing_not_from_reading(base: Kaijuan, folder: Path) -> None:
    await failures(base, folder)
    kb = await base.catalog.kb("default", "default")
    # A pid that lives for as long as this test: our own.
    await base.catalog.acquire_lease(kb.id, _owner_like_a_run(), now=base._clock(), seconds=60)
    async with Kaijuan(base.home, embedder=HashEmbedder()) as other:
        (folder / "more.txt").write_text("更多内容。", encoding="utf-8")
        with pytest.raises(BusyError):
            await other.add([str(folder)])
        assert (await other.search("年假")).passages


def _owner_like_a_run() -> str:
    from kaijuan.jobs.owner import new_owner

    return new_owner()


async def test_a_home_that_is_a_file(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "home").write_text("not a folder", encoding="utf-8")
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        with pytest.raises(StoreError):
            await engine.add([str(folder)])
        with pytest.raises(KaijuanError):
            await engine.search("x")


async def test_what_cannot_be_meant(base: Kaijuan, folder: Path) -> None:
    await failures(base, folder)
    with pytest.raises(NotFoundError):
        await base.remove(["nothing-like-this.txt"])
    with pytest.raises(UsageError):
        await base.add(["ftp://example.org/a.txt", str(folder)], mirror=True)
    with pytest.raises(UsageError, match="not a folder"):
        await base.add([str(folder / "good.txt")], mirror=True)
    with pytest.raises(UsageError):
        await base.search("x", k=0)
    with pytest.raises(NotFoundError):
        await base.search("x", as_of=99)
    assert len(await base.list()) == 1


@pytest.mark.skipif(
    shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0,
    reason="needs user namespaces to mount a small file system (unshare -rm)",
)
async def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path, folder: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    script = textwrap.dedent(
        """
        import asyncio, os, shutil, sys
        from pathlib import Path
        from kaijuan import Kaijuan
        from kaijuan.errors import DiskFullError
        from kaijuan.testing.embedders import HashEmbedder

        LEFT = 98 * 2**20  # a little more than what the index wants to be free before it writes

        async def main(home, folder):
            async with Kaijuan(home, embedder=HashEmbedder()) as base:
                await base.add([folder])
                with open(Path(home, "filler"), "wb") as file:
                    os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(home).free - LEFT)
                Path(folder, "big.txt").write_text("很长的内容，一句接一句。" * 100_000, encoding="utf-8")
                try:
                    await base.add([folder])
                except DiskFullError as error:
                    print("FULL", error)
                print("STILL", len(await base.list()), (await base.search("年假有几天")).passages[0].text)
                Path(folder, "big.txt").unlink()
                Path(home, "filler").unlink()
                again = await base.add([folder])
                print("AGAIN", again.unchanged, [check.name for check in (await base.doctor()).checks if not check.ok])
                await base.indexes.stop_owner()

        asyncio.run(main(*sys.argv[1:]))
        """
    )
    shell = 'mount -t tmpfs -o size=300m tmpfs "$1" && exec "$2" -c "$3" "$1" "$4"'
    done = await asyncio.to_thread(
        subprocess.run,
        ["unshare", "-rm", "sh", "-c", shell, "sh", str(small), sys.executable, script, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "FULL" in done.stdout, done.stdout + done.stderr
    assert f"STILL 1 {GOOD}" in done.stdout
    assert "AGAIN 1 []" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the always-full device of Linux")
@pytest.mark.parametrize("words", [["version"], ["--json", "version"], ["--json", "nonsense"], ["list"]])
@pytest.mark.parametrize("output", ["> /dev/full", ">&-"])
def test_lost_output_is_said_without_a_traceback(tmp_path: Path, words: list[str], output: str) -> None:
    command = f'exec "$0" -m kaijuan --home "$1" {" ".join(words)} {output}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable, str(tmp_path / "home")], capture_output=True, text=True, check=False
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "defect" not in done.stderr
    assert done.stderr.startswith("Error")
