"""What is asked and what a good answer is: the one form that every answer set is read into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

Groups = tuple[tuple[str, ...], ...]
"""Things that an answer gives, each with the ways to write it: every group, by one of its alternatives."""


class Expected(StrEnum):
    """How a good answer to a question ends."""

    ANSWER = "answer"
    REFUSE = "refuse"
    """The documents do not say."""
    CLARIFY = "clarify"
    """The question cannot be told apart from others: ask back, or at least do not answer."""
    UNKNOWN = "unknown"
    """The set does not say; such questions do not count for refusals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question. `kind` is what it is reported under; ids are unique within a set."""

    id: str
    question: str
    kind: str
    expected: Expected
    gold: Groups = ()
    """What the answer must give; empty where the set has no answer."""
    planted: Groups = ()
    """What it must not give: wrong answers that stand in the documents."""
    among: tuple[str, ...] | None = None
    """The only documents that may be read, by id; None for the whole corpus."""
    without: tuple[str, ...] = ()
    """Documents that may not be read."""
    relevant: frozenset[str] = frozenset()
    """Documents known to hold the answer; empty where the set does not say."""
    conflict: bool = False
    """Whether documents that may be read say different things, so that the answer is judged by how it handles that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSet:
    """Questions and the documents they are asked of.

    `corpus` is a corpus file, whose documents have the ids of its lines, or a folder, whose files have their names.
    `problems` are sentences about what was left out.
    """

    name: str
    items: tuple[Item, ...]
    corpus: Path
    corpus_hash: str
    fingerprint: str
    """SHA-256 over everything that was read: two sets with one fingerprint are the same set."""
    problems: tuple[str, ...] = ()
    labels: Mapping[str, str]
    """What each kind of question tests, in a few words, in the order in which they are shown."""
