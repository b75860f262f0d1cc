"""What the retrieve room needs: routes. The catalog and the index are described in the index room."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kaijuan.core.filters import Filter
from kaijuan.index.ports import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question made ready for the routes."""

    text: str
    normalised: str
    terms: tuple[str, ...]
    """As the trace shows them."""
    weights: Mapping[int, float]
    """Term id to query weight."""


class Route(Protocol):
    """One way to find chunks. Returns at most `k`, best first, ties by id; raises only KaijuanError."""

    @property
    def name(self) -> str: ...

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]: ...
