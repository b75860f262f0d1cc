"""The route to frequent questions: pairs of question and answer, by meaning and by words, beside everything else."""

from __future__ import annotations

from kaijuan.core.filters import Eq, Filter, all_of
from kaijuan.index.ports import Hit, Index
from kaijuan.retrieve.languages import Asked
from kaijuan.retrieve.ports import Query

KIND = "faq"


class FaqRoute:
    """Asks the index for pairs nearest in meaning: a question is put in other words more often than it is repeated."""

    name = "faq"

    def __init__(self, index: Index, asked: Asked) -> None:
        self._index = index
        self._asked = asked

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return the `k` pairs with the highest cosine similarity."""
        pairs = all_of([where, Eq("kind", KIND)])
        return await self._index.search_dense(await self._asked.vector(query.text), k, pairs)
