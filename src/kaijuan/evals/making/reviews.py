"""Who said what about which question, and when: reviews.jsonl, only ever appended to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from kaijuan.errors import EvalDataError, NotFoundError, StoreError, UsageError
from kaijuan.evals.making.items import Item

REVIEWS = "reviews.jsonl"


class Action(StrEnum):
    """What a person does with a question."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    """Change its words; whoever mends a question wants it, so it is approved with that."""


class Status(StrEnum):
    """Where a question stands after its reviews."""

    OPEN = ""
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One line. `question` and `answers` are set by an edit alone."""

    at: str
    """UTC, ISO 8601."""
    by: str
    item: str
    action: Action
    note: str = ""
    question: str | None = None
    answers: tuple[str, ...] | None = None


def read_reviews(root: Path) -> list[Review]:
    """Return all reviews of a set, oldest first; EvalDataError names a line that cannot be read."""
    path = root / REVIEWS
    if not path.exists():
        return []
    found: list[Review] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if line.strip():
            found.append(_read(line, path, number))
    return found


def _read(line: str, path: Path, number: int) -> Review:
    try:
        row: dict[str, Any] = json.loads(line)
        answers = row.get("answers")
        return Review(
            at=str(row["at"]),
            by=str(row["by"]),
            item=str(row["item"]),
            action=Action(row["action"]),
            note=str(row.get("note", "")),
            question=row.get("question"),
            answers=None if answers is None else tuple(map(str, answers)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvalDataError(
            f"Line {number} of {path} is no review: {error}.", hint="Mend or remove that line; the others are kept."
        ) from error


def append(root: Path, reviews: Sequence[Review]) -> None:
    """Write reviews at the end of the file, each a line, and make sure that they are on the disk."""
    lines = "".join(json.dumps(_row(review), ensure_ascii=False) + "\n" for review in reviews)
    path = root / REVIEWS
    try:
        torn = path.exists() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write(("\n" if torn else "") + lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}.") from error


def _row(review: Review) -> Mapping[str, Any]:
    row: dict[str, Any] = {"at": review.at, "by": review.by, "item": review.item, "action": str(review.action)}
    if review.note:
        row["note"] = review.note
    if review.question is not None:
        row["question"] = review.question
    if review.answers is not None:
        row["answers"] = list(review.answers)
    return row


def moment(seconds: float) -> str:
    """Return a time in seconds since 1970 as ISO 8601, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def reviewed(items: Iterable[Item], reviews: Iterable[Review]) -> list[Item]:
    """Return the items with their last verdicts and all edits."""
    changed: dict[str, list[Review]] = {}
    for review in reviews:
        changed.setdefault(review.item, []).append(review)
    return [_with(item, changed.get(item.id, [])) for item in items]


def _with(item: Item, reviews: Sequence[Review]) -> Item:
    for review in reviews:
        if review.action is Action.REJECT:
            item = replace(item, status=Status.REJECTED)
            continue
        item = replace(item, status=Status.APPROVED)
        if review.question is not None:
            item = replace(item, question=review.question)
        if review.answers is not None:
            item = replace(item, answers=review.answers, parts=())
    return item


def check_edit(item: Item, question: str | None, answers: Sequence[str] | None) -> None:
    """Refuse edits that leave a question without words, or give an answer to what cannot be answered."""
    if question is None and answers is None:
        raise UsageError("Nothing was changed.", hint="Give --question, --answer, or both.")
    if question is not None and not question.strip():
        raise UsageError("A question cannot be blank.", hint="Reject it instead.")
    if answers is not None and any(not answer.strip() for answer in answers):
        raise UsageError("An answer cannot be blank.", hint="Leave --answer out to keep the present one.")
    if answers and not item.answerable:
        raise UsageError(
            f"Question {item.id} is one that the documents do not answer.",
            hint="Reject it when they do; a new one will be made in its place.",
        )


def find(items: Sequence[Item], word: str) -> Item:
    """Return the item whose id is, or begins with, `word` (4 characters or more)."""
    found = [item for item in items if item.id == word or (len(word) >= 4 and item.id.startswith(word))]
    if not found:
        raise NotFoundError(f"The set has no question {word!r}.", hint="`kaijuan eval review DIR list` shows the ids.")
    if len(found) > 1:
        raise UsageError(f"{word!r} could be {len(found)} questions.", hint="Give the whole id.")
    return found[0]
