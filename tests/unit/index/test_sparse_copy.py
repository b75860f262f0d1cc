"""Copies are the same to the last byte, and holes stay holes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kaijuan.index.sparse_copy import copy_file, copy_tree


@pytest.mark.parametrize(
    "parts",
    [[], [(0, b"abc")], [(2**20 - 1, b"xy"), (5 * 2**20, b"end")], [(8 * 2**20, b"z" * 3_000_000)]],
    ids=["empty", "small", "holes", "a hole first"],
)
def test_a_copy_is_the_same(tmp_path: Path, parts: list[tuple[int, bytes]]) -> None:
    with (tmp_path / "a").open("wb") as file:
        for at, data in parts:
            file.seek(at)
            file.write(data)
        file.truncate(12 * 2**20 if parts else 0)
    copy_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    if hasattr(os, "SEEK_DATA"):
        blocks = [(tmp_path / name).stat().st_blocks for name in "ab"]
        assert blocks[1] <= blocks[0] + 16


def test_a_folder_is_copied_whole(tmp_path: Path) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "deep" / "file").write_bytes(b"x" * 100)
    copy_tree(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b" / "deep" / "file").read_bytes() == b"x" * 100
