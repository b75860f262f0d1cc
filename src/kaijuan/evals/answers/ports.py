"""What judging needs from outside: somebody who says whether an answer is right and whether cited words carry it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from kaijuan.evals.answers.items import Groups


class Grade(StrEnum):
    """How right an answer is, or how far cited words carry a statement."""

    FULL = "full"
    PART = "part"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What a judge said. `grade` is None where it could not tell; `failure` says why, if something went wrong.

    A ruling without a grade is counted as such, never as right or wrong.
    """

    grade: Grade | None
    reason: str = ""
    failure: str = ""
    """A word to count by: unreachable, timeout, refused, unreadable, not_asked."""


class Judge(Protocol):
    """Rules on answers. The same question to the same judge gives the same ruling as far as its model allows.

    Failures of a service are rulings without a grade; only what no later call can mend (ModelRefusedError: a wrong key
    or model) is raised.
    """

    @property
    def name(self) -> str:
        """Return what reports call it."""

    @property
    def fingerprint(self) -> str:
        """Return what changes with its rulings: model, prompts, rules."""

    async def correct(self, question: str, answer: str, gold: Groups) -> Ruling:
        """Rule whether an answer, which is not empty, gives what was expected."""

    async def carried(self, question: str, statement: str, cited: Sequence[str]) -> Ruling:
        """Rule whether the cited texts together say what the statement says, given the question it answers."""

    async def close(self) -> None:
        """Release what it holds; twice is fine."""
