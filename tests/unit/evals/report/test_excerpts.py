"""Excerpts: the place that shares most with the question, shared words marked, nothing hidden."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.evals.report.excerpts import LENGTH, clean, excerpt

LONG = "废话连篇，" * 200 + "年假为十五天，须提前申请。" + "别的事情。" * 200


def test_the_window_lies_where_the_words_are() -> None:
    found = excerpt(LONG, "年假 申请")
    text = "".join(piece.text for piece in found.pieces)
    assert "年假为十五天" in text
    assert {piece.text for piece in found.pieces if piece.marked} == {"年假", "申请"}
    assert (found.before, found.after) == (True, True)


def test_english_words_are_marked_by_their_stem_and_never_cut_at_the_front() -> None:
    text = "filler words " * 60 + "Full backups are kept for ninety days." + " more of it" * 60
    found = excerpt(text, "how long is a backup kept")
    shown = "".join(piece.text for piece in found.pieces)
    assert {"backups", "kept"} == {piece.text for piece in found.pieces if piece.marked}
    assert shown.split()[0] in {"filler", "words"}


def test_a_short_text_is_shown_whole() -> None:
    found = excerpt("一句话。", "什么")
    assert ("".join(piece.text for piece in found.pieces), found.before, found.after) == ("一句话。", False, False)
    assert excerpt("", "什么").pieces == ()


def test_what_is_not_seen_is_made_visible() -> None:
    assert clean("a\u202eb\x00c\x1b[31m\u200bd\ud800") == "a\ufffdb\ufffdc\ufffd[31m\ufffdd\ufffd"
    assert clean("  a \n\n b\tc ") == "a b c"


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=600), st.text(max_size=40))
def test_pieces_are_a_part_of_the_text(text: str, question: str) -> None:
    found = excerpt(text, question, 80)
    shown = "".join(piece.text for piece in found.pieces)
    assert shown in clean(text)
    assert len(shown) <= 80
    assert found.after or clean(text).endswith(shown)
    assert found.before or clean(text).startswith(shown)
    assert all(piece.text for piece in found.pieces)
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in shown)


def test_the_length_is_bounded() -> None:
    assert sum(len(piece.text) for piece in excerpt("x" * 5000, "y").pieces) == LENGTH
