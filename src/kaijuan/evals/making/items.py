"""The nouns of making a set: what is asked, what the answer is, and the exact words that hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kaijuan.core.ids import stable_id
from kaijuan.core.spans import Span

ID_CHARACTERS = 12
"""Hexadecimal characters of an item's id: 48 bits, enough for millions of items without a collision."""


class Kind(StrEnum):
    """What a question needs: one passage, several, none that exists, a moment in time, or a cell of a table."""

    SINGLE = "single"
    MULTI = "multi"
    UNANSWERABLE = "unanswerable"
    TIME = "time"
    TABLE = "table"


class Split(StrEnum):
    """Which part of a set a document, and so every question about it, belongs to."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What is known of a document without its text."""

    id: str
    """In the set's corpus."""
    source: str
    version_id: str
    version: int
    title: str
    language: str
    split: Split = Split.TRAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Exact characters of one version of a document: `quote` is its text at `span`."""

    document: Head
    span: Span
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question as it was made, before anything was checked.

    `evidence` holds the answer; of an unanswerable question it is the fact from which it was turned away. `absent` are
    words that no document may hold together, else the question could be answered after all.
    """

    kind: Kind
    how: str
    """Which rule, or which model, made it."""
    language: str
    question: str
    answers: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    parts: tuple[str, ...] = ()
    """What the answer gives, each by itself, where the question asks for several things."""
    about: str = ""
    """What is asked about. A set does not ask about one thing over and over."""
    as_of: str = ""
    """The moment for which the answer holds, as the question says it."""
    absent: Absence | None = None
    prompt: str = ""
    """Fingerprint of the prompts, where a model made it."""

    @property
    def id(self) -> str:
        """Return the id: the same question about the same words has the same, in every set and on every machine."""
        places = [f"{piece.document.id}\0{piece.quote}" for piece in self.evidence]
        return stable_id("question", self.kind, self.question, *self.answers, *places)[:ID_CHARACTERS]

    @property
    def split(self) -> Split:
        """Return the split of its documents, which are all in one."""
        return self.evidence[0].document.split


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """What must not be in the base: `phrases` nowhere, `words` in no document that mentions `subject`."""

    phrases: tuple[str, ...] = ()
    subject: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question that passed the checks: one line of items.jsonl."""

    id: str
    kind: Kind
    split: Split
    language: str
    question: str
    answers: tuple[str, ...]
    evidence: tuple[Mapping[str, Any], ...]
    how: str
    as_of: str = ""
    parts: tuple[str, ...] = ()
    """What the answer gives, each by itself, where the question asks for several things."""
    also: tuple[str, ...] = ()
    """Other documents that say the same, by their ids in the corpus."""
    since: int = 1
    """Version of the set that it came with."""
    status: str = ""
    """What the last review said: "", "approved", "rejected"."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answerable(self) -> bool:
        """Say whether the documents hold the answer."""
        return self.kind is not Kind.UNANSWERABLE
