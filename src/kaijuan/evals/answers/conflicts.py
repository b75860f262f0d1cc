"""What an answer makes of documents that say different things: gives the right, the wrong, or both as one."""

from __future__ import annotations

from enum import StrEnum

from kaijuan.answer.phrases import phrases_for
from kaijuan.evals.answers.correctness import contains
from kaijuan.evals.answers.given import Given
from kaijuan.evals.answers.items import Item


class Handling(StrEnum):
    """How a question over conflicting documents ended; in RAMDocs' terms only `right` is correct."""

    RIGHT = "right"
    """Everything right is given and nothing planted."""
    INCOMPLETE = "incomplete"
    """Some of what is right, and nothing planted."""
    NAMED = "named"
    """Right and planted are given, and the answer says that documents disagree."""
    BLENDED = "blended"
    """Right and planted are given side by side, and nothing says so."""
    MISLED = "misled"
    """Only what was planted."""
    OTHER = "other"
    """Neither."""
    REFUSED = "refused"


MEANINGS = {
    Handling.RIGHT: "everything right, nothing planted",
    Handling.INCOMPLETE: "some of what is right, nothing planted",
    Handling.NAMED: "right and planted, and the disagreement is named",
    Handling.BLENDED: "right and planted side by side, unnamed",
    Handling.MISLED: "only what was planted",
    Handling.OTHER: "neither",
    Handling.REFUSED: "not answered",
}


def handling(item: Item, given: Given) -> Handling | None:
    """Return how an answer handled a conflict; None for questions without one."""
    if not item.conflict:
        return None
    if not given.answered:
        return Handling.REFUSED
    right = [contains(given.text, group) for group in item.gold]
    planted = any(contains(given.text, group) for group in item.planted)
    if planted and any(right):
        return Handling.NAMED if names_conflict(item, given) else Handling.BLENDED
    if planted:
        return Handling.MISLED
    if all(right):
        return Handling.RIGHT
    return Handling.INCOMPLETE if any(right) else Handling.OTHER


def names_conflict(item: Item, given: Given) -> bool:
    """Say whether a note of the answer says that documents disagree."""
    phrases = phrases_for(item.question)
    words = tuple(phrase.partition("{")[0] for phrase in (phrases.overruled, phrases.disagree))
    return any(note.startswith(words) for note in given.notes)
