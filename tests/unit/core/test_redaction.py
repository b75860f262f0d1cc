"""What is shown of a service's words: never the key, in whatever way it is written there."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.core.redaction import HIDDEN, MOST, redact

KEY = "sk-very\\se'c\"r<e>t/&+="
KEYS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8)
WAYS: dict[str, Callable[[str], str]] = {
    "as it is": lambda key: key,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON in JSON": lambda key: json.dumps(json.dumps(key))[3:-3],
    "JSON of PHP": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "JSON in code points": lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
    "Python": lambda key: repr(key)[1:-1],
    "Python's bytes": lambda key: repr(key.encode())[2:-1],
    "HTML": html.escape,
    "an address": lambda key: quote(key, safe=""),
    "capitals": lambda key: key.upper(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", [1, 5, MOST - 10, MOST - 1, MOST, 3000])
def test_the_key_is_hidden_however_it_is_written_and_wherever_the_cut_falls(way: str, before: int) -> None:
    shown = redact("x" * before + f" {WAYS[way](KEY)} is wrong", KEY)
    assert shown == ("x" * before + f" {HIDDEN} is wrong")[:MOST]


@settings(deadline=None)  # a pattern is made for each key
@given(key=KEYS, way=st.sampled_from(sorted(WAYS)), before=st.text(max_size=2 * MOST))
def test_any_key_is_hidden(key: str, way: str, before: str) -> None:
    shown = redact(f"{before} <{WAYS[way](key)}> {key}", key)
    assert key not in shown
    assert WAYS[way](key) not in shown
    assert len(shown) <= MOST


@pytest.mark.parametrize("text", ["Bearer tok-other", "bearer: tok-other", "b'Bearer tok-other'", "Bearer%20tok-other"])
def test_whole_bearer_tokens_are_hidden(text: str) -> None:
    for key in ("", KEY):
        assert "tok" not in redact(f"wrong {text} there", key)


@pytest.mark.parametrize("at", [0, 100, (1 << 15) - 20, (1 << 15) - 41, 1 << 15])
def test_half_a_key_at_the_end_of_what_is_looked_at_is_not_shown(at: int) -> None:
    key = "sk-" + "".join(map(chr, range(65, 91)))
    # What comes before is hidden too, so that the place would be among the characters shown.
    before = f"bearer {'x' * (at - 8)} " if at > 8 else ""
    said = redact(before + key + "y" * (1 << 16), key)
    assert not any(key[start : start + 5] in said for start in range(len(key) - 5))


def test_a_reply_of_backslashes_does_not_cost_the_square_of_its_length() -> None:
    assert redact("\\" * 20_000, "\\" * 30 + "x") == "\\" * MOST
    assert redact("line\n  by\tline", KEY) == "line by line"
