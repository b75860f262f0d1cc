"""Results go where they were asked to go, and nothing that was there is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kaijuan.errors import UsageError
from kaijuan.evals.writing import check_target, write_target


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / ("长" * 85)
    write_target(path, "一")
    write_target(path, "二\n")
    assert path.read_bytes() == "二\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder / "file")
    for text in ("new", "newer"):
        write_target(link, text)
        assert link.is_symlink()
        assert (folder / "file").read_text(encoding="utf-8") == text
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text(encoding="utf-8")), daemon=True)
    reader.start()
    write_target(path, "through")
    reader.join(timeout=30)
    assert read == ["through"]
    assert path.is_fifo()


def test_a_place_is_tried_before_the_work(tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text("kept", encoding="utf-8")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for good in (there, tmp_path / "new.json", pipe, Path(os.devnull)):
        check_target(good)
    assert there.read_text(encoding="utf-8") == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "there.json"]
    for wrong in (tmp_path, tmp_path / "nowhere" / "x.json", there / "x.json"):
        with pytest.raises(UsageError, match="cannot be written"):
            check_target(wrong)


def test_devices_stay(tmp_path: Path) -> None:
    write_target(Path(os.devnull), "gone")
    assert Path(os.devnull).is_char_device()
    code = "from pathlib import Path\nfrom kaijuan.evals.writing import write_target\n"
    command = [sys.executable, "-c", code + "write_target(Path('/dev/stdout'), 'said')"]
    assert subprocess.run(command, check=True, capture_output=True).stdout == b"said"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run(command, check=True, stdout=out)
    assert (tmp_path / "out").read_bytes() == b"said"


def test_what_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "file", tmp_path / ("长" * 86)):
        with pytest.raises(UsageError, match="cannot be written"):
            write_target(path, "text")
    assert list(tmp_path.iterdir()) == []
