"""The hash of what the package ships: every file counts, by name and content, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaijuan.core.shipped import fingerprint, fingerprint_of


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in {"a/code.py": "x = 1\n", "a/fit.json": "{}", "b/ask.zh.md": "请回答", "c/code.py": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", ["a/code.py", "a/fit.json", "b/ask.zh.md"])
def test_a_change_in_any_file_is_another_fingerprint(package: Path, name: str) -> None:
    before = fingerprint_of(package, {"c"})
    (package / name).write_text("other", encoding="utf-8")
    assert fingerprint_of(package, {"c"}) != before


def test_where_a_file_ends_and_how_it_is_called_count(package: Path) -> None:
    before = fingerprint_of(package)
    (package / "a/fit.json").rename(package / "a/fit2.json")
    assert fingerprint_of(package) != before


def test_rooms_left_out_and_compiled_files_do_not_count(package: Path) -> None:
    before = fingerprint_of(package, {"c"})
    (package / "c/code.py").write_text("y = 2\n", encoding="utf-8")
    (package / "a/__pycache__").mkdir()
    (package / "a/__pycache__/code.pyc").write_bytes(b"compiled")
    assert fingerprint_of(package, {"c"}) == before
    assert fingerprint_of(package) != before


def test_the_package_itself_is_read_whole() -> None:
    assert fingerprint() != fingerprint(frozenset({"answer"})) != fingerprint(frozenset({"answer", "retrieve"}))
