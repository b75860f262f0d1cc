"""Routes that others bring. They may speak of pieces, whose ids last, where our own speak of chunks of versions."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.core.filters import Filter
from kaijuan.core.ids import PIECE_LENGTH
from kaijuan.index.catalog import CatalogReader
from kaijuan.index.ports import Hit
from kaijuan.retrieve.ports import Query, Route


class OutsideRoute:
    """Finds what another route finds, with the chunks that a snapshot has of the pieces found."""

    def __init__(self, route: Route, catalog: CatalogReader, snapshot: int) -> None:
        self.name = route.name
        self._route = route
        self._catalog = catalog
        self._snapshot = snapshot

    async def find(self, query: Query, k: int, where: Filter) -> list[Hit]:
        """Return at most `k` chunks, best first."""
        return await self._of_chunks(await self._route.find(query, k, where))

    async def _of_chunks(self, hits: Sequence[Hit]) -> list[Hit]:
        pieces = [hit.id for hit in hits if len(hit.id) == PIECE_LENGTH]
        if not pieces:
            return list(hits)
        meant = await self._catalog.chunks_meant(pieces, self._snapshot)
        return [Hit(meant[hit.id].id if hit.id in meant else hit.id, hit.score) for hit in hits]
