"""A judge whose rulings are kept as they come, so that a run that was stopped does not ask for them again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from kaijuan.core.ids import stable_id
from kaijuan.evals.answers.items import Groups
from kaijuan.evals.answers.ports import Grade, Judge, Ruling
from kaijuan.evals.journal import Journal


class RememberedJudge:
    """Wraps a judge. Rulings without a grade are not kept: the next run asks for them once more."""

    def __init__(self, inner: Judge, journal: Journal) -> None:
        self._inner = inner
        self._journal = journal

    @property
    def name(self) -> str:
        """Return the inner judge's name."""
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        """Return the inner judge's fingerprint."""
        return self._inner.fingerprint

    async def correct(self, question: str, answer: str, gold: Groups) -> Ruling:
        """Rule as the inner judge does or did."""
        return await self._once(
            ("correct", question, answer, *map(repr, gold)), lambda: self._inner.correct(question, answer, gold)
        )

    async def carried(self, question: str, statement: str, cited: Sequence[str]) -> Ruling:
        """Rule as the inner judge does or did."""
        return await self._once(
            ("carried", question, statement, *cited), lambda: self._inner.carried(question, statement, cited)
        )

    async def close(self) -> None:
        """Close the inner judge."""
        await self._inner.close()

    async def _once(self, asked: tuple[str, ...], rule: Callable[[], Awaitable[Ruling]]) -> Ruling:
        id = stable_id("ruling", self.fingerprint, *asked)
        row = self._journal.rows.get(id)
        if row is not None:
            return Ruling(grade=Grade(row["grade"]), reason=row["reason"])
        ruling = await rule()
        if ruling.grade is not None:
            self._journal.add(id, {"grade": ruling.grade, "reason": ruling.reason})
        return ruling
