"""What an answer tells while it is being made. Every kind of answer, with a model or without, tells it this way.

Order: a rewritten question, statuses and passages first; then tokens, if a model writes, and for each finished sentence
its new citations and the sentence; then notes; the last event holds the whole answer. A status of the phase
"falling_back" takes back all tokens and sentences before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from kaijuan.answer.notes import Note
from kaijuan.answer.results import Answer, AnswerSentence
from kaijuan.core.citations import Citation
from kaijuan.core.ids import ChunkId, DocumentId, VersionId


class Phase(StrEnum):
    """What is being done."""

    SEARCHING = "searching"
    READING = "reading"
    WRITING = "writing"
    CHECKING = "checking"
    REPAIRING = "repairing"
    FALLING_BACK = "falling_back"
    """The model failed; what it had written is void, and the documents' own sentences follow."""


@dataclass(frozen=True, slots=True)
class StatusEvent:
    """A step begins."""

    kind: ClassVar[str] = "status"
    phase: Phase


@dataclass(frozen=True, slots=True)
class QuestionEvent:
    """The question as it is searched for, where it goes on from others and was made to stand by itself."""

    kind: ClassVar[str] = "question"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageEvent:
    """A passage that the answer may rest on, best first."""

    kind: ClassVar[str] = "passage"
    rank: int
    relevance: float
    document_id: DocumentId
    version_id: VersionId
    chunk_id: ChunkId
    source: str
    title: str
    title_path: tuple[str, ...]
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """The next words as the model writes them, without markers and not yet checked."""

    kind: ClassVar[str] = "token"
    text: str


@dataclass(frozen=True, slots=True)
class CitationEvent:
    """A citation that sentences from here on may name."""

    kind: ClassVar[str] = "citation"
    citation: Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceEvent:
    """A finished and checked sentence. `index` counts the sentences as written; a later event of one replaces it.

    `kept` is False for a sentence that its sources do not carry: it is no part of the answer.
    """

    kind: ClassVar[str] = "sentence"
    index: int
    sentence: AnswerSentence
    kept: bool = True


@dataclass(frozen=True, slots=True)
class NoteEvent:
    """Something that must be said beside the answer."""

    kind: ClassVar[str] = "note"
    note: Note


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The end, with the whole answer as `ask` returns it."""

    kind: ClassVar[str] = "done"
    answer: Answer


AnswerEvent = (
    StatusEvent | QuestionEvent | PassageEvent | TokenEvent | CitationEvent | SentenceEvent | NoteEvent | DoneEvent
)
