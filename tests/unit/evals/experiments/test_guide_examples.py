"""The examples of the guides can be run: every setting in them exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kaijuan.config import Config
from kaijuan.evals.experiments.tune import read_tuning
from kaijuan.evals.experiments.variants import read_experiment

DOCS = Path(__file__).parents[4] / "docs"


@pytest.mark.parametrize("name", ["guide.md", "guide.zh-CN.md"])
def test_the_files_of_the_guide_are_read(name: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n# (\w+\.toml)\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    assert [file for file, _ in blocks] == ["fusion.toml", "search.toml"]
    for file, text in blocks:
        (tmp_path / file).write_text(text, encoding="utf-8")
    experiment = read_experiment(tmp_path / "fusion.toml", Config())
    assert [variant.name for variant in experiment.variants] == ["baseline", "rrf", "small"]
    assert len(read_tuning(tmp_path / "search.toml", Config()).space) == 5
