"""Ctrl-C during a run: it ends soon, and leaves nothing of itself."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

from kaijuan import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

SCRIPT = """
import signal
import sys
from kaijuan.sync import Kaijuan
from kaijuan.testing.embedders import HashEmbedder

def tell(progress):
    if progress.done >= 20:
        print("busy", flush=True)

# Shells start what runs in the background with Ctrl-C ignored, and that is passed on.
signal.signal(signal.SIGINT, signal.default_int_handler)
with Kaijuan(sys.argv[1], embedder=HashEmbedder()) as base:
    base.add(sys.argv[2], progress=tell)
"""


def test_ctrl_c_ends_the_run_and_undoes_it(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"_id": str(n), "text": f"第 {n} 条记录。"} for n in range(20_000)]
    corpus.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    home = tmp_path / "home"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(home), str(corpus)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "busy\n"
        process.send_signal(signal.SIGINT)
        # Far below the time after which the wait for a clean end is given up.
        process.communicate(timeout=40)
    finally:
        process.kill()
    assert process.returncode != 0
    asyncio.run(look(home))


async def look(home: Path) -> None:
    """See that nothing of the run is left."""
    async with Kaijuan(home, embedder=HashEmbedder()) as base:
        assert await base.list() == []
        status = await base.status()
        assert (status.head, [str(run.state) for run in status.recent_runs]) == (0, ["rolled_back"])
        assert status.recent_runs[0].reason == "It was stopped."
        await base.indexes.stop_owner()  # type: ignore[attr-defined] # the edge store's, to leave no process
