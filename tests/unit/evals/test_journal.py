"""The journal keeps what was found until the evaluation has finished, and no longer."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from kaijuan.errors import StoreError
from kaijuan.evals import journal
from kaijuan.evals.journal import Journal

KEY = ("retrieval", "set", "settings")


def stopped(evals: Path, key: tuple[str, ...] = KEY, *ids: str) -> None:
    with suppress(KeyboardInterrupt), Journal(evals, key) as kept:
        for id in ids:
            kept.add(id, {"found": [id, "文"]})
        raise KeyboardInterrupt


def test_a_run_that_was_stopped_is_gone_on_with(tmp_path: Path) -> None:
    stopped(tmp_path, KEY, "a", "b")
    stopped(tmp_path, KEY, "c")
    assert Journal(tmp_path, KEY).rows == {id: {"found": [id, "文"]} for id in "abc"}


def test_a_run_that_finished_leaves_nothing(tmp_path: Path) -> None:
    stopped(tmp_path, KEY, "a")
    with Journal(tmp_path, KEY) as kept:
        kept.add("b", {})
    assert Journal(tmp_path, KEY).rows == {}
    assert list((tmp_path / "unfinished").iterdir()) == []


def test_another_key_and_other_code_know_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(tmp_path, KEY, "a")
    assert Journal(tmp_path, ("retrieval", "set", "others")).rows == {}
    monkeypatch.setattr(journal, "code_fingerprint", lambda: "changed")
    assert Journal(tmp_path, KEY).rows == {}


def test_fresh_forgets(tmp_path: Path) -> None:
    stopped(tmp_path, KEY, "a")
    assert Journal(tmp_path, KEY, fresh=True).rows == {}
    assert Journal(tmp_path, KEY).rows == {}


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_torn_by_a_kill_is_asked_again(tmp_path: Path, cut: int) -> None:
    stopped(tmp_path, KEY, "a", "b")
    (file,) = (tmp_path / "unfinished").iterdir()
    file.write_bytes(file.read_bytes()[:-cut])
    assert set(Journal(tmp_path, KEY).rows) - {"b"} == {"a"}
    stopped(tmp_path, KEY, "c")
    assert set(Journal(tmp_path, KEY).rows) - {"b"} == {"a", "c"}


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "unfinished").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be written"), Journal(tmp_path, KEY):
        pass
