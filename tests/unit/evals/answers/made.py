"""Questions and answers put together by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kaijuan.answer.results import Status
from kaijuan.evals.answers.given import Given, Quote, Statement
from kaijuan.evals.answers.items import Expected, Item


def item(**more: Any) -> Item:
    """Return a question with an answer, changed as wished."""
    base: dict[str, Any] = {"id": "q", "question": "Which?", "kind": "answerable", "expected": Expected.ANSWER}
    return Item(**{**base, "gold": (("Paris",),), **more})


def given(
    *statements: tuple[str, Sequence[int]], quotes: Sequence[str] = (), documents: Sequence[str] = (), **more: Any
) -> Given:
    """Return an answer of these statements, each with the positions of the quotes that it cites."""
    names = list(documents) or [f"d{at}" for at in range(len(quotes))]
    base: dict[str, Any] = {
        "status": Status.ANSWERED if statements else Status.REFUSED,
        "text": " ".join(text for text, _ in statements) or "The knowledge base does not say.",
        "statements": tuple(Statement(text=text, quotes=tuple(places)) for text, places in statements),
        "quotes": tuple(Quote(document=name, text=text, exact=True) for name, text in zip(names, quotes, strict=True)),
        "confidence": 0.9 if statements else 0.1,
        "milliseconds": 10.0,
    }
    return Given(**{**base, **more})
