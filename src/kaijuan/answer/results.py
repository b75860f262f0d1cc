"""What answering returns: sentences, the citations they carry, and what could not be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kaijuan.answer.checking.claims import Fault
from kaijuan.answer.notes import Note
from kaijuan.core.chat import NOTHING, Usage
from kaijuan.core.citations import Citation
from kaijuan.retrieve.understanding.results import Clarification


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
    """One statement. `citations` are ids of this answer's citations, at least one."""

    text: str
    citations: tuple[str, ...]
    support: float | None = None
    """Estimated probability, 0 to 1, that the cited words carry it; None where that was not checked."""
    faults: tuple[Fault, ...] = ()
    """What its cited words do not carry, where it is shown all the same."""


class Strategy(StrEnum):
    """How a further search looked where the first one did not find enough."""

    PARTS = "parts"
    """For each missing part of the question by itself."""
    WITHOUT_READ_FILTERS = "without read filters"
    """Passing over the filters that were read from the question."""
    OTHER_LANGUAGES = "other languages"
    """Only in documents in another language than the question's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One further search, and whether the answer rests on what it found."""

    strategy: Strategy
    helped: bool
    milliseconds: float


class StructuredStatus(StrEnum):
    """What came of an object of a form that the asker gave (spec I5)."""

    FITS = "fits"
    REPAIRED = "repaired"
    """It fits since the model was told what was wrong."""
    UNFIT = "unfit"
    """Neither reply of the model was an object of this form; `fault` says why."""
    FAILED = "failed"
    """The model failed; `fault` has the code of its error."""
    UNANSWERED = "unanswered"
    """There is no answer to make an object of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured:
    """An answer as an object. `data` is None unless it fits the form that was asked for."""

    status: StructuredStatus
    data: object | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The reply to one question. A refusal and a question back have no sentences."""

    question: str
    status: Status
    answer: str
    sentences: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
    """The words of `remarks`, for people."""
    remarks: tuple[Note, ...] = ()
    """What must be said beside the answer, by kind and with the citations it speaks of."""
    missing_parts: tuple[str, ...] = ()
    """Of several questions asked at once, or a single one: those that the documents do not answer."""
    rounds: tuple[Round, ...] = ()
    """Further searches that were made because the first did not find enough."""
    confidence: float = 0.0
    """Estimated probability, 0 to 1, that the evidence suffices."""
    snapshot: int
    model: str = "extractive"
    usage: Usage = NOTHING
    """What was asked of language models for it; nothing without one."""
    fallback: str = ""
    """Code of the error for which a configured model did not write this answer, "unsupported" where nothing that it
    wrote was carried by the documents; "" otherwise."""
    structured: Structured | None = None
    """The answer in a form that the asker gave; None where none was given."""
    clarification: Clarification | None = None
    """What the asker must say first, with choices; set where `status` is clarify and the documents offer any."""
    cache: str = ""
    """"hit" or "similar" where it was kept from an earlier request, "shared" with one under way, "miss", or "" without
    a cache."""
    trace_id: str
    timings_ms: Mapping[str, float] = field(default_factory=dict)
