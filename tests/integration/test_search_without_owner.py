"""A search while the index owner is gone and cannot come back is an error that says so, never an empty answer."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.errors import StoreError
from kaijuan.stores.index.edge_store import EdgeIndexStore
from kaijuan.testing.embedders import HashEmbedder


@pytest.mark.parametrize("question", ["how long is the leave", "年假有几天", "what does getUserName or ERR-9988 mean"])
async def test_no_search_is_empty_for_want_of_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    (tmp_path / "a.txt").write_text("The leave is 25 days. 年假有 25 天。 getUserName gives ERR-9988.", "utf-8")
    store = EdgeIndexStore(tmp_path / "home")
    async with Kaijuan(tmp_path / "home", embedder=HashEmbedder()) as engine:
        try:
            await engine.add(str(tmp_path / "a.txt"))
            assert (await engine.search(question)).passages
            owner = await store.owner_pid()
            assert owner is not None
            os.kill(owner, signal.SIGKILL)
            with monkeypatch.context() as broken:
                broken.setattr(sys, "executable", "/bin/false")
                # More often than it takes until routes that fail are left out.
                for _ in range(6):
                    with pytest.raises(StoreError):
                        await engine.search(question)
            assert (await engine.search(question)).passages
        finally:
            await store.stop_owner()
            await store.close()
