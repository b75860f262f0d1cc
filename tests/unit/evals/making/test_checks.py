"""Every check turns down what it is there for, and lets the rest pass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.evals.making.documents_made import head

from kaijuan.core.spans import Span
from kaijuan.evals.making.checks import MOST_ABOUT_ONE, Repeats, fault_of
from kaijuan.evals.making.choose import MOST_FROM_ONE_DOCUMENT, in_turns, offered
from kaijuan.evals.making.items import Draft, Evidence, Kind, Split

QUOTE = "The mooring fee is 45 euros a night for guests."


def draft(question: str = "How much is the mooring fee a night?", answer: str = "45 euros", **more: object) -> Draft:
    evidence = Evidence(document=head("Quay Manual", "en"), span=Span(0, len(QUOTE)), quote=QUOTE)
    made = Draft(
        kind=Kind.SINGLE,
        how="en/how-much",
        language="en",
        question=question,
        answers=(answer,),
        evidence=(evidence,),
        about=question,
    )
    return replace(made, **more)  # type: ignore[arg-type] # the fields that a test names


def test_a_sound_draft_passes() -> None:
    assert fault_of(draft()) == ""


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (draft("Fee?"), "unreadable"),
        (draft("How much is the fee " + "x" * 300), "unreadable"),
        (draft("How much is the (mooring fee a night?"), "unreadable"),
        (draft("How much is the <b>mooring fee</b> a night?"), "unreadable"),
        (draft("What is it https://example.org says?"), "unreadable"),
        (draft(answers=()), "answer_missing"),
        (draft(answers=(" ",)), "answer_missing"),
        (draft(answers=("x" * 800,)), "answer_missing"),
        (draft(answer="46 euros"), "answer_not_in_evidence"),
        (draft("Is 45 euros the mooring fee a night?"), "answer_in_question"),
        (draft("How much is it a night for guests?"), "points_outside"),
        (draft("How much does this place cost a night?"), "points_outside"),
        (draft("它每晚要多少钱才能停泊？", language="zh"), "points_outside"),
        (draft("该港口每晚要多少钱？", language="zh"), "points_outside"),
        (draft(kind=Kind.UNANSWERABLE), "answer_missing"),
    ],
)
def test_a_broken_draft_is_named(broken: Draft, fault: str) -> None:
    assert fault_of(broken) == fault


def test_no_question_joins_two_splits() -> None:
    other = Evidence(document=head("Other", "en", split=Split.TEST), span=Span(0, len(QUOTE)), quote=QUOTE)
    joined = draft(evidence=(draft().evidence[0], other))
    assert fault_of(joined) == "two_splits"


def test_names_may_hold_words_that_point() -> None:
    assert fault_of(draft("Who directed This Is It?", "45 euros", about="This Is It")) == ""
    assert fault_of(draft('What does "Our Rules" say of the fee?', "45 euros")) == ""
    assert fault_of(draft("Does the IT desk in the US answer for it?", "45 euros")) == "points_outside"
    assert fault_of(draft("Does the IT desk in the US charge a fee?", "45 euros")) == ""


def test_the_answer_is_compared_as_it_is_read() -> None:
    quote = Evidence(document=head("港口", "zh"), span=Span(0, 16), quote="停泊费为每\n晚４５歐元，過夜另計。")
    assert fault_of(draft("停泊费是每晚多少？", "45欧元", language="zh", evidence=(quote,))) == ""


def test_a_comparison_answers_with_one_of_its_two_things() -> None:
    which = "Which was released first, Grey Harbour or Red Harbour?"
    assert fault_of(draft(which, "Grey Harbour", how="compare/released-on", kind=Kind.MULTI)) == ""
    wrong = draft(which, "Blue Harbour", how="compare/released-on", kind=Kind.MULTI)
    assert fault_of(wrong) == "answer_not_in_evidence"


def test_both_parts_of_an_answer_must_be_there() -> None:
    asked = "How much is the mooring fee, and for whom?"
    assert fault_of(draft(asked, "45 euros; guests", how="two-parts", kind=Kind.MULTI)) == ""
    assert fault_of(draft(asked, "45 euros; crews", how="two-parts", kind=Kind.MULTI)) == "answer_not_in_evidence"


def test_nearly_the_same_question_is_asked_once() -> None:
    repeats = Repeats()
    repeats.keep(draft())
    other = Evidence(document=head("Other", "en"), span=Span(0, len(QUOTE)), quote=QUOTE)
    assert repeats.fault_of(draft("How much a night is the mooring fee?", evidence=(other,))) == "repeated"
    assert repeats.fault_of(draft("How much is the crane a night?", about="crane", evidence=(other,))) == ""
    assert repeats.fault_of(draft("How much is the crane a night?", about="crane")) == "repeated"  # the same sentence


def test_one_thing_is_not_asked_about_over_and_over() -> None:
    repeats = Repeats()
    for number in range(MOST_ABOUT_ONE + 1):
        place = Evidence(document=head("Quay", "en"), span=Span(number, number + 9), quote=QUOTE[:9])
        asked = draft(f"What is fact number {number} of the quay?", about="the quay", evidence=(place,))
        assert repeats.fault_of(asked) == ("repeated" if number == MOST_ABOUT_ONE else "")
        repeats.keep(asked)


def test_rules_take_turns() -> None:
    many = [draft(f"What is thing {number}?", how="en/definition", about=str(number)) for number in range(9)]
    few = [draft(f"When was thing {number} built?", how="en/built-on", about=str(number)) for number in range(2)]
    order = in_turns(many + few, seed=0)
    assert len(order) == 11
    assert [each.how for each in order[:4]].count("en/built-on") == 2
    assert in_turns(many[::-1] + few, seed=0) == order
    assert in_turns(many + few, seed=1) != order


def test_a_long_document_offers_only_so_many() -> None:
    found = offered([draft(f"What is thing {number}?", about=str(number)) for number in range(99)], seed=0)
    assert len(found) == MOST_FROM_ONE_DOCUMENT
