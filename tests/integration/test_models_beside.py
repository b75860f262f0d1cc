"""Two real vector spaces of one base: the deterministic one that serves, and e5's word vectors beside it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.core.filters import EVERYTHING
from kaijuan.errors import NotFoundError, UsageError
from kaijuan.index.model_spaces import SpaceState
from kaijuan.testing.embedders import HashEmbedder
from kaijuan.verbs.models import GoldenQuestion

CONFIG = Config.model_validate(
    {
        "models": {"light": {"name": "words"}, "short": {"name": "words", "dimensions": 128}},
        "chunk": {"child_tokens": 32, "max_tokens": 64, "parent_tokens": 128},
        "stores": {"index_idle_seconds": 60},
    }
)
CITIES = ("Lyon", "Porto", "Turin", "Bern", "Graz", "Delft")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for at, city in enumerate(CITIES):
        limit = at * 100 + 80
        text = f"# Travel to {city}\n\nThe hotel limit in {city} is {limit} euro.\n\n在{city}住宿上限为{limit}欧元。\n"
        (folder / f"{city}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
async def base(tmp_path: Path, folder: Path) -> AsyncIterator[Kaijuan]:
    async with Kaijuan(tmp_path / "home", config=CONFIG, embedder=HashEmbedder()) as base:
        await base.add([str(folder)])
        yield base
        await base.indexes.stop_owner()  # type: ignore[attr-defined]


async def _states(base: Kaijuan) -> dict[str, str]:
    return {view.space.name: view.space.state.value for view in await base.models()}


async def test_the_model_of_the_settings_stands_alone_at_first(base: Kaijuan) -> None:
    [only] = await base.models()
    assert (only.space.name, only.space.state) == ("onboard", SpaceState.SERVING)
    assert only.points == (await base.status()).points


async def test_from_adding_to_retiring(base: Kaijuan, folder: Path) -> None:
    before = await base.status()
    row = await base.add_model("light")
    assert (row.state, row.dimensions) == (SpaceState.READY, 384)
    assert (await base.status()).model == before.model == "hash"

    golden = [GoldenQuestion(question=f"hotel limit in {city}", relevant=(f"{city}.md",)) for city in CITIES]
    found = await base.compare_models("light", golden)
    assert (found.serving, found.other, found.judged) == ("onboard", "light", len(CITIES))
    assert found.ndcg_before is not None
    assert found.ndcg_after is not None
    assert found.ndcg_after > 0.8
    assert 0 < found.overlap <= 1

    await base.switch_model("light")
    assert await _states(base) == {"onboard": "former", "light": "serving"}
    now = await base.status()
    assert now.model == "multilingual-e5-words"
    assert now.space != before.space
    (folder / "Oslo.md").write_text("# Travel to Oslo\n\nThe hotel limit in Oslo is 990 euro.\n", encoding="utf-8")
    await base.add([str(folder)])
    assert (await base.search("hotel limit in Oslo")).passages[0].source.endswith("Oslo.md")
    with pytest.raises(UsageError):
        await base.retire_model("light")

    await base.roll_back_model()
    assert (await base.status()).model == "hash"
    assert (await base.search("hotel limit in Oslo")).passages[0].source.endswith("Oslo.md")
    assert len({view.points for view in await base.models()}) == 1
    await base.retire_model("light")
    assert await _states(base) == {"onboard": "serving"}
    assert await base.indexes.spaces() == [before.space]
    with pytest.raises(NotFoundError):
        await base.switch_model("light")
    assert (await base.doctor(deep=True)).ok


async def test_a_share_of_the_questions_goes_to_both_and_both_are_kept(base: Kaijuan) -> None:
    await base.add_model("light")
    await base.try_model("light", 1.0)
    given = await base.search("hotel limit in Porto")
    assert "model" not in given.trace.settings
    [trial] = await _trials(base)
    assert trial["question"] == "hotel limit in Porto"
    assert [one["chunk_id"] for one in trial["before"]] == [one.chunk_id for one in given.passages]
    assert trial["after"]
    assert trial["answered"] is False

    await base.try_model("light", 1.0, answers=True)
    given = await base.search("hotel limit in Bern")
    assert given.trace.settings["model"] == "light"
    trial = (await _trials(base, 2))[-1]
    assert [one["chunk_id"] for one in trial["after"]] == [one.chunk_id for one in given.passages]

    await base.try_model("light", 0)
    await base.search("hotel limit in Graz")
    assert len(await _trials(base, 2)) == 2


async def _trials(base: Kaijuan, count: int = 1) -> list[dict[str, Any]]:
    await asyncio.wait(base._trials or [asyncio.ensure_future(asyncio.sleep(0))])
    found = await base.model_trials("light")
    assert len(found) == count
    return [dict(trial.body) for trial in found]


async def test_a_part_of_the_questions_is_about_as_large_as_asked_for(base: Kaijuan) -> None:
    await base.add_model("light")
    await base.try_model("light", 0.3)
    chosen = 0
    for at in range(200):
        request = await base._request(f"question number {at}", 3, (), None)
        chosen += await base._tried(request) is not None
    assert 30 <= chosen <= 90


async def test_answers_of_a_model_on_trial_are_not_given_again(base: Kaijuan) -> None:
    await base.add_model("light")
    await base.try_model("light", 1.0, answers=True)
    await base.ask("What is the hotel limit in Turin?", extractive=True)
    assert (await base.ask("What is the hotel limit in Turin?", extractive=True)).cache != "exact"
    await base.try_model("light", 0)
    assert (await base.ask("What is the hotel limit in Turin?", extractive=True)).cache == "miss"


async def test_a_former_index_that_differs_is_found_and_mended(base: Kaijuan) -> None:
    row = await base.add_model("light")
    index = await base._index_of(row)
    lost = [header.id async for header in index.scan(EVERYTHING)][:2]
    await index.delete(lost)
    report = await base.doctor(deep=True)
    assert [check.name for check in report.checks if not check.ok] == ["models"]
    await base.doctor(repair=True)
    assert (await base.doctor(deep=True)).ok
    assert len({view.points for view in await base.models()}) == 1


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("nowhere", {}, "no embedder called"),
        ("onboard", {}, "model that serves"),
        ("light", {"embedder.dimensions": "many"}, "embedder.dimensions"),
        ("light", {"index.title_weight": "-1"}, "index.title_weight"),
        ("light", {"retrieve.k": "1"}, "cannot be set here"),
        ("light", {"embedder.dimensions": "4"}, "cannot be cut"),
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_no_model(
    base: Kaijuan, name: str, settings: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await base.add_model(name, settings=settings)
    assert [view.space.name for view in await base.models()] == ["onboard"]


async def test_the_same_model_twice_is_refused(base: Kaijuan) -> None:
    await base.add_model("light")
    with pytest.raises(UsageError, match="same model"):
        await base.add_model("words")


CHILD = """
import asyncio, os, signal, sys
from kaijuan import Kaijuan
from kaijuan.jobs import models
from kaijuan.testing.embedders import HashEmbedder
sys.path.insert(0, sys.argv[3])
from test_models_beside import CONFIG

def reached(step):
    if step == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)

whole = models.build
async def build(ingest, *arguments):
    object.__setattr__(ingest, "reached", reached)
    return await whole(ingest, *arguments)
models.build = build

async def main():
    async with Kaijuan(sys.argv[1], config=CONFIG, embedder=HashEmbedder()) as base:
        await base.add_model("light")

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", ["fill_group", "fill", "optimise", "take_lease", "compared", "release_lease"])
async def test_a_build_that_is_killed_goes_on(base: Kaijuan, step: str) -> None:
    before = (await base.status()).space
    command = [sys.executable, "-c", CHILD, str(base.home), step, os.path.dirname(__file__)]
    child = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE)
    _, told = await child.communicate()
    assert child.returncode == -signal.SIGKILL, told.decode()
    assert (await base.status()).space == before
    assert (await base.search("hotel limit in Porto")).passages
    row = await base.add_model("light")
    assert row.state is SpaceState.READY
    assert len({view.points for view in await base.models()}) == 1
    await base.switch_model("light")
    assert (await base.search("hotel limit in Porto")).passages[0].source.endswith("Porto.md")
    assert (await base.doctor(deep=True)).ok


async def test_a_home_is_backed_up_while_it_serves_and_restored(base: Kaijuan, tmp_path: Path) -> None:
    await base.add_model("light")
    made = await base.back_up(tmp_path / "backup")
    assert len(made.backup.spaces) == 2
    with pytest.raises(UsageError, match="there already"):
        await base.back_up(tmp_path / "backup")
    with pytest.raises(UsageError, match="not empty"):
        await base.restore(tmp_path / "backup")
    async with Kaijuan(tmp_path / "again", config=CONFIG, embedder=HashEmbedder()) as again:
        await again.restore(tmp_path / "backup")
        assert await _states(again) == await _states(base)
        asked = "hotel limit in Delft"
        first, second = await base.search(asked), await again.search(asked)
        assert [one.chunk_id for one in first.passages] == [one.chunk_id for one in second.passages]
        assert (await again.doctor(deep=True)).ok
        await again.indexes.stop_owner()  # type: ignore[attr-defined]


async def test_a_damaged_backup_makes_no_home(base: Kaijuan, tmp_path: Path) -> None:
    from kaijuan.errors import CorruptStoreError

    await base.back_up(tmp_path / "backup")
    blob = next(place for place in (tmp_path / "backup" / "blobs").rglob("*") if place.is_file())
    data = bytearray(blob.read_bytes())
    data[0] ^= 1
    blob.chmod(0o600)
    blob.write_bytes(data)
    async with Kaijuan(tmp_path / "again", config=CONFIG, embedder=HashEmbedder()) as again:
        with pytest.raises(CorruptStoreError):
            await again.restore(tmp_path / "backup")
    left = [name for name in os.listdir(tmp_path) if "again" in name]
    assert not left or not os.listdir(tmp_path / "again")
    assert left in ([], ["again"])
