"""Facts: what an article says of the thing it is about, as subject, relation and value.

Only articles give facts: documents whose first sentence begins with their title, so that it is sure what "it" is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from kaijuan.evals.making.material import Statement


class Sort(StrEnum):
    """What an article is about."""

    PERSON = "person"
    WORK = "work"
    """A film, book, song, game, ..."""
    PLACE = "place"
    BODY = "body"
    """A company, school, club, ..."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """What an article is about: `name` as a question calls it, `short` as its sentences do."""

    name: str
    short: str
    sort: Sort
    noun: str
    """The word that says what it is: film, village, 演员."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """One thing that can be said of a topic, and how it is asked. `{x}` is the topic in every question.

    The patterns are searched in what a sentence says after its subject, the topic; the group `v` is the value.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    question: str
    sorts: frozenset[Sort] = frozenset()
    """Sorts of topics that it is said of; none means all."""
    words: tuple[str, ...] = ()
    """Words of which a text that says such a thing has one, for knowing that it is not said."""
    compared: tuple[str, str] | None = None
    """Questions for the smaller and the greater of two: "Who was born first, {a} or {b}?"."""
    noun: str = ""
    """How the value is called through the topic: "the director of {x}"."""
    lead_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A relation that holds, with the sentence that says so."""

    topic: Topic
    relation: Relation
    value: str
    statement: Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question made of one sentence, its answer, and the rule."""

    question: str
    answer: str
    how: str
