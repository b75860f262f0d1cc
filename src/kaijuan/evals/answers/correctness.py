"""Whether an answer gives what was expected: exact match, F1, and expected answers contained in it.

Exact match and F1 are those of SQuAD (Rajpurkar et al., 2016) for English and of CMRC 2018 (Cui et al., 2019) for
Chinese, whose F1 counts the longest run of tokens in common. Recall of the expected tokens goes with human judgement of
long answers better than F1 does (Adlakha et al., TACL 2024). An expected number or date is compared by value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean

from kaijuan.core.text.language import language_of
from kaijuan.core.text.values import amount_of, day_of, says_amount, says_day
from kaijuan.evals.answers.items import Groups
from kaijuan.evals.answers.normalise import plain, tokens, words

SHORT = 25
"""Tokens of the longest expected answer that is looked for word by word; a longer one is said in other words."""
_UNSPACED_LANGUAGES = frozenset({"zh", "ja"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Correctness:
    """How an answer compares with what was expected; all shares are between 0 and 1."""

    exact: bool
    f1: float
    recall: float
    """Share of the expected tokens that the answer has."""
    given: float | None
    """Share of the expected things that the answer contains; None where one of them is long."""

    @property
    def hit(self) -> bool | None:
        """Say whether everything expected is contained; None where that cannot be told by words."""
        return None if self.given is None else self.given == 1.0


def compare(answer: str, gold: Groups) -> Correctness:
    """Compare an answer with what was expected: `gold` must not be empty. An empty answer gives nothing."""
    best = [max(group, key=lambda one: f1(answer, one)) for group in gold]
    whole = best[0] if len(best) == 1 else " ".join(best)
    return Correctness(
        exact=all(any(exact(answer, one) for one in group) for group in gold)
        if len(gold) == 1
        else exact(answer, whole),
        f1=f1(answer, whole),
        recall=recall(answer, whole),
        given=fmean(contains(answer, group) for group in gold) if is_short(gold) else None,
    )


def is_short(gold: Groups) -> bool:
    """Say whether every expected thing can be looked for word by word, in at least one of its spellings."""
    return bool(gold) and all(any(len(tokens(one)) <= SHORT for one in group) for group in gold)


def exact(answer: str, gold: str) -> bool:
    """Say whether two answers are the same: in one spelling, as amounts, or as dates."""
    if plain(answer) == plain(gold):
        return bool(plain(gold)) or answer.strip() == gold.strip()
    wanted, given = amount_of(gold), amount_of(answer)
    if wanted is not None and given is not None:
        return wanted.is_said_by(given)
    day, told = day_of(gold), day_of(answer)
    return day is not None and told is not None and day.is_said_by(told)


def f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of precision and recall of tokens; of the longest common run in Chinese."""
    if exact(answer, gold):
        return 1.0
    left, right = tokens(answer), tokens(gold)
    shared = _run(left, right) if language_of(gold) in _UNSPACED_LANGUAGES else _overlap(left, right)
    return 2 * shared / (len(left) + len(right)) if shared else 0.0


def recall(answer: str, gold: str) -> float:
    """Return the share of the tokens of `gold` that the answer has, each as often as it has it."""
    if exact(answer, gold):
        return 1.0
    right = tokens(gold)
    return _overlap(tokens(answer), right) / len(right) if right else 0.0


def contains(answer: str, alternatives: Sequence[str]) -> bool:
    """Say whether an answer contains one of the ways to write an expected answer."""
    return any(_contains(answer, one) for one in alternatives)


def _contains(answer: str, gold: str) -> bool:
    wanted = words(gold)
    if (amount := amount_of(gold)) is not None and says_amount(answer, amount):
        return True
    if (day := day_of(gold)) is not None and says_day(answer, day):
        return True
    # A bare number would also be found in a date, or counting something else.
    bare = len(wanted) == 1 and amount is not None
    return bool(wanted) and not bare and has_run(words(answer), wanted)


def has_run(text: Sequence[str], wanted: Sequence[str]) -> bool:
    """Say whether tokens stand in a text one after the other."""
    size = len(wanted)
    return any(tuple(text[at : at + size]) == tuple(wanted) for at in range(len(text) - size + 1))


def _overlap(left: Sequence[str], right: Sequence[str]) -> int:
    return (Counter(left) & Counter(right)).total()


def _run(left: Sequence[str], right: Sequence[str]) -> int:
    return SequenceMatcher(None, left, right, autojunk=False).find_longest_match().size
