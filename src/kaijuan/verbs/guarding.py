"""Nobody writes over what they may not read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection

from kaijuan.core.identity import OPERATOR
from kaijuan.core.ids import KbId
from kaijuan.errors import AccessError
from kaijuan.index.catalog import CatalogReader
from kaijuan.ingest.ports import SourceFailure, SourceItem

Found = SourceItem | SourceFailure


async def open_to(
    found: AsyncIterator[Found], catalog: CatalogReader, kb: KbId, principals: Collection[str]
) -> AsyncIterator[Found]:
    """Yield what is found; documents at addresses that are closed to the principals become failures."""
    async for one in found:
        if OPERATOR not in principals and isinstance(one, SourceItem):
            readers = (await catalog.readers_of(kb, [one.source]))[one.source]
            if readers.isdisjoint(principals):
                message = "This address is closed to you: nothing can be taken in here."
                yield SourceFailure(source=one.source, code=AccessError.code, message=message)
                continue
        yield one
