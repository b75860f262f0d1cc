"""--as-of, and text made safe for a terminal."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from kaijuan.cli import screen
from kaijuan.cli.passages import Excerpt, marked, shared_words
from kaijuan.cli.session import read_as_of
from kaijuan.core.spans import Span
from kaijuan.core.text.bm25 import query_terms


@pytest.fixture
def shanghai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    monkeypatch.undo()


@pytest.fixture(autouse=True)
def _clock_back() -> object:
    yield
    time.tzset()


def test_a_number_is_a_snapshot_and_nothing_is_the_head() -> None:
    assert read_as_of(" 12 ") == 12
    assert isinstance(read_as_of("12"), int)
    assert read_as_of(None) is None


@pytest.mark.usefixtures("shanghai")
def test_times_are_local_and_a_day_counts_to_its_end() -> None:
    assert read_as_of("2025-03-01T08:00") == 1_740_787_200.0
    assert read_as_of("2025-03-01 08:00:00") == 1_740_787_200.0
    assert read_as_of("2025-03-01T00:00Z") == 1_740_787_200.0
    # The last millisecond of 1 March in Shanghai is 16:00 of that day in UTC.
    assert read_as_of("2025-03-01") == pytest.approx(1_740_844_800.0 - 0.001)


def test_sources_are_shown_as_people_write_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert screen.place((tmp_path / "手册" / "a b.md").as_uri()) == "手册/a b.md"
    assert screen.place("file:///a/%E6%89%8B%E5%86%8C.pdf") == "/a/手册.pdf"
    assert screen.place("file:///a/rows.jsonl#7") == "/a/rows.jsonl#7"
    assert screen.place("https://a.example/%E6%89%8B") == "https://a.example/%E6%89%8B"
    assert screen.name("file:///a/b%0Ac.md") == r"b\nc.md"


@given(st.text())
def test_nothing_that_moves_the_cursor_is_left(text: str) -> None:
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in screen.line(text))
    assert screen.lines(text).count("\n") == text.count("\n")


@given(st.text(alphabet="ab c。\n", max_size=900), st.data())
def test_an_excerpt_shows_lines_of_the_passage_in_order(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    near = Span(start, data.draw(st.integers(start, len(text))))
    console = Console(width=20, file=io.StringIO())
    whole, cut = (
        [row.plain for row in Excerpt(marked(text, ("a",)), near, lines).__rich_console__(console, console.options)]
        for lines in (0, 3)
    )
    assert "".join("".join(whole).split()) == "".join(text.split())
    if len(whole) <= 3:
        assert cut == whole
    else:
        shown = "\n".join(row for row in cut if row != "…")
        assert shown.count("\n") < 3
        assert shown in "\n".join(row for row in whole if row.strip())


def test_what_is_marked_is_what_the_question_shares() -> None:
    text = "Full backups are kept for 90 days; see ERR-9988."
    assert [place.of(text) for place in shared_words(text, query_terms("How are backups kept? ERR-9988"))] == [
        "backups", "kept", "ERR-9988",
    ]  # fmt: skip
    assert shared_words(text, ()) == []


def test_ordinals() -> None:
    assert [screen.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ([], []),
        (["add", "--kb", "not mine"], []),
        (["--kb", "gate", "-v", "add", "x"], ["--kb gate"]),
        (["--home=/a b", "--json", "--config", "c.toml", "list"], ["--home '/a b'", "--config c.toml"]),
    ],
)
def test_hints_go_on_in_the_place_that_the_command_was_told(words: list[str], kept: list[str]) -> None:
    assert screen.global_options(words) == kept
