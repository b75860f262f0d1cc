"""--as-of, and text made safe for a terminal."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.cli import screen
from kaijuan.cli.passages import excerpt
from kaijuan.cli.session import read_as_of
from kaijuan.core.spans import Span


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
def test_an_excerpt_shows_the_passage_in_order(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = excerpt(text, Span(50, 50 + len(text)), [Span(50 + start, 50 + end)]).plain
    assert shown.removeprefix("… ").removesuffix(" …") in text
    if len(text) <= 600:
        assert shown == text
