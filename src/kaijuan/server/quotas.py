"""How much a tenant may have: bases, documents, bytes. Asked before anything is taken in."""

from __future__ import annotations

from collections.abc import Sequence

from kaijuan.core.identity import Who
from kaijuan.engine import Kaijuan
from kaijuan.errors import QuotaError
from kaijuan.index.catalog import KnowledgeBase

_MB = 2**20
_MOST = 10_000_000


class Quotas:
    """Compares what a tenant has with what it may have."""

    def __init__(self, engine: Kaijuan) -> None:
        self._engine = engine
        self._settings = engine.config.identity
        self._sizes: dict[str, int] = {}
        """Bytes of original files by hash; they never change."""

    async def check_base(self, who: Who) -> None:
        """Refuse one base more than the tenant may have; QuotaError then."""
        most = self._settings.tenant_bases
        if most and not who.local and len(await self._engine.catalog.kbs(who.tenant)) >= most:
            raise QuotaError(f"The tenant may have {most:,} knowledge bases, and has them.")

    async def check_room(self, who: Who, sizes: Sequence[int] = (1,)) -> None:
        """Refuse files for which the tenant has no room; QuotaError then. What they hold is not looked into."""
        if who.local:
            return
        kbs = await self._engine.catalog.kbs(who.tenant)
        documents, size = self._settings.tenant_documents, self._settings.tenant_mb * _MB
        if documents and await self._documents(kbs) + len(sizes) > documents:
            raise QuotaError(f"The tenant may have {documents:,} documents, and would have more.")
        if size and await self._bytes(kbs) + sum(sizes) > size:
            raise QuotaError(f"The tenant may have {self._settings.tenant_mb:,} MiB of files, and would have more.")

    async def _documents(self, kbs: Sequence[KnowledgeBase]) -> int:
        return sum([(await self._engine.catalog.counts(kb.id, kb.head)).documents for kb in kbs if kb.head])

    async def _bytes(self, kbs: Sequence[KnowledgeBase]) -> int:
        names: set[str] = set()
        for kb in kbs:
            found = await self._engine.catalog.versions(kb.id, kb.head, limit=_MOST) if kb.head else []
            names |= {version.original_hash for version in found if version.original_hash}
        for name in names - self._sizes.keys():
            self._sizes[name] = await self._engine.blobs.size(name)
        return sum(self._sizes[name] for name in names)
