"""Citation recall and precision of ALCE, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.unit.evals.answers.made import given, item

from kaijuan.evals.answers.citations import cited_relevant, examine, relevant_cited
from kaijuan.evals.answers.items import Groups
from kaijuan.evals.answers.judges.rules import RuleJudge
from kaijuan.evals.answers.ports import Grade, Ruling
from kaijuan.evals.answers.support import Support

ROW, HEADER, STRANGE = "2019 | 44.1", "Year | Sales", "The cat sat on the mat."


async def test_quotations_are_recalled_and_precise() -> None:
    found = await examine(
        item(),
        given(("Paris is old.", [0]), ("Rome is older.", [1]), quotes=["Paris is old.", "Rome is older."]),
        RuleJudge(),
    )
    assert (found.recall, found.precision, found.faithful, found.verbatim) == (1.0, 1.0, 2, 2)


async def test_a_statement_that_its_citation_does_not_carry() -> None:
    answer = given(("Paris is old.", [0]), ("Rome is older.", [0]), ("Bern is nice.", []), quotes=["Paris is old."])
    found = await examine(item(), answer, RuleJudge())
    assert found.recall == pytest.approx(1 / 3)
    assert found.precision == pytest.approx(1 / 2)  # one citation of two; the third statement has none
    assert found.supports == (Support.VERBATIM, Support.NONE, Support.NONE)


async def test_two_citations_that_only_carry_together_are_both_precise() -> None:
    found = await examine(item(), given(("Year: 2019; Sales: 44.1", [0, 1]), quotes=[ROW, HEADER]), RuleJudge())
    assert (found.recall, found.precision) == (1.0, 1.0)


async def test_an_idle_citation_costs_precision() -> None:
    found = await examine(item(), given(("Paris is old.", [0, 1]), quotes=["Paris is old.", STRANGE]), RuleJudge())
    assert (found.recall, found.precision) == (1.0, 0.5)


async def test_two_citations_that_each_carry_are_precise() -> None:
    found = await examine(
        item(), given(("Paris is old.", [0, 1]), quotes=["Paris is old.", "Yes, Paris is old."]), RuleJudge()
    )
    assert (found.recall, found.precision) == (1.0, 1.0)


class _Moody:
    """Fails on every statement that holds a word."""

    name = fingerprint = "moody"

    async def correct(self, question: str, answer: str, gold: Groups) -> Ruling:
        return Ruling(grade=None, failure="timeout")

    async def carried(self, question: str, statement: str, cited: Sequence[str]) -> Ruling:
        if "Rome" in statement:
            return Ruling(grade=None, failure="timeout")
        return Ruling(grade=Grade.PART if "part" in statement else Grade.FULL)

    async def close(self) -> None: ...


async def test_what_a_judge_could_not_tell_counts_nowhere_and_is_counted() -> None:
    answer = given(("Paris is old.", [0]), ("Rome is older.", [0]), ("In part.", [0]), quotes=["x"])
    found = await examine(item(), answer, _Moody())
    assert (found.recall, found.precision) == (0.5, 0.5)
    assert found.judged == {"full": 1, "part": 1, "timeout": 1}
    nothing = await examine(item(), given(("Rome is older.", [0]), quotes=["x"]), _Moody())
    assert (nothing.recall, nothing.precision) == (None, None)


class _SureOfAllOnly(_Moody):
    """Rules on all citations of a statement together, and fails on each alone."""

    async def carried(self, question: str, statement: str, cited: Sequence[str]) -> Ruling:
        return Ruling(grade=Grade.FULL) if len(cited) > 1 else Ruling(grade=None, failure="timeout")


async def test_precision_is_not_nought_where_it_could_not_be_told() -> None:
    found = await examine(item(), given(("Paris is old.", [0, 1]), quotes=["x", "y"]), _SureOfAllOnly())
    assert (found.recall, found.precision) == (1.0, None)


async def test_without_citations_precision_is_nought() -> None:
    found = await examine(item(), given(("Paris is old.", [])), RuleJudge())
    assert (found.recall, found.precision) == (0.0, 0.0)


def test_against_the_relevant_documents() -> None:
    answer = given(("a", [0, 1]), quotes=["a", "b"], documents=["d1", "d9"])
    asked = item(relevant=frozenset({"d1", "d2"}))
    assert cited_relevant(asked, answer) == 0.5
    assert relevant_cited(asked, answer) == 0.5
    assert cited_relevant(item(), answer) is None
    assert relevant_cited(asked, given()) is None
