"""Exact match, F1 and contained answers, against figures computed by hand."""

from __future__ import annotations

import pytest

from kaijuan.evals.answers.correctness import compare, contains, exact, f1, is_short, recall
from kaijuan.evals.answers.normalise import plain, tokens, words


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("The  Cat, sat!", "cat sat"),  # SQuAD: case, articles, punctuation, blanks
        ("an U.S. Dollar", "us dollar"),
        ("Spider-Man", "spiderman"),
        ("《和聲學大綱》", "和声学大纲"),  # marks of CMRC, traditional to simplified
        ("10.4", "10.4"),
        ("1,361", "1361"),
        ("東京 奧運", "东京奥运"),
        ("。，", ""),
    ],
)
def test_one_spelling(text: str, spelt: str) -> None:
    assert plain(text) == spelt


def test_tokens_are_ideographs_and_words() -> None:
    assert tokens("《战国无双3》由Koei开发") == ("战", "国", "无", "双", "3", "由", "koei", "开", "发")
    assert words("战国无双3由Koei-Tecmo开发") == ("战", "国", "无", "双", "3", "由", "koei", "tecmo", "开", "发")


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("the Eiffel Tower", "Eiffel tower.", True),
        ("蘇達爾摩", "《苏达尔摩》", True),
        ("13.61 million", "1361万", True),
        ("July 23, 2021", "2021年7月23日", True),
        ("7月23日", "2021年7月23日", False),
        ("12.5 percent", "12.5%", True),
        ("Paris", "London", False),
        ("", "London", False),
        ("!", "?", False),
    ],
)
def test_exact_match(answer: str, gold: str, same: bool) -> None:
    assert exact(answer, gold) is same


def test_f1_of_english_is_of_bags_of_words() -> None:
    # answer: capital is paris (the article is dropped); gold: paris france; shared: paris
    # precision 1/3, recall 1/2: 2 * 1 / (3 + 2)
    assert f1("The capital is Paris", "Paris, France") == pytest.approx(2 / 5)
    assert f1("Paris Paris", "Paris") == pytest.approx(2 / 3)
    assert f1("London", "Paris") == 0.0


def test_f1_of_chinese_is_of_the_longest_common_run() -> None:
    # CMRC 2018: gold 鼓锣钹和板 (5), answer 主要分为鼓锣钹和板四类型 (12), run 鼓锣钹和板 (5): 2 * 5 / 17
    assert f1("主要分为鼓、锣、钹和板四类型", "鼓、锣、钹和板") == pytest.approx(10 / 17)
    # the run counts, not the bag: of 甲乙 and 乙甲 one ideograph is a run, 2 * 1 / 4
    assert f1("乙甲", "甲乙") == pytest.approx(0.5)


def test_recall_is_the_share_of_what_was_expected() -> None:
    assert recall("The river Nile flows through Egypt", "Nile, Egypt, Sudan") == pytest.approx(2 / 3)
    assert recall("13.61 million", "1361万") == 1.0


@pytest.mark.parametrize(
    ("answer", "gold", "held"),
    [
        ("It was directed by Mahesh Bhatt in 1979.", "Mahesh Bhatt", True),
        ("It is a nuisance because of that.", "US", False),  # not inside a longer word
        ("In the U.S., it is.", "US", True),
        ("Starring Spider Man", "Spider-Man", True),
        ("導演是史蒂文·斯皮爾伯格。", "史蒂文·斯皮尔伯格", True),
        ("The women's final", "Womens final", True),
        ("Total sales: $1,496.5; year: 2019", "$1,496.5 million", False),
        ("Total sales: $1,496.5; year: 2019", "$1,496.5", True),
        ("anything", "…", False),
    ],
)
def test_contained(answer: str, gold: str, held: bool) -> None:
    assert contains(answer, [gold]) is held


def test_every_expected_thing_by_one_of_its_spellings() -> None:
    gold = (("1313851", "131万"), ("187万",))
    found = compare("特斯拉交付131万辆。", gold)
    assert (found.given, found.hit, found.exact) == (0.5, False, False)
    assert compare("特斯拉交付1313851辆，比亚迪187万辆", gold).hit is True


def test_several_alternatives_take_the_best() -> None:
    found = compare("東犬燈塔", (("東犬燈塔", "燈塔"),))
    assert (found.exact, found.f1, found.recall) == (True, 1.0, 1.0)


def test_a_long_expected_answer_is_not_looked_for() -> None:
    gold = (("word " * 26 + "end",),)
    assert not is_short(gold)
    found = compare("word", gold)
    assert found.given is None
    assert found.hit is None
    assert found.recall == pytest.approx(1 / 27)


def test_nothing_given_is_nothing_right() -> None:
    found = compare("", (("Paris",),))
    assert (found.exact, found.f1, found.recall, found.hit) == (False, 0.0, 0.0, False)
