"""Passages in the shape that all frameworks know: a text, an id, a score, and flat metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kaijuan.retrieve.results import SearchResult
from kaijuan.verbs.shapes import search_shape

_TOLD = (
    *("source", "title", "title_path", "pages", "span", "document_id", "version_id", "chunk_id"),
    *("rank", "score", "evidence", "validity"),
)


Moment = int | float | str | None


class Base(Protocol):
    """A knowledge base: kaijuan.sync.Kaijuan, or kaijuan.client.Client for one of a service."""

    def search(self, query: str, *, k: int, filters: Sequence[str], as_of: Moment, cut: bool) -> Any:
        """Return the best passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One passage."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


def passages(
    base: Base, query: str, *, k: int, filters: Sequence[str] = (), as_of: Moment = None, cut: bool = False
) -> list[Found]:
    """Return the best passages for a question, best first."""
    result = base.search(query, k=k, filters=filters, as_of=as_of, cut=cut)
    shape: Any = search_shape(result) if isinstance(result, SearchResult) else result
    return [
        Found(
            id=one["chunk_id"],
            text=one["text"],
            score=one["score"],
            metadata={name: one[name] for name in _TOLD if one.get(name) is not None},
        )
        for one in shape["passages"]
    ]
