"""The dense route: nearest chunks by the angle between embeddings."""

from __future__ import annotations

from kaijuan.core.filters import Filter
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.languages import Asked
from kaijuan.retrieve.ports import Query


class DenseRoute:
    """Asks the index for the neighbours of the question."""

    name = "dense"

    def __init__(self, index: Index, asked: Asked) -> None:
        self._index = index
        self._asked = asked

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return the `k` chunks with the highest cosine similarity."""
        return await self._index.search_dense(await self._asked.vector(query.text), k, where)
