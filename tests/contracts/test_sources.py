"""Sources against the shipped suite."""

import os
from pathlib import Path

import pytest

from kaijuan.ingest.ports import Source
from kaijuan.ingest.sources.files import FileSource
from kaijuan.testing.contracts.source import Place, SourceContract


class Folder:
    def __init__(self, root: Path) -> None:
        self._root = root

    def target(self) -> str:
        return str(self._root)

    def put(self, name: str, data: bytes) -> None:
        (self._root / name).write_bytes(data)

    def drop(self, name: str) -> None:
        (self._root / name).unlink()

    def touch(self, name: str) -> None:
        os.utime(self._root / name, (1, 1))
        (self._root / name).chmod(0o600)


class TestFiles(SourceContract):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        (tmp_path / "documents").mkdir()
        return Folder(tmp_path / "documents")

    def make(self) -> Source:
        return FileSource(max_bytes=self.limit)

    def foreign(self) -> str:
        return "https://example.org/a.txt"
