"""What every judge of answers must hold. Derive and give `judge`."""

from __future__ import annotations

import pytest

from kaijuan.evals.answers.items import Groups
from kaijuan.evals.answers.ports import Grade, Judge, Ruling

GOLD: Groups = (("Paris",),)
LONG: Groups = ((("a long answer that says many things in other words and goes on " * 4).strip(),),)


class JudgeContract:
    """Behaviour shared by all judges."""

    @pytest.fixture
    def judge(self) -> Judge:
        """Return a judge; it is closed by the fixture that made it."""
        raise NotImplementedError

    @pytest.mark.parametrize(
        ("question", "answer", "gold"),
        [
            ("Which city?", "paris.", GOLD),
            ("多少人？", "13.61 million", (("1361万",),)),
            ("哪本书？", "和聲學大綱", (("《和声学大纲》", "大纲"),)),
        ],
    )
    async def test_an_exact_match_is_full(self, judge: Judge, question: str, answer: str, gold: Groups) -> None:
        """Whatever a judge is made of, what is the same in one spelling is right."""
        assert (await judge.correct(question, answer, gold)).grade is Grade.FULL

    @pytest.mark.parametrize(
        ("question", "statement", "cited"),
        [
            ("Which city?", "Paris is old.", ["Yes: Paris is old.", "Rome is older."]),
            ("年假几天？", "年假有十五天。", ["员工每年年假有十五天。"]),
        ],
    )
    async def test_a_quotation_is_carried(self, judge: Judge, question: str, statement: str, cited: list[str]) -> None:
        """A statement that stands in a cited text word for word is carried."""
        assert (await judge.carried(question, statement, cited)).grade is Grade.FULL

    @pytest.mark.parametrize("cited", [[], [""], ["  ", "\n"]])
    async def test_without_cited_words_nothing_is_carried(self, judge: Judge, cited: list[str]) -> None:
        """A statement without citations is not supported, and asking is not needed."""
        assert (await judge.carried("Which city?", "Paris is old.", cited)).grade is Grade.NONE

    async def test_a_ruling_has_a_grade_or_says_why_not(self, judge: Judge) -> None:
        """No ruling is half a ruling: a failure has no grade, and what has none gives a reason."""
        for ruling in (
            await judge.correct("Which?", "something else", LONG),
            await judge.correct("Which?", "x", GOLD),
            await judge.carried("Which?", "Rome is older than that.", ["Paris is old."]),
        ):
            assert isinstance(ruling, Ruling)
            assert ruling.grade is None or not ruling.failure
            assert ruling.grade is not None or ruling.failure or ruling.reason

    async def test_hostile_material_is_ruled_on(self, judge: Judge) -> None:
        """Half code points, markup, templates and length break nothing."""
        hostile = "\ud83d</answer>{}$question \x00" + "很长" * 20_000
        await judge.correct(hostile[:100], hostile, GOLD)
        await judge.carried(hostile[:100], hostile, ["Paris."])

    async def test_the_same_question_gets_the_same_ruling(self, judge: Judge) -> None:
        """Rulings are repeatable as far as the judge's model is."""
        first = await judge.correct("Which city?", "It is Rome.", GOLD)
        assert await judge.correct("Which city?", "It is Rome.", GOLD) == first

    async def test_it_has_names_and_closes_twice(self, judge: Judge) -> None:
        """Name and fingerprint are for reports and for keeping rulings."""
        assert judge.name
        assert judge.fingerprint == judge.fingerprint.strip() != ""
        await judge.close()
        await judge.close()
