"""Texts that a file holds and does not show, gathered and bounded for the gate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kaijuan.core.documents import ParsedDocument

_MOST_TEXTS = 200
_MOST_CHARACTERS = 4_000


def with_hidden(document: ParsedDocument, texts: Iterable[str]) -> ParsedDocument:
    """Return the document with these as its hidden texts: white space squeezed, empty ones left out, bounded."""
    hidden: dict[str, None] = {}
    for text in texts:
        if squeezed := " ".join(text[: 2 * _MOST_CHARACTERS].split()):
            hidden[squeezed[:_MOST_CHARACTERS]] = None
        if len(hidden) >= _MOST_TEXTS:
            break
    return replace(document, hidden=tuple(hidden)) if hidden else document
