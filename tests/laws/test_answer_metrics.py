"""Laws of the metrics of answers."""

from __future__ import annotations

import datetime
import math
import re
import string
from decimal import Decimal
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from kaijuan.answer.results import Status
from kaijuan.core.text.simplified import SIMPLIFIED
from kaijuan.core.text.values import amount_of, day_of, says_amount, says_day, values_of
from kaijuan.evals.answers.correctness import compare, contains, exact, f1, recall
from kaijuan.evals.answers.items import Expected
from kaijuan.evals.answers.normalise import plain, tokens, words
from kaijuan.evals.answers.refusal import Outcome, curve, risk_area
from kaijuan.evals.answers.support import Support, support

# Nothing here is about speed: a busy machine must not fail a law.
AT_LEISURE = settings(deadline=None)
ANYTHING = st.text(max_size=60)
HAN = st.text(st.sampled_from("年假天员工申请报销三十北京大学"), min_size=2, max_size=8)
WORDS_OF_HAN = st.text(st.sampled_from("鼓锣钹板戏曲"), min_size=1, max_size=12)
LATIN = st.lists(st.sampled_from(["paris", "rome", "valve", "leave", "cat"]), min_size=1, max_size=4).map(" ".join)
PHRASE = st.one_of(HAN, LATIN)
TRADITIONAL = {new: old for old, new in SIMPLIFIED.items() if SIMPLIFIED.get(new, new) == new}


@AT_LEISURE
@given(ANYTHING, ANYTHING)
def test_shares_are_shares_and_exact_is_whole(answer: str, gold: str) -> None:
    for share in (f1(answer, gold), recall(answer, gold)):
        assert 0.0 <= share <= 1.0
    if exact(answer, gold):
        assert f1(answer, gold) == recall(answer, gold) == 1.0
    found = compare(answer, ((gold,),))
    assert found.given is None or 0.0 <= found.given <= 1.0


@AT_LEISURE
@given(ANYTHING)
def test_the_one_spelling_is_settled(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert tokens(plain(text)) == tokens(text)


def squad(text: str) -> str:
    """Normalise as the evaluation script of SQuAD 1.1 does."""
    bare = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


@AT_LEISURE
@given(st.text(string.ascii_letters + string.punctuation + "  ", max_size=60))
def test_english_is_spelt_as_in_squad(text: str) -> None:
    assert plain(text) == squad(text)


def cmrc(answer: str, gold: str) -> float:
    """Return F1 as the evaluation script of CMRC 2018 does, by its table of common runs, for ideographs."""
    runs = [[0] * (len(gold) + 1) for _ in range(len(answer) + 1)]
    longest = 0
    for row, left in enumerate(answer, start=1):
        for column, right in enumerate(gold, start=1):
            if left == right:
                runs[row][column] = runs[row - 1][column - 1] + 1
                longest = max(longest, runs[row][column])
    precision, share = longest / len(answer), longest / len(gold)
    return 2 * precision * share / (precision + share) if longest else 0.0


@AT_LEISURE
@given(WORDS_OF_HAN, WORDS_OF_HAN)
def test_chinese_is_scored_as_in_cmrc(answer: str, gold: str) -> None:
    assert math.isclose(f1(answer, gold), cmrc(answer, gold))


@AT_LEISURE
@given(ANYTHING)
def test_an_answer_is_exactly_itself(text: str) -> None:
    assert exact(text, text)


@AT_LEISURE
@given(PHRASE, PHRASE)
def test_what_stands_in_an_answer_is_contained(gold: str, around: str) -> None:
    answer = f"{around}。{gold}，{around}"
    assert contains(answer, [gold])
    assert compare(answer, ((gold,),)).recall == 1.0
    assert support(gold, [answer]) is Support.VERBATIM
    assert support(gold, ["Something else.", answer]) is Support.VERBATIM


@AT_LEISURE
@given(PHRASE, PHRASE)
def test_containing_a_phrase_is_containing_its_words(answer: str, gold: str) -> None:
    if contains(answer, [gold]):
        assert set(words(gold)) <= set(words(answer))


@AT_LEISURE
@given(HAN)
def test_traditional_and_simplified_are_one(text: str) -> None:
    other = "".join(TRADITIONAL.get(letter, letter) for letter in text)
    assert exact(other, text)
    assert contains(f"答：{other}。", [text])


@AT_LEISURE
@given(st.integers(min_value=1, max_value=999_999))
def test_an_amount_in_all_its_spellings(number: int) -> None:
    value = number * 10_000
    wide = str(value).translate({ord("0") + digit: ord("０") + digit for digit in range(10)})
    million = f"{Decimal(value) / 1_000_000} million"
    for written in (f"{number}万", f"{number:,}万", str(value), f"{value:,}", wide, million):
        found = amount_of(written)
        assert found is not None
        assert found.value == value
        assert says_amount(f"共计 {written} 人。", found)
    assert exact(f"{number}万", str(value)) is (number > 0)


@AT_LEISURE
@given(st.dates(min_value=datetime.date(1000, 1, 1), max_value=datetime.date(2199, 12, 31)))
def test_a_date_in_all_its_styles(date: datetime.date) -> None:
    styles = (
        f"{date.year}年{date.month}月{date.day}日",
        date.isoformat(),
        f"{date.year}/{date.month}/{date.day}",
        f"{date:%B} {date.day}, {date.year}",
        f"{date.day} {date:%b} {date.year}",
    )
    days = {day_of(style) for style in styles}
    assert len(days) == 1
    (wanted,) = days
    assert wanted is not None
    for style in styles:
        assert says_day(f"That was on {style}, they say.", wanted)
        assert not values_of(style).amounts


OUTCOMES = st.lists(
    st.builds(
        Outcome,
        expected=st.sampled_from([Expected.ANSWER, Expected.REFUSE]),
        status=st.just(Status.ANSWERED),
        confidence=st.floats(min_value=0, max_value=1),
        answered=st.booleans(),
        wrong=st.sampled_from([None, True, False]),
    ),
    max_size=30,
)


@AT_LEISURE
@given(OUTCOMES)
def test_the_curve_falls_and_begins_with_everything(outcomes: list[Outcome]) -> None:
    points = curve(outcomes)
    told = [one for one in outcomes if not one.answered or one.wrong is not None]
    answered = [bool(one.wrong) for one in told if one.answered]
    assert points[0].coverage == (len(answered) / len(told) if told else None)
    assert points[0].risk == (sum(answered) / len(answered) if answered else None)
    for before, after in pairwise(points):
        if before.coverage is not None and after.coverage is not None:
            assert after.coverage <= before.coverage
        for left, right in (
            (after.answerable_kept, before.answerable_kept),
            (before.unanswerable_refused, after.unanswerable_refused),
        ):
            if left is not None and right is not None:
                assert left <= right + 1e-12
    for point in points:
        assert point.risk is None or (0 <= point.risk <= 1 and not math.isnan(point.risk))


@AT_LEISURE
@given(OUTCOMES)
def test_the_area_lies_between_the_risks(outcomes: list[Outcome]) -> None:
    known = [one.wrong for one in outcomes if one.answered and one.wrong is not None]
    area = risk_area(outcomes)
    assert (area is None) is (not known)
    if area is not None:
        assert -1e-12 <= area <= 1 + 1e-12
        assert any(known) or area == 0
        assert not all(known) or area == 1
