"""Citation recall and precision as ALCE defines them (Gao et al., EMNLP 2023), by any judge.

A statement is recalled if its citations together carry it. A citation is precise if its statement is recalled and it is
not idle: it is idle if it does not carry the statement by itself and the others carry it without it. Both are taken for
an answer and then averaged over answers. Only full support counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kaijuan.evals.answers.given import Given, Statement
from kaijuan.evals.answers.items import Item
from kaijuan.evals.answers.ports import Grade, Judge
from kaijuan.evals.answers.support import Support, support


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """How an answer's citations hold. Shares are None where nothing could be told."""

    recall: float | None
    precision: float | None
    supports: tuple[Support, ...]
    """Of each statement, told by rule."""
    judged: Counter[str] = field(default_factory=Counter)
    """Rulings by grade; those without one by "undecided", or by the word of their failure."""

    @property
    def faithful(self) -> int:
        """Return how many statements their cited words carry, told by rule."""
        return sum(one is not Support.NONE for one in self.supports)

    @property
    def verbatim(self) -> int:
        """Return how many statements stand in their cited words word for word."""
        return sum(one is Support.VERBATIM for one in self.supports)


async def examine(item: Item, given: Given, judge: Judge) -> Cited:
    """Return how the citations of an answer hold; statements and citations that could not be judged are left out."""
    judged: Counter[str] = Counter()
    recalled: list[bool] = []
    precise: list[bool | None] = []
    for statement in given.statements:
        cited = given.cited(statement)
        whole = await _carries(judge, item, statement, cited, judged)
        if whole is None:
            continue
        recalled.append(whole)
        places = range(len(cited))
        precise += [whole and await _works(judge, item, statement, cited, place, judged) for place in places]
    uncited = bool(recalled) and not precise
    return Cited(
        recall=_share(recalled),
        precision=0.0 if uncited else _share([one for one in precise if one is not None]),
        supports=tuple(support(statement.text, given.cited(statement)) for statement in given.statements),
        judged=judged,
    )


def cited_relevant(item: Item, given: Given) -> float | None:
    """Return the share of the relevant documents that are cited: recall against what the set knows to be relevant."""
    if not item.relevant:
        return None
    return len(item.relevant & {quote.document for quote in given.quotes}) / len(item.relevant)


def relevant_cited(item: Item, given: Given) -> float | None:
    """Return the share of the cited documents that are known to be relevant."""
    documents = {quote.document for quote in given.quotes}
    return len(item.relevant & documents) / len(documents) if item.relevant and documents else None


async def _works(
    judge: Judge, item: Item, statement: Statement, cited: Sequence[str], place: int, judged: Counter[str]
) -> bool | None:
    """Say whether one citation of a recalled statement is not idle."""
    others = [*cited[:place], *cited[place + 1 :]]
    if not others:
        return True
    alone = await _carries(judge, item, statement, [cited[place]], judged)
    if alone or alone is None:
        return alone
    without = await _carries(judge, item, statement, others, judged)
    return None if without is None else not without


async def _carries(
    judge: Judge, item: Item, statement: Statement, cited: Sequence[str], judged: Counter[str]
) -> bool | None:
    ruling = await judge.carried(item.question, statement.text, cited)
    judged[ruling.failure or ruling.grade or "undecided"] += 1
    return None if ruling.grade is None else ruling.grade is Grade.FULL


def _share(found: Sequence[bool]) -> float | None:
    return sum(found) / len(found) if found else None
