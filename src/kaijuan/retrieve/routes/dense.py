"""The dense route: nearest chunks by the angle between embeddings."""

from __future__ import annotations

import asyncio

from kaijuan.core.filters import Filter
from kaijuan.errors import ModelError
from kaijuan.index.ports import Embedder, Hit, Index
from kaijuan.retrieve.ports import Query


class DenseRoute:
    """Embeds the question and asks the index for its neighbours."""

    name = "dense"

    def __init__(self, index: Index, embedder: Embedder, *, embed_seconds: float) -> None:
        self._index = index
        self._embedder = embedder
        self._embed_seconds = embed_seconds

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return the `k` chunks with the highest cosine similarity."""
        try:
            async with asyncio.timeout(self._embed_seconds):
                vector = await self._embedder.embed_query(query.text)
        except TimeoutError as error:
            raise ModelError(f"The question was not embedded within {self._embed_seconds:g} s.") from error
        return await self._index.search_dense(vector, k, where)
