"""Corpora are taken in once, and again only when something that counts has changed."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kaijuan import Kaijuan
from kaijuan.config import Config
from kaijuan.errors import BusyError, EvalDataError, StoreError
from kaijuan.evals import bases
from kaijuan.evals.bases import RECORD, Base, clear_bases, open_base, stored_bases
from kaijuan.evals.sets import load_set
from kaijuan.index.settings import IndexSettings
from kaijuan.ingest.settings import ChunkSettings
from kaijuan.jobs.report import Progress
from kaijuan.stores.index.edge_store import EdgeIndexStore
from kaijuan.testing.embedders import HashEmbedder

WriteSet = Callable[..., Path]


@pytest.fixture
async def home(tmp_path: Path) -> Iterator[Path]:  # type: ignore[misc] # an asynchronous generator
    home = tmp_path / "home"
    yield home
    for base in stored_bases(home):
        store = EdgeIndexStore(base.folder)
        await store.stop_owner()
        await store.close()


async def opened(folder: Path, home: Path, config: Config | None = None, *, dimensions: int = 64) -> Base:
    """Open the base of a set, ask it something, and return what was said of it."""
    data = load_set(folder)
    async with open_base(data, home, config or Config(), embedder=lambda: HashEmbedder(dimensions)) as base:
        result = await base.engine.search("ERR-9988", k=1)
        assert result.passages[0].source.endswith("#d4")
    return base


async def test_a_corpus_is_taken_in_once(write_set: WriteSet, home: Path) -> None:
    first = await opened(write_set(), home)
    assert (first.reused, first.documents, first.chunks, first.problems) == (False, 4, 4, ())
    second = await opened(write_set("same content elsewhere"), home)
    assert (second.reused, second.documents, second.chunks) == (True, 4, 4)
    assert second.seconds == first.seconds
    assert len(stored_bases(home)) == 1


async def test_sets_share_the_base_of_their_corpus(write_set: WriteSet, home: Path) -> None:
    await opened(write_set(), home)
    other = write_set("other", questions={"q": "x"}, judgements=(("q", "d1", 1),))
    assert (await opened(other, home)).reused


async def test_what_counts_makes_another_base(write_set: WriteSet, home: Path) -> None:
    folder = write_set()
    assert not (await opened(folder, home)).reused
    assert not (await opened(folder, home, Config(chunk=ChunkSettings(child_tokens=100)))).reused
    assert not (await opened(folder, home, Config(index=IndexSettings(title_weight=1.0)))).reused
    assert not (await opened(folder, home, dimensions=32)).reused
    assert (await opened(folder, home, Config(index=IndexSettings(embed_batch=3)))).reused
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"_id": "d5", "text": "更多"}) + "\n")
    assert (await opened(folder, home)).documents == 5
    assert len(stored_bases(home)) == 5


async def test_taking_in_that_was_stopped_is_done_at_the_next_time(write_set: WriteSet, home: Path) -> None:
    folder = write_set()

    def stop(progress: Progress) -> None:
        if progress.done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        async with open_base(load_set(folder), home, Config(), embedder=HashEmbedder, progress=stop):
            pass
    assert [base.record.whole for base in stored_bases(home)] == [False]
    again = await opened(folder, home)
    assert (again.reused, again.documents) == (False, 4)
    assert [base.record.whole for base in stored_bases(home)] == [True]


async def test_documents_of_a_stopped_run_from_elsewhere_are_not_mixed_in(write_set: WriteSet, home: Path) -> None:
    folder = write_set()
    await opened(folder, home)
    (base,) = stored_bases(home)
    record = json.loads((base.folder / RECORD).read_text(encoding="utf-8"))
    (base.folder / RECORD).write_text(json.dumps({**record, "whole": False}), encoding="utf-8")
    moved = await opened(write_set("moved"), home)
    assert (moved.reused, moved.documents) == (False, 4)


@pytest.mark.parametrize("lost", ["catalog.db", "index"])
async def test_a_damaged_base_is_made_anew(write_set: WriteSet, home: Path, lost: str) -> None:
    folder = write_set()
    await opened(folder, home)
    (base,) = stored_bases(home)
    store = EdgeIndexStore(base.folder)
    await store.stop_owner()
    await store.close()
    for path in base.folder.glob(f"{lost}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    again = await opened(folder, home)
    assert (again.reused, again.documents) == (False, 4)
    assert (await opened(folder, home)).reused


async def test_a_base_that_is_busy_is_left_alone(
    write_set: WriteSet, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_set()
    await opened(folder, home)

    async def busy(_self: object) -> None:
        raise BusyError("somebody else is at it")

    with monkeypatch.context() as patch:
        patch.setattr(Kaijuan, "status", busy)
        with pytest.raises(BusyError):
            await opened(folder, home)
    assert (await opened(folder, home)).reused


async def test_two_first_runs_at_once_wait_for_each_other(
    write_set: WriteSet, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases, "PAUSE", 0.05)
    folder = write_set()
    found = await asyncio.gather(opened(folder, home), opened(folder, home))
    assert [(base.documents, base.chunks) for base in found] == [(4, 4), (4, 4)]
    assert (await opened(folder, home)).reused


async def test_who_is_busy_for_too_long_is_named(
    write_set: WriteSet, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object, **__: object) -> None:
        raise BusyError("somebody else is at it")

    monkeypatch.setattr(bases, "PAUSE", 0.01)
    monkeypatch.setattr(bases, "LONGEST_WAIT", 0.03)
    monkeypatch.setattr(Kaijuan, "add", busy)
    with pytest.raises(BusyError, match="somebody"):
        await opened(write_set(), home)


async def test_an_index_in_memory_is_filled_every_time(write_set: WriteSet, tmp_path: Path) -> None:
    folder = write_set()
    config = Config.model_validate({"stores": {"index": "memory"}})
    for _ in range(2):
        base = await opened(folder, tmp_path / "home", config)
        assert (base.reused, base.documents) == (False, 4)


async def test_documents_that_cannot_be_taken_in_are_named(write_set: WriteSet, home: Path) -> None:
    documents = {"d4": ("", "ERR-9988 means it."), "blank": ("", " ")}
    folder = write_set(documents=documents, judgements=(("q3", "d4", 1),))
    for _ in range(2):
        (problem,) = (await opened(folder, home)).problems
        assert "1 documents could not be taken in" in problem
        assert "has no text" in problem


async def test_a_corpus_without_any_text_is_refused(write_set: WriteSet, home: Path) -> None:
    folder = write_set(documents={"d1": ("", " ")}, judgements=(("q1", "d1", 1),))
    with pytest.raises(EvalDataError, match=r"No document of .* could be taken in"):
        await opened(folder, home)


async def test_bases_are_listed_and_cleared(write_set: WriteSet, home: Path) -> None:
    await opened(write_set(), home)
    (base,) = stored_bases(home)
    assert base.name.startswith("tiny-")
    assert (base.record.whole, base.record.documents) == (True, 4)
    store = EdgeIndexStore(base.folder)
    await store.stop_owner()
    await store.close()
    assert clear_bases(home) > 0
    assert stored_bases(home) == []
    assert not (await opened(write_set(), home)).reused


def test_a_home_without_bases(tmp_path: Path) -> None:
    assert stored_bases(tmp_path) == []
    assert clear_bases(tmp_path) == 0


async def test_a_home_that_cannot_be_written_is_named(write_set: WriteSet, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError):
        await opened(write_set(), tmp_path / "file")
