"""What a reader may see: the filter for the index, and the checks of the filters that people write."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from kaijuan.core.documents import ChunkLevel
from kaijuan.core.filters import LEVEL, TONGUE, Eq, Exists, Filter, In, Not, all_of, at_snapshot, fields_of
from kaijuan.errors import FilterError
from kaijuan.index.ports import Index

BUILT_IN = ("source", "kind", "language", "title", "created", "document_id", "version_id")
"""Fields that every document has. `acl`, `tenant`, `kb` and the interval are not for people to filter by."""
GUARDED = frozenset({"acl", "tenant", "kb", "valid_from", "valid_to", LEVEL, TONGUE})
_OF_DOCUMENTS = Eq(LEVEL, ChunkLevel.DOCUMENT.value)


def scope(
    tenant: str, principals: Collection[str], snapshot: int, filters: Sequence[Filter], *, documents: bool = False
) -> Filter:
    """Return the one filter that every route gets: tenant, access, snapshot, then the caller's own.

    It admits passages; with `documents` instead the points of whole documents, whose spans are no passages.
    """
    level = _OF_DOCUMENTS if documents else Not(_OF_DOCUMENTS)
    readers = In("acl", tuple(sorted(principals)))
    return all_of([Eq("tenant", tenant), readers, at_snapshot(snapshot), level, *filters])


async def check_fields(index: Index, seen: Filter, filters: Sequence[Filter], known: set[str]) -> None:
    """Raise FilterError for a field that no document has: it is a slip far more often than a wish for nothing.

    Only documents that the reader sees (`seen`) count, or the error would tell which fields the others have.
    `known` remembers the fields that were seen, since looking costs more than many a search.
    """
    names = sorted({name for tree in filters for name in fields_of(tree)} - known.union(BUILT_IN))
    for name in names:
        if name in GUARDED:
            raise FilterError(f"The field {name!r} is not for filtering; access and time are handled by the engine.")
    counts = await asyncio.gather(*(index.count(all_of([seen, Exists(name)])) for name in names))
    for name, count in zip(names, counts, strict=True):
        if count == 0 and await index.count(seen) > 0:
            raise FilterError(
                f"No document has a field {name!r}.",
                hint=f"Always there: {', '.join(BUILT_IN)}; `kaijuan show` lists the others of a document.",
            )
        if count:
            known.add(name)
