"""The pages about the service: their commands and programs run against one, and they name every route there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.browsing import serving
from tests.serving import config_of

from kaijuan import Kaijuan
from kaijuan.server.app import make_app
from kaijuan.testing.embedders import HashEmbedder

DOCS = Path(__file__).parents[2] / "docs"


def _blocks(name: str, language: str) -> list[str]:
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["api.md", "api.zh-CN.md"])
def test_every_route_is_on_the_page(name: str, tmp_path: Path) -> None:
    app = make_app(Kaijuan(tmp_path / "home", config=config_of(), embedder=HashEmbedder()))
    page = (DOCS / name).read_text(encoding="utf-8")
    missing = [
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in app.openapi()["paths"].items()
        for method in methods
        if f"{method.upper()} {path.removeprefix('/api/v1')}" not in page
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["api", "service"])
def test_both_languages_have_the_same_commands_and_programs(name: str) -> None:
    for language in ("bash", "python", "toml", "json"):
        assert _blocks(f"{name}.md", language) == _blocks(f"{name}.zh-CN.md", language)


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("name", ["api.md", "service.md"])
def test_the_commands_and_programs_of_the_page_run(name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = {
        **os.environ,
        "KAIJUAN_HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for gone in ("KAIJUAN_KEY", "KAIJUAN_KB", "KAIJUAN_CONFIG"):
        told.pop(gone, None)
    with serving(home) as address:
        told["KAIJUAN_URL"] = address
        script, program = "\n".join(_blocks(name, "bash")), "\n".join(_blocks(name, "python"))
        # What turns identity on comes last: the program goes before it.
        before, mark, after = script.partition("kaijuan keys create olga")
        for words in (
            ["bash", "-euo", "pipefail", "-c", before],
            [sys.executable, "-W", "ignore", "-c", program],
            ["bash", "-euo", "pipefail", "-c", mark + after],
        ):
            done = subprocess.run(
                words, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=600, check=False
            )
            assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
