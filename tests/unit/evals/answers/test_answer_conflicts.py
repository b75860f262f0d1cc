"""How answers handle documents that disagree."""

from __future__ import annotations

import pytest
from tests.unit.evals.answers.made import given, item

from kaijuan.answer.phrases import phrases_for
from kaijuan.answer.results import Status
from kaijuan.evals.answers.conflicts import Handling, handling

ASKED = item(gold=(("1856",), ("Bishop Rooney",)), planted=(("1900", "nineteen hundred"),), conflict=True)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Established in 1856 by Bishop Rooney.", Handling.RIGHT),
        ("Established in 1856.", Handling.INCOMPLETE),
        ("Established in 1856. It was founded in 1900.", Handling.BLENDED),
        ("It was founded in 1900.", Handling.MISLED),
        ("It is a church.", Handling.OTHER),
    ],
)
def test_handling(text: str, found: Handling) -> None:
    assert handling(ASKED, given((text, [0]), quotes=[text])) is found


def test_refused() -> None:
    assert handling(ASKED, given()) is Handling.REFUSED
    assert handling(ASKED, given(status=Status.CLARIFY)) is Handling.REFUSED


@pytest.mark.parametrize("question", ["When was it built?", "建于哪一年？", "請問建於哪一年？"])
def test_a_note_that_names_the_conflict_in_the_question_s_language(question: str) -> None:
    asked = item(question=question, gold=(("1856",),), planted=(("1900",),), conflict=True)
    note = phrases_for(question).overruled.format(newer="A", older="B", quote="1900")
    assert handling(asked, given(("1856, 1900", []), notes=(note,))) is Handling.NAMED
    assert handling(asked, given(("1856, 1900", []), notes=("something else",))) is Handling.BLENDED


def test_without_a_conflict_nothing_is_said() -> None:
    assert handling(item(), given(("Paris", []))) is None
