"""What was understood of a question, as lines of a stored trace for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_FINE = frozenset({"ok", "off"})


def lines(understanding: Mapping[str, Any]) -> Iterator[str]:
    """Yield the other wordings that were searched, why a model was or was not asked, and every step that failed."""
    kinds = ", ".join(map(str, understanding.get("kinds", ())))
    if kinds:
        yield f"kind: {kinds}"
    if routing := understanding.get("routing"):
        yield f"other words: {routing}"
    for variant in understanding.get("variants", ()):
        yield f"  {variant.get('kind', '')}: {' '.join(str(variant.get('text', '')).split())}"
    for step in understanding.get("steps", ()):
        state, dropped = str(step.get("state", "")), int(step.get("dropped", 0))
        if state not in _FINE or dropped:
            unusable = f", {dropped} unusable" if dropped else ""
            yield f"step {step.get('name', '')}: {state}{unusable}"
