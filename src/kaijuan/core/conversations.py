"""Conversations: raw turns, what is remembered of them in short, and facts that were pinned (spec I9).

They are kept apart from documents. What is said in them is never evidence, and what an answer rested on is asked about
again before it is shown: rights may have been taken away since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kaijuan.core.ids import DocumentId, KbId


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question and its answer."""

    number: int
    """Counts from 1 within its conversation."""
    at: float
    question: str
    """As it was asked."""
    standalone: str
    """As it was searched for: with what it left unsaid."""
    status: str
    answer: str
    documents: tuple[DocumentId, ...] = ()
    """What the answer cites: it is shown only to who may read all of them."""
    titles: tuple[str, ...] = ()
    trace_id: str = ""
    body: Mapping[str, object] = field(default_factory=dict)
    """The whole answer as data."""
    withheld: bool = False
    """Something that it cites may no longer be read: all but the question is blank."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation of one reader with one knowledge base. `name` is unique for a reader."""

    id: str
    kb_id: KbId
    owner: str
    """Who it belongs to; nobody else sees it."""
    name: str
    created_at: float
    updated_at: float
    turns: int = 0
    summary: str = ""
    """What the turns up to `summed` say in short."""
    summed: int = 0
    summary_documents: tuple[DocumentId, ...] = ()
    """What the summary rests on: it is used only by who may read all of them."""
    facts: tuple[str, ...] = ()
    """What the reader pinned: who asks, what is meant by a word. Never evidence."""
