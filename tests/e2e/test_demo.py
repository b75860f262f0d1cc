"""The demo as a user runs it: a new process, an empty home, the real engine; every citation opens its exact words."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kaijuan.samples import questions


def _kaijuan(home: Path, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "kaijuan", "--home", str(home), "--json", *words]
    got = subprocess.run(command, capture_output=True, timeout=280, check=False)
    assert got.returncode == 0, (got.stdout + got.stderr).decode()
    assert got.stdout.count(b"\n") == 1
    document: dict[str, Any] = json.loads(got.stdout)
    return document


@pytest.mark.slow
def test_the_demo_answers_and_refuses(tmp_path: Path) -> None:
    shown = _kaijuan(tmp_path, "demo")
    assert (shown["run"]["added"], shown["run"]["failed"]) == (7, [])
    for asked, answer in zip(questions(), shown["answers"], strict=True):
        assert answer["status"] == ("refused" if asked.refused else "answered")
        assert asked.expect in answer["answer"]
        if not asked.refused:
            assert any(_file(citation) == asked.source for citation in answer["citations"])
    manual = shown["answers"][1]["citations"]
    assert all(citation["pages"] and citation["boxes"] for citation in manual if _file(citation).endswith(".pdf"))
    for version_id in {citation["version_id"] for answer in shown["answers"] for citation in answer["citations"]}:
        text = _kaijuan(tmp_path, "--kb", "demo", "show", version_id)["text"]
        for citation in (each for answer in shown["answers"] for each in answer["citations"]):
            if citation["version_id"] == version_id:
                assert text[slice(*citation["span"])] == citation["quote"]


def _file(citation: dict[str, Any]) -> str:
    from urllib.parse import unquote

    return unquote(citation["source"]).rsplit("/", 1)[-1]
