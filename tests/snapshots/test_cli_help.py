"""The command's help, and the reference page made from it, change only when somebody means it.

To accept a change: KAIJUAN_UPDATE_SNAPSHOTS=1 pytest tests/snapshots, and `make docs`; then read the difference.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from kaijuan.cli import app

HELP = Path(__file__).parent / "cli_help.txt"
PAGE_MAKER = Path(__file__).parents[2] / "docs" / "make_cli.py"


def _walk(group: Any, *before: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the words of every command and group below, and whether it is a group."""
    for name, each in group.commands.items():
        within = hasattr(each, "commands")
        yield [*before, name], within
        if within:
            yield from _walk(each, *before, name)


def _commands() -> list[list[str]]:
    return [words for words, group in _walk(typer.main.get_command(app.app)) if not group]


def _groups() -> list[list[str]]:
    return [words for words, group in _walk(typer.main.get_command(app.app)) if group]


def test_the_commands_are_those_agreed() -> None:
    agreed = (
        "add search ask chat explain suggest cite sync watch remove list show editions status rebuild optimise doctor "
        "purge gc export import backup restore parse demo serve mcp version"
    )
    assert [words[0] for words in _commands() if len(words) == 1] == agreed.split()


def test_help(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "KAIJUAN_HOME", "KAIJUAN_KB", "KAIJUAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    pages = []
    for words in ([], *_commands(), *_groups()):
        assert app.run([*words, "--help"]) == 0
        lines = (line.rstrip() for line in capsys.readouterr().out.splitlines())
        pages.append("\n".join(line for line in lines if line))
    shown = "\n\n".join(pages) + "\n"
    if os.environ.get("KAIJUAN_UPDATE_SNAPSHOTS"):
        HELP.write_text(shown, encoding="utf-8")
    assert shown == HELP.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_cli", PAGE_MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_page_is_fresh(maker: ModuleType) -> None:
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), "run `make docs`"


def test_every_command_has_a_shape(maker: ModuleType) -> None:
    assert set(maker.SHAPES) == {" ".join(words) for words in _commands()}
