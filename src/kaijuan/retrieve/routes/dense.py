"""The dense route: nearest chunks by the angle between embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.core.filters import TONGUE, Filter, In, Not, all_of
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.languages import Asked
from kaijuan.retrieve.ports import Query


class DenseRoute:
    """Asks the index for the neighbours of the question, but those in languages that have routes of their own."""

    name = "dense"

    def __init__(self, index: Index, asked: Asked, apart: Sequence[str] = ()) -> None:
        self._index = index
        self._asked = asked
        self._apart = tuple(apart)

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return the `k` chunks with the highest cosine similarity."""
        here = all_of([where, Not(In(TONGUE, self._apart))]) if self._apart else where
        return await self._index.search_dense(await self._asked.vector(query.text), k, here)
