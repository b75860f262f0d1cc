"""The Python blocks of the README and the guides are programs that run, in order, with the real engine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *("README.md", "README.zh-CN.md", "docs/guide.md", "docs/guide.zh-CN.md"),
    *("docs/chunking.md", "docs/chunking.zh-CN.md"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_the_python_blocks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAIJUAN_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KAIJUAN_KB", raising=False)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        # Blank lines before the block keep the line numbers of the page in tracebacks.
        lead = "\n" * (text[: block.start(1)].count("\n"))
        exec(compile(lead + block[1], name, "exec"), names)
