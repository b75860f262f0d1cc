"""Numbers that are quoted outside docs/benchmarks.md are those that a bench printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bench.run import RESULTS, ROOT

NUMBERS = re.compile(r"(\d+) MB")


@pytest.mark.parametrize("place", ["README.md", "README.zh-CN.md", "Makefile"])
def test_the_size_of_the_installation(place: str) -> None:
    stored = json.loads((RESULTS / "install_size.json").read_text(encoding="utf-8"))
    expected = [str(round(stored[name], -1)).removesuffix(".0") for name in ("download_mb", "venv_mb")]
    assert NUMBERS.findall((Path(ROOT) / place).read_text(encoding="utf-8"))[:2] == expected
