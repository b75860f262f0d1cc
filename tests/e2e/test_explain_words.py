"""What `explain` says is for people: words as they know them, and the number of places that were looked at."""

from __future__ import annotations

from pathlib import Path

from kaijuan import Kaijuan
from kaijuan.config import Config, StoreSettings
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.testing.embedders import HashEmbedder


async def test_shared_words_have_no_signs_of_the_index_and_no_function_words(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# 网关\n\n网关报 ERR-9988 时请重新写入固件。 Backups are kept.\n", encoding="utf-8")
    for number in range(8):
        (folder / f"b{number}.md").write_text(
            f"# 网关 {number}\n\n网关报 ERR-9988，代码 {number}。\n", encoding="utf-8"
        )
    (folder / "c.md").write_text("# 午餐\n\n每到周五都供应清汤。\n", encoding="utf-8")
    config = Config(stores=StoreSettings(index="memory"), retrieve=RetrieveSettings(route_k=4))
    async with Kaijuan(tmp_path / "home", config=config, embedder=HashEmbedder()) as base:
        await base.add(folder)
        why = await base.explain("网关报 ERR-9988，how are backups kept?", contains="写入固件", k=1)
        (lexical,) = (stage.detail for stage in why.targets[0].stages if stage.stage == "lexical")
        shared = lexical.split("shares with the question: ")[1].split(", ")
        assert {"网关", "err9988", "backups", "kept"} <= set(shared)
        assert not {"are", "how"} & set(shared)
        assert not any(word[0] in "=~#<+@" for word in shared)
        missed = await base.explain("网关报 ERR-9988", contains="清汤", k=1)
        (gather,) = (stage.detail for stage in missed.targets[0].stages if stage.stage == "gather")
        assert gather == "neither by meaning nor by words was it among the first 4 chunks"
