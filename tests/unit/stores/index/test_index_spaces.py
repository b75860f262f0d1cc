"""The folder of spaces: what a crash leaves, what a full disk says, where sockets go."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from kaijuan.errors import BusyError, CorruptStoreError, DiskFullError, NotFoundError, SpaceMismatchError, StoreError
from kaijuan.stores.index import qdrant_edge
from kaijuan.stores.index.places import Places, check_private
from kaijuan.stores.index.qdrant_edge import Shard
from kaijuan.stores.index.spaces import SpaceFolder
from kaijuan.testing.contracts.index_points import point, spec


def test_a_space_is_there_once_its_card_is(tmp_path: Path) -> None:
    folder = SpaceFolder(tmp_path)
    card = folder.prepare(spec())
    assert folder.names() == []
    with pytest.raises(NotFoundError):
        folder.card("main")
    folder.commit(card)
    assert folder.names() == ["main"]
    assert folder.card("main") == folder.verified(spec()) == card
    with pytest.raises(SpaceMismatchError, match="m2"):
        folder.verified(spec(model="m2"))
    following = folder.successor(card)
    folder.commit(following)
    assert folder.card("main").generation == 2
    assert folder.card("main").token == card.token
    folder.drop("main")
    folder.drop("main")
    assert list(tmp_path.iterdir()) == []


def test_sweeping_keeps_the_serving_generation_and_damaged_spaces(tmp_path: Path) -> None:
    folder = SpaceFolder(tmp_path)
    card = folder.prepare(spec())
    folder.commit(card)
    for name in ("g000001", "g000002"):
        (tmp_path / "main" / name).mkdir()
    (tmp_path / "bad" / "g000001").mkdir(parents=True)
    (tmp_path / "bad" / "space.json").write_text("{")
    (tmp_path / ".dropped-x").mkdir()
    folder.sweep()
    assert sorted(place.name for place in (tmp_path / "main").iterdir()) == ["g000001", "space.json"]
    assert (tmp_path / "bad" / "g000001").is_dir()
    assert not (tmp_path / ".dropped-x").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 9, "spec": [], "token": "", "generation": 1}'])
def test_a_card_that_cannot_be_read_is_corrupt(tmp_path: Path, text: str) -> None:
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "space.json").write_text(text)
    with pytest.raises(CorruptStoreError):
        SpaceFolder(tmp_path).card("main")


def test_a_full_disk_is_said_so_and_leaves_the_former_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = SpaceFolder(tmp_path)
    card = folder.prepare(spec())
    folder.commit(card)

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError):
        folder.commit(folder.successor(card))
    assert folder.card("main") == card


def test_a_shard_opened_twice_or_missing_is_our_error(tmp_path: Path) -> None:
    shard = Shard.create(tmp_path / "s", 16)
    with pytest.raises(BusyError):
        Shard.load(tmp_path / "s")
    shard.close()
    with pytest.raises(CorruptStoreError):
        Shard.load(tmp_path / "none")
    with pytest.raises(StoreError):
        shard.upsert([point(1)])


def test_the_engines_words_for_a_full_disk_are_known() -> None:
    error = qdrant_edge._ours("writing", "Service runtime error: IO Error: No space left on device (os error 28)")
    assert isinstance(error, DiskFullError)


def test_sockets_are_short_private_and_one_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("deep" * 20) / ("er" * 60)
    one, other = Places(deep), Places(tmp_path)
    one.prepare()
    other.prepare()
    assert one.socket != other.socket
    assert len(os.fsencode(one.socket)) <= 100
    check_private(one.socket.parent)
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / ("t" * 100)))
    assert len(os.fsencode(Places(deep).socket)) <= 100


def test_a_folder_of_others_is_not_trusted(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o750)
    with pytest.raises(StoreError, match="not a private folder"):
        check_private(place)
    link = tmp_path / "link"
    place.chmod(0o700)
    link.symlink_to(place)
    with pytest.raises(StoreError, match="not a private folder"):
        check_private(link)


def test_a_card_is_readable_by_people(tmp_path: Path) -> None:
    folder = SpaceFolder(tmp_path)
    folder.commit(folder.prepare(spec()))
    body = json.loads((tmp_path / "main" / "space.json").read_text())
    assert body["spec"] == ["main", 16, "m1", "a1"]
