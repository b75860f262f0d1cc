"""Two parts of a set's questions: one to choose settings on, one held out to report on. No question is in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kaijuan.core.ids import stable_id
from kaijuan.core.text.normalise import normalise
from kaijuan.errors import EvalDataError
from kaijuan.evals.sets import EvalSet, Query

FEWEST = 2
"""Questions that each part needs."""


def split(data: EvalSet, questions: Sequence[Query], *, held_out: float, seed: int) -> tuple[EvalSet, EvalSet]:
    """Return the set with the questions to choose on, and with those held out.

    Questions of the same words go to the same part, by a hash of seed and words: the parts are the same on every
    machine. EvalDataError when a part would have fewer than two questions.
    """
    groups: dict[str, list[str]] = {}
    for query in questions:
        groups.setdefault(stable_id("split", seed, normalise(query.text)[0]), []).append(query.id)
    wanted = held_out * len(questions)
    test: set[str] = set()
    for _, ids in sorted(groups.items()):
        if len(test) + len(ids) / 2 > wanted:
            break
        test.update(ids)
    dev = {query.id for query in questions} - test
    if min(len(dev), len(test)) < FEWEST:
        raise EvalDataError(
            f"{data.name} has too few different questions to hold some out: {len(dev)} and {len(test)} would remain.",
            hint="Raise limit, or choose another share for held_out.",
        )
    return _only(data, dev), _only(data, test)


def _only(data: EvalSet, ids: set[str]) -> EvalSet:
    return replace(data, grades={id: judged for id, judged in data.grades.items() if id in ids})
