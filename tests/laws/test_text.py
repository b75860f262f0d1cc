"""Laws of the text analyser: folding settles, places lead back, nothing is lost, both ends agree."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

from kaijuan.core.spans import Span
from kaijuan.core.text.analyse import TermKind, analyse, keys_of
from kaijuan.core.text.bm25 import K1, document_weights, query_terms, query_weights, term_id
from kaijuan.core.text.characters import INVISIBLE
from kaijuan.core.text.normalise import folded, normalise
from kaijuan.core.text.sentences import sentences

# fmt: off
PIECES = [
    "電子計算機", "合\n同", "编  号", "ＥＲＲ－９９８８", "Ｈello", "ﬁne", "e\u0301t", "é", "ｶﾞｷﾞ", "한글",
    "한국", "a\u200bb", "co\u00adop", "Straße", "İ", "①", "㎜", "½", "℃", "…", "，", "。", "：“", "”", "「",
    "」", "\n\n", "\t", " ", "\u3000", "-", "/", ".", "@", "#", "×", "*", "_", "'", "15", "v2.3.1", "GB/T 7714",
    "iPhone 15 Pro Max", "国发〔2023〕5号", "第十二条", "2024年3月5日", "3.5 mm", "the", "running", "的",
    "\u0301", "\u200d", "\ufe0f", "\U0001f468", "\ud800", "\uffff", "\x00", "हिन्दी", "ภาษาไทย", "نص", "ʼn",
    "ǰ", "ͅ", "\u1100\u1161", "⼀", "豈", "..", "?", "!", "“", "1.", "e.g.",
]
# fmt: on
"""Pieces chosen because each has broken some analyser: composed signs, ligatures, half width, layout, joints."""
mixed = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=25).map("".join)
INVISIBLE_OR_BLANK = re.compile(rf"[{INVISIBLE}\s]")


@given(mixed)
@settings(max_examples=300, deadline=None)
@example("中 \u200b 国")
@example("Ａ\u200b\u0301")
def test_folding_twice_is_folding_once(text: str) -> None:
    once, _ = normalise(text)
    assert normalise(once)[0] == once


@given(mixed)
@settings(max_examples=300, deadline=None)
def test_every_folded_character_comes_from_its_origin(text: str) -> None:
    matched, offsets = normalise(text)
    assert matched == folded(text)
    assert len(offsets.origins) == len(offsets.ends) == len(matched)
    assert list(offsets.origins) == sorted(offsets.origins)
    assert list(offsets.ends) == sorted(offsets.ends)
    for at, character in enumerate(matched):
        source = offsets.back(Span(at, at + 1))
        assert character in normalise(source.of(text))[0]


@given(mixed)
@settings(max_examples=200, deadline=None)
def test_only_layout_and_invisible_characters_have_no_trace(text: str) -> None:
    _, offsets = normalise(text)
    kept = {at for start, end in zip(offsets.origins, offsets.ends, strict=True) for at in range(start, end)}
    for at, character in enumerate(text):
        assert at in kept or INVISIBLE_OR_BLANK.match(character)


@given(
    st.lists(st.sampled_from(["電腦", "ﬁ", "Ｑ", "国", "e\u0301", "ß", "a"]), min_size=1, max_size=8),
    st.sampled_from(["zz ", "。", "中文。", "\u200b", "x y ", ""]),
    st.sampled_from([" zz", "。", "。中文", " \u200b ", ""]),
)
@settings(deadline=None)
def test_a_found_piece_is_led_back_to_exactly_where_it_stands(word: list[str], before: str, after: str) -> None:
    written = "".join(word)
    matched, offsets = normalise(before + written + after)
    start = len(normalise(before)[0])
    place = offsets.back(Span(start, start + len(normalise(written)[0])))
    assert place.of(before + written + after) == written
    assert matched[start : start + len(normalise(written)[0])] == normalise(written)[0]


@given(mixed)
@settings(max_examples=300, deadline=None)
def test_terms_lie_within_the_text_and_in_order(text: str) -> None:
    terms = analyse(text)
    assert [term.span.start for term in terms] == sorted(term.span.start for term in terms)
    for term in terms:
        assert 0 <= term.span.start < term.span.end <= len(text)
        assert term.text
        assert term.weight > 0


@given(mixed)
@settings(max_examples=300, deadline=None)
def test_the_fast_count_and_the_analysis_agree(text: str) -> None:
    keys, bigrams = keys_of(text)
    assert Counter(keys) + Counter("~" + pair for pair in bigrams) == Counter(term.text for term in analyse(text))


@given(mixed)
@settings(max_examples=200, deadline=None)
def test_a_text_and_its_folded_form_have_the_same_words(text: str) -> None:
    # Punctuation that ends a phrase is lost in folding, so only text without it can be compared.
    plain = re.sub(r"[^\w\u0300-\u036f]+", "", text)
    assert Counter(keys_of(plain)[0]) == Counter(keys_of(normalise(plain)[0])[0])


@given(mixed)
@settings(max_examples=100, deadline=None)
def test_what_is_asked_for_verbatim_is_in_the_document(text: str) -> None:
    document = document_weights([(text, 1.0)])
    asked = {term_id(term) for term in query_terms(text) if term[0] != "<"}
    assert asked <= set(document)
    assert asked <= set(query_weights(text))
    assert all(0 < weight <= (K1 + 1) * 1.001 for weight in document.values())


@given(mixed, st.floats(0.0, 2.0))
@settings(max_examples=50, deadline=None)
def test_the_bigram_share_scales_bigrams_and_nothing_else(text: str, share: float) -> None:
    usual, other = query_weights(text, bigram_share=1.0), query_weights(text, bigram_share=share)
    pairs = {term_id(term.text) for term in analyse(text) if term.kind is TermKind.BIGRAM}
    for number, weight in usual.items():
        wanted = weight * share if number in pairs else weight
        assert abs(other.get(number, 0.0) - wanted) < 1e-9


@given(mixed)
@settings(max_examples=300, deadline=None)
def test_sentences_are_disjoint_ordered_and_lose_only_white_space(text: str) -> None:
    found = sentences(text)
    at = 0
    for span in found:
        assert span.start >= at
        assert not text[at : span.start].strip()
        assert span.of(text).strip() == span.of(text) != ""
        at = span.end
    assert not text[at:].strip()
