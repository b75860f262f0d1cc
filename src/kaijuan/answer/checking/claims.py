"""What is checked and what comes of it: a claim, the words it cites, and what is wrong with it (spec I3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What the cited words do not carry."""

    NUMBER = "number"
    DATE = "date"
    UNIT = "unit"
    NAME = "name"
    """A name that the evidence lacks, or two of its names in each other's place."""
    NEGATION = "negation"
    COMPARISON = "comparison"
    """More for less, before for after, most for least."""
    ENTAILMENT = "entailment"
    """Nothing exact is wrong, but the evidence does not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement with the texts it cites: quotes, best with the title and heading they stand below."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong. `detail` are the claim's words, `said` what the evidence has in their place, if anything."""

    kind: FaultKind
    detail: str
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the evidence carries a claim. `score` is an estimated probability, 0 to 1; a fault settles it."""

    supported: bool
    score: float
    faults: tuple[Fault, ...] = ()
