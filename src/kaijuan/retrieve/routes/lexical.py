"""The lexical route: BM25 over the terms of our own analyser."""

from __future__ import annotations

from kaijuan.core.filters import Filter
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.ports import Query


class LexicalRoute:
    """Asks the index for chunks that share terms with the question."""

    name = "lexical"

    def __init__(self, index: Index) -> None:
        self._index = index

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return the `k` chunks with the highest BM25 score above zero, words that mean the same counted too."""
        if not query.weights:
            return []
        return await self._index.search_lexical({**query.weights, **query.expansion}, k, where)
