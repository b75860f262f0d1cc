"""English sentences and the questions that rules make of them."""

from __future__ import annotations

import pytest
from tests.unit.evals.making.documents_made import article, asked, drafts, manual

from kaijuan.evals.making.drafting import article_of
from kaijuan.evals.making.facts import Sort

FILM = (
    "The Silent Lighthouse is a 1931 German drama film directed by Erika Sandmann and starring Paul "
    "Weiss and Lena Brandt. "
    "It was released on 4 March 1931 by Nordfilm. The music was composed by Otto Klein."
)
PERSON = (
    "Erika Sandmann (12 May 1890 – 3 June 1961) was a German film director. She was born in Bremen, Germany. "
    "In 1925, she joined the Nordfilm studio in Hamburg. She was the Director of the Bremen Film Academy "
    "from 1946 to 1952."
)


def test_an_article_about_a_work() -> None:
    questions = asked(article("The Silent Lighthouse", FILM))
    assert questions["Who directed The Silent Lighthouse?"] == ("Erika Sandmann",)
    assert questions["Who starred in The Silent Lighthouse?"] == ("Paul Weiss and Lena Brandt",)
    assert questions["When was The Silent Lighthouse released?"] == ("4 March 1931",)


def test_an_article_about_a_person() -> None:
    questions = asked(article("Erika Sandmann", PERSON))
    assert questions["When was Erika Sandmann born?"] == ("12 May 1890",)
    assert questions["When did Erika Sandmann die?"] == ("3 June 1961",)
    assert questions["Where was Erika Sandmann born?"] == ("Bremen, Germany",)
    assert questions["Who is Erika Sandmann?"] == ("a German film director",)
    assert questions["What did Erika Sandmann join in 1925?"] == ("the Nordfilm studio in Hamburg",)
    assert questions["Which position did Erika Sandmann hold from 1946 to 1952?"] == (
        "Director of the Bremen Film Academy",
    )


def test_the_sort_of_a_topic_is_read_from_the_first_sentence() -> None:
    film, person = article_of(article("The Silent Lighthouse", FILM)), article_of(article("Erika Sandmann", PERSON))
    assert film is not None
    assert (film.topic.sort, film.topic.noun) == (Sort.WORK, "film")
    assert person is not None
    assert person.topic.sort is Sort.PERSON


@pytest.mark.parametrize(
    "text",
    [
        "It is a long river in the north. It was named in 1901.",  # does not begin with its title
        "Among the islands, Vella may refer to: a village, a lake.",
        "",
    ],
)
def test_what_is_no_article_has_no_facts(text: str) -> None:
    assert article_of(article("Vella", text or "—")) is None


def test_a_fact_about_something_else_is_not_taken_for_the_topic_s() -> None:
    text = "Nightfall is a novel. It is a sequel to a play of the same name directed by Jo Stone."
    assert "Who directed Nightfall?" not in asked(article("Nightfall", text))


MANUAL = """# Harbour Staff Handbook

## Working time

The probation period is four months for new captains, and two months for others.

Captains receive 28 days of leave a year.

Lost keys must be reported to the harbour office within 12 hours.

Night shifts must be approved by the duty manager.

## Codes

Signal BX-204 means that the lock is closed.

If the radio fails, call the tower on channel 9 at once.

The mooring fee is 45 euros a night.

It must be paid within 3 days.
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how long is the probation period for new captains?", "four months"),
        ("how many days of leave do captains receive a year?", "28 days of leave"),
        ("within how many hours must Lost keys be reported to the harbour office?", "within 12 hours"),
        ("what does Signal BX-204 mean?", "the lock is closed"),
        ("what should be done if the radio fails?", "call the tower on channel 9 at once"),
        ("how much is the mooring fee a night?", "45 euros"),
    ],
)
def test_a_manual_s_sentences(question: str, answer: str) -> None:
    questions = asked(manual(MANUAL))
    whole = next(each for each in questions if each.casefold().endswith(question.casefold()))
    assert whole.startswith("According to the Harbour Staff Handbook, ")
    assert questions[whole] == (answer,)


def test_a_sentence_that_points_at_another_gives_no_question() -> None:
    assert not [question for question in asked(manual(MANUAL)) if "paid" in question]


def test_the_evidence_is_the_sentence_to_the_letter() -> None:
    for draft in drafts(manual(MANUAL)):
        for piece in draft.evidence:
            assert piece.quote
            assert len(piece.quote) == len(piece.span)
