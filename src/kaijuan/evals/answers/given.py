"""What came of one question, as it is kept while an evaluation runs and shown in its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from kaijuan.answer.results import Status

ANSWERED = frozenset({Status.ANSWERED, Status.PARTIAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """One citation. `exact` says whether its words are the document's at the place it names."""

    document: str
    """Id of the document in the set."""
    text: str
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence of an answer, with the positions of its citations among the answer's quotes."""

    text: str
    quotes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An answer, without what changes from run to run but its time."""

    status: Status
    text: str
    statements: tuple[Statement, ...] = ()
    quotes: tuple[Quote, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: float
    milliseconds: float
    failure: str = ""
    """Code and message of the error that came instead of an answer; such questions are counted and left out."""

    @property
    def answered(self) -> bool:
        """Say whether it answers at all, if only in part."""
        return self.status in ANSWERED and not self.failure

    def cited(self, statement: Statement) -> tuple[str, ...]:
        """Return the texts that a statement cites."""
        return tuple(self.quotes[place].text for place in statement.quotes)


_ROWS = TypeAdapter(Given)


def as_row(given: Given) -> dict[str, Any]:
    """Return an answer as JSON has it."""
    row: dict[str, Any] = _ROWS.dump_python(given, mode="json")
    return row


def from_row(row: object) -> Given:
    """Return the answer that `as_row` wrote; ValueError where it is something else."""
    return _ROWS.validate_python(row, strict=False)
