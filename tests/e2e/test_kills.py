"""A few of the kills of bench/kills.py, one for each verb: at a random moment, with readers at work meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_killed_at_a_random_moment_of_each_verb(tmp_path: Path) -> None:
    # In a process of its own: it forks, which one with threads must not.
    words = [sys.executable, "-m", "bench.kills", "--kills", "5", "--seed", "1", "--keep", str(tmp_path / "ordeal")]
    done = subprocess.run(words, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["kills"] == dict.fromkeys(("add", "update", "delete", "rebuild", "migrate"), 1)
    readers = result["readers"]
    assert readers["answers"]
    assert (readers["errors"], readers["mixed_snapshots"], readers["without_a_route"]) == ({}, 0, 0)
    # A killed process may have embedded what it could not keep any more: one call's worth a kill at most.
    assert result["embedded_again"] <= 5 * 256
