"""What answering returns: sentences, the citations they carry, and what could not be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kaijuan.core.citations import Citation


class Status(StrEnum):
    """How an answer ended (spec I4)."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    """Something asked for is missing; `notes` say what."""
    REFUSED = "refused"
    """The documents do not say."""
    CLARIFY = "clarify"
    """The question cannot be told; `answer` asks back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSentence:
    """One statement in the documents' own words. `citations` are ids of this answer's citations, at least one."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The reply to one question. A refusal and a question back have no sentences."""

    question: str
    status: Status
    answer: str
    sentences: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    confidence: float = 0.0
    """Estimated probability, 0 to 1, that the evidence suffices."""
    snapshot: int
    model: str = "extractive"
    trace_id: str
    timings_ms: Mapping[str, float] = field(default_factory=dict)
