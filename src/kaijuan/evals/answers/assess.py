"""One answer measured in every way: right, supported, cited, honest about what is missing or disputed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from kaijuan.evals.answers.citations import Cited, cited_relevant, examine, relevant_cited
from kaijuan.evals.answers.conflicts import Handling, handling
from kaijuan.evals.answers.correctness import Correctness, compare, contains, is_short
from kaijuan.evals.answers.given import Given
from kaijuan.evals.answers.items import Expected, Item
from kaijuan.evals.answers.ports import Grade, Judge, Ruling
from kaijuan.evals.answers.refusal import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What was found about one answer. A part is None where it cannot be measured, and then counts nowhere."""

    item: Item
    given: Given
    correctness: Correctness | None = None
    """Of questions that have an answer; a refusal gives nothing."""
    ruling: Ruling | None = None
    """What the judge said of an answer that was given to a question that has one."""
    telling: float | None = None
    """Share of the answer's statements that contain something expected."""
    cited: Cited | None = None
    cited_relevant: float | None = None
    relevant_cited: float | None = None
    handling: Handling | None = None

    @property
    def right_all_the_same(self) -> bool:
        """Say whether a question that should have been refused got the answer expected elsewhere."""
        return self.item.expected is Expected.REFUSE and self.given.answered and self._contains_gold()

    @property
    def outcome(self) -> Outcome:
        """Return how the question ended, for refusals."""
        return Outcome(
            expected=self.item.expected,
            status=self.given.status,
            confidence=self.given.confidence,
            answered=self.given.answered,
            wrong=self._wrong(),
        )

    def _wrong(self) -> bool | None:
        if not self.given.answered or self.item.expected is Expected.UNKNOWN or self.right_all_the_same:
            return None
        if self.item.expected is not Expected.ANSWER:
            return True
        grade = self.ruling.grade if self.ruling else None
        return None if grade is None else grade is not Grade.FULL

    def _contains_gold(self) -> bool:
        return is_short(self.item.gold) and all(contains(self.given.text, group) for group in self.item.gold)


async def assess(item: Item, given: Given, judge: Judge) -> Assessment:
    """Measure one answer. One that failed is kept with its failure and measured in no way."""
    if given.failure:
        return Assessment(item=item, given=given)
    has_answer = item.expected is Expected.ANSWER and bool(item.gold)
    text = given.text if given.answered else ""
    return Assessment(
        item=item,
        given=given,
        correctness=compare(text, item.gold) if has_answer else None,
        ruling=await judge.correct(item.question, text, item.gold) if has_answer and text.strip() else None,
        telling=_telling(item, given) if has_answer else None,
        cited=await examine(item, given, judge) if given.statements else None,
        cited_relevant=cited_relevant(item, given) if given.answered else None,
        relevant_cited=relevant_cited(item, given),
        handling=handling(item, given),
    )


def _telling(item: Item, given: Given) -> float | None:
    if not given.statements or not is_short(item.gold):
        return None
    return fmean(any(contains(one.text, group) for group in item.gold) for one in given.statements)
