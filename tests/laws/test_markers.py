"""Citation markers: however a reply is cut into pieces, the words and marks that come out are the same."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaijuan.answer.draft import Draft, Raw
from kaijuan.answer.markers import Markers, Marks, Text

KNOWN = [1, 2, 3, 4, 5]
PIECES = st.sampled_from(
    [
        *(
            "[",
            "]",
            "【",
            "】",
            "（",
            "）",
            "(",
            ")",
            "[1]",
            "【2】",
            "（3）",
            "[1,2]",
            "[1-3]",
            "[9]",
            "[[1]]",
            "[来源1]",
        ),
        *(
            "1",
            "2",
            "12",
            ",",
            "、",
            "-",
            " ",
            "\n",
            "。",
            ".",
            "句子",
            "A fact",
            "source ",
            "来源",
            "`",
            "```",
            "x[1]",
        ),
        *("[2024]", ":", "；", "NOT_FOUND", "MISSING: ", "包括：", "- ", "https://a.b/c"),
    ]
)
REPLIES = st.lists(PIECES, max_size=25).map("".join)


def cut(text: str, places: list[int]) -> list[str]:
    bounds = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(bounds)]


def read(pieces: list[str]) -> list[str | tuple[int, ...]]:
    """Return words and marks in order, words that follow each other joined."""
    markers = Markers(KNOWN)
    parts = [part for piece in pieces for part in markers.take(piece)] + markers.end()
    joined: list[str | tuple[int, ...]] = []
    for part in parts:
        if isinstance(part, Marks):
            joined.append(part.numbers)
        elif joined and isinstance(joined[-1], str):
            joined[-1] += part.text
        else:
            joined.append(part.text)
    return joined


@given(REPLIES, st.lists(st.integers(min_value=0, max_value=200), max_size=12))
def test_any_split_gives_the_same(text: str, places: list[int]) -> None:
    assert read(cut(text, places)) == read([text])
    assert read(list(text)) == read([text])


@given(REPLIES)
def test_every_mark_is_known_and_no_marker_is_shown(text: str) -> None:
    outside_code = "`" not in text
    for part in read([text]):
        if isinstance(part, tuple):
            assert set(part) <= set(KNOWN)
        elif outside_code:
            assert not re.search(r"\[\d{1,3}\]|【\d{1,3}】", part)


@given(REPLIES, st.lists(st.integers(min_value=0, max_value=200), max_size=12))
def test_sentences_do_not_depend_on_the_split(text: str, places: list[int]) -> None:
    assert drafted(cut(text, places)) == drafted([text])


def drafted(pieces: list[str]) -> tuple[list[Raw], str, bool, str]:
    draft = Draft(KNOWN)
    raws = [raw for piece in pieces for raw in draft.take(piece).sentences]
    raws += draft.end().sentences
    return raws, draft.text, draft.found_nothing, draft.missing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三个月 [1]。", ["三个月", (1,), "。"]),
        ("三个月【1】。", ["三个月", (1,), "。"]),
        ("三个月（1）。", ["三个月", (1,), "。"]),
        ("三个月（1）", ["三个月", (1,)]),
        ("months [1,2].", ["months", (1, 2), "."]),
        ("months [1-3].", ["months", (1, 2, 3), "."]),
        ("months [1][2].", ["months", (1,), (2,), "."]),
        ("months [1, 2 and 3].", ["months", (1, 2, 3), "."]),
        ("三个月[来源1、2]。", ["三个月", (1, 2), "。"]),
        ("months (Source 2).", ["months", (2,), "."]),
        ("months [[1]].", ["months", (1,), "."]),
        ("months [^1].", ["months", (1,), "."]),
        ("unknown [9].", ["unknown", "."]),
        ("half unknown [1,9].", ["half unknown", (1,), "."]),
        ("包括：（1）身份证；（2）户口本。", ["包括：（1）身份证；（2）户口本。"]),
        ("in [2024] and (1) first", ["in [2024] and (1) first"]),
        ("`a[1]` and ```\nb[2]\n``` end [3]", ["`a[1]` and ```\nb[2]\n``` end", (3,)]),
        ("never closed [1", ["never closed [1"]),
    ],
)
def test_markers_by_example(text: str, expected: list[str | tuple[int, ...]]) -> None:
    joined: list[str | tuple[int, ...]] = []
    for part in expected:
        if joined and isinstance(joined[-1], str) and isinstance(part, str):
            joined[-1] += part
        else:
            joined.append(part)
    assert read([text]) == joined
    assert read(list(text)) == joined


def test_unknown_numbers_are_counted() -> None:
    markers = Markers(KNOWN)
    parts = markers.take("a [9] b [1,7] c") + markers.end()
    assert "".join(part.text for part in parts if isinstance(part, Text)) == "a b c"
    assert [part for part in parts if isinstance(part, Marks)] == [Marks((1,))]
    assert markers.unknown == {9: 1, 7: 1}


def test_a_draft_tells_sentences_lead_ins_and_signals_apart() -> None:
    raws, _, _, missing = drafted(
        ["年假天数如下：\n- 满一年 5 天 [1]\n- 满十年 10 天 [1][2]\n其他假期另行规定 [3]。\nMISSING: 病假天数"]
    )
    assert [(raw.text, raw.numbers) for raw in raws] == [
        ("年假天数如下：\n- 满一年 5 天", (1,)),
        ("- 满十年 10 天", (1, 2)),
        ("其他假期另行规定。", (3,)),
    ]
    assert missing == "病假天数"


@pytest.mark.parametrize("said", ["NOT_FOUND", " NOT_FOUND.", '"NOT_FOUND"', "**NOT_FOUND**\nbecause"])
def test_nothing_found_shows_nothing(said: str) -> None:
    draft = Draft(KNOWN)
    taken = [draft.take(letter) for letter in said]
    taken.append(draft.end())
    assert draft.found_nothing
    assert all(not one.words and not one.sentences for one in taken)
