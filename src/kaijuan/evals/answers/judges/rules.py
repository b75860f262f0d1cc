"""The judge without a model: what is expected is contained, and what is said is quoted. It abstains on long answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from kaijuan.config import EvalSettings
from kaijuan.evals.answers.correctness import Correctness, compare
from kaijuan.evals.answers.items import Groups
from kaijuan.evals.answers.ports import Grade, Ruling
from kaijuan.evals.answers.support import Support, support


def graded(found: Correctness) -> Grade | None:
    """Return how right an answer is by what it contains; None where that cannot be told by words."""
    if found.exact or found.hit:
        return Grade.FULL
    if found.given is None:
        return None
    return Grade.PART if found.given else Grade.NONE


class RuleJudge:
    """Rules by words and values alone; deterministic."""

    name = "rules"
    fingerprint = "rules-1"

    @classmethod
    def from_settings(cls, settings: EvalSettings) -> Self:  # noqa: ARG003 - needs no settings
        """Return the judge."""
        return cls()

    async def correct(self, question: str, answer: str, gold: Groups) -> Ruling:  # noqa: ARG002
        """Rule by what the answer contains. Long expected answers are said in other words: no ruling."""
        found = compare(answer, gold)
        grade = graded(found)
        if grade is None:
            return Ruling(grade=None, reason="the expected answer is too long to be looked for word by word")
        return Ruling(grade=grade, reason="exact match" if found.exact else f"{found.given:.0%} contained")

    async def carried(self, question: str, statement: str, cited: Sequence[str]) -> Ruling:  # noqa: ARG002
        """Rule by words, numbers and names."""
        found = support(statement, cited)
        return Ruling(grade=Grade.NONE if found is Support.NONE else Grade.FULL, reason=str(found))

    async def close(self) -> None:
        """Nothing is held."""
