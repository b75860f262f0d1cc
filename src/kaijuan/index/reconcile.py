"""Finding and mending every difference between an index and the catalog, which is right by definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from kaijuan.core.filters import EVERYTHING, And, Range
from kaijuan.core.ids import ChunkId, DocumentId
from kaijuan.core.snapshots import OPEN
from kaijuan.index.catalog import Catalog, KnowledgeBase
from kaijuan.index.ports import Index, PointHeader
from kaijuan.index.write import IndexWriter, Skipped, write_chunks

_BATCH = 1000


class Fault(StrEnum):
    """How a point can differ from the catalog."""

    MISSING = "missing"
    """A chunk of the catalog has no point."""
    EXTRA = "extra"
    """A point belongs to no chunk."""
    INTERVAL = "interval"
    """A point is visible in other snapshots than its chunk."""
    READERS = "readers"
    """A point names other principals than may read its document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One point that is not as the catalog says. `valid_to` is what it should be."""

    id: ChunkId
    fault: Fault
    valid_to: int = OPEN
    shifted: bool = False
    """Whether `valid_from` is wrong too, which only writing the point again mends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileReport:
    """What was found, and whether it was mended."""

    points: int = 0
    """Points compared."""
    faults: Mapping[Fault, int] = field(default_factory=lambda: MappingProxyType({}))
    repaired: bool = False
    unreadable: tuple[str, ...] = ()
    """Sources of documents whose points could not be written again, because their text cannot be read."""

    @property
    def problems(self) -> int:
        """How many points were not as the catalog says."""
        return sum(self.faults.values())


@dataclass(frozen=True, slots=True)
class _Row:
    """A chunk's interval, as far as it matters."""

    id: ChunkId
    valid_from: int
    valid_to: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """What the catalog and the index say of one id; one of them may not know it."""

    row: _Row | None
    header: PointHeader | None


async def clear_unpublished(index: Index, head: int) -> int:
    """Take away what lies beyond head: delete points that begin later, open those that end later. Return how many.

    For the holder of the lease, while no run of the base is under way.
    """
    later = await _all(index, Range(field="valid_from", gt=head))
    ended = await _all(index, And((Range(field="valid_to", gt=head, lt=OPEN), Range(field="valid_from", lte=head))))
    for at in range(0, len(later), _BATCH):
        await index.delete(later[at : at + _BATCH])
    for at in range(0, len(ended), _BATCH):
        await index.close_interval(ended[at : at + _BATCH], OPEN)
    if later or ended:
        await index.flush()
    return len(later) + len(ended)


async def _all(index: Index, where: Range | And) -> list[ChunkId]:
    return [header.id async for header in index.scan(where)]


async def check(catalog: Catalog, index: Index, kb: KnowledgeBase) -> ReconcileReport:
    """Compare without changing anything. A run may be under way: what it has staged beyond head is not judged."""
    running = bool(await catalog.unfinished_runs(kb.id))
    return await _compared(catalog, index, kb, kb.head if running else None, None)


async def reconcile(writer: IndexWriter) -> ReconcileReport:
    """Compare and mend, all but documents whose text cannot be read. For the holder of the lease, while no run of the
    base is under way."""
    report = await _compared(writer.catalog, writer.index, writer.kb, None, writer)
    if report.problems:
        await writer.index.flush()
    return report


async def catch_up(writer: IndexWriter, head: int) -> ReconcileReport:
    """Mend a space that serves nobody, up to a snapshot; what lies beyond it is not touched. A run may be under way."""
    return await _compared(writer.catalog, writer.index, writer.kb, head, writer)


async def _compared(
    catalog: Catalog, index: Index, kb: KnowledgeBase, head: int | None, writer: IndexWriter | None
) -> ReconcileReport:
    faults: Counter[Fault] = Counter()
    points = 0
    unreadable: dict[str, None] = {}
    async for pairs in _batched(_joined(_rows(catalog, kb, head), _headers(index, head))):
        points += sum(pair.header is not None for pair in pairs)
        found = await _judged(catalog, kb, pairs)
        faults.update(difference.fault for difference in found)
        if writer is not None:
            await _mend(writer, found, lambda version: unreadable.update({version.source: None}))
    return ReconcileReport(
        points=points,
        faults=MappingProxyType(dict(faults)),
        repaired=writer is not None,
        unreadable=tuple(unreadable),
    )


def _until(valid_to: int, head: int | None) -> int:
    return OPEN if head is not None and valid_to > head else valid_to


async def _rows(catalog: Catalog, kb: KnowledgeBase, head: int | None) -> AsyncIterator[_Row]:
    async for id, valid_from, valid_to in catalog.chunk_ids(kb.id):
        if head is None or valid_from <= head:
            yield _Row(id, valid_from, _until(valid_to, head))


async def _headers(index: Index, head: int | None) -> AsyncIterator[PointHeader]:
    async for header in index.scan(EVERYTHING if head is None else Range(field="valid_from", lte=head)):
        yield PointHeader(
            id=header.id,
            valid_from=header.valid_from,
            valid_to=_until(header.valid_to, head),
            payload=header.payload,
        )


async def _joined(rows: AsyncIterator[_Row], headers: AsyncIterator[PointHeader]) -> AsyncIterator[_Pair]:
    # Both sides come in order of id, so that one walk over both finds everything, in little memory.
    row, header = await anext(rows, None), await anext(headers, None)
    while row is not None or header is not None:
        if header is None or (row is not None and row.id < header.id):
            yield _Pair(row, None)
            row = await anext(rows, None)
        elif row is None or header.id < row.id:
            yield _Pair(None, header)
            header = await anext(headers, None)
        else:
            yield _Pair(row, header)
            row, header = await anext(rows, None), await anext(headers, None)


async def _batched(pairs: AsyncIterator[_Pair]) -> AsyncIterator[list[_Pair]]:
    batch: list[_Pair] = []
    async for pair in pairs:
        batch.append(pair)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _judged(catalog: Catalog, kb: KnowledgeBase, pairs: Sequence[_Pair]) -> list[Difference]:
    documents = {_document(pair.header) for pair in pairs if pair.header is not None}
    readers = await catalog.principals_of(kb.id, documents)
    found = (_difference(pair, readers) for pair in pairs)
    return [difference for difference in found if difference is not None]


def _document(header: PointHeader) -> DocumentId:
    return DocumentId(str(header.payload.get("document_id", "")))


def _difference(pair: _Pair, readers: Mapping[DocumentId, Collection[str]]) -> Difference | None:
    row, header = pair.row, pair.header
    if row is None:
        return None if header is None else Difference(id=header.id, fault=Fault.EXTRA)
    if header is None:
        return Difference(id=row.id, fault=Fault.MISSING)
    if (header.valid_from, header.valid_to) != (row.valid_from, row.valid_to):
        shifted = header.valid_from != row.valid_from
        return Difference(id=row.id, fault=Fault.INTERVAL, valid_to=row.valid_to, shifted=shifted)
    named = header.payload.get("acl", ())
    if not isinstance(named, list | tuple) or set(named) != set(readers[_document(header)]):
        return Difference(id=row.id, fault=Fault.READERS)
    return None


async def _mend(writer: IndexWriter, found: Sequence[Difference], skipped: Skipped) -> None:
    # The batch lies wholly behind the place where the scan stands, so that mending it cannot disturb the scan.
    if extra := [difference.id for difference in found if difference.fault is Fault.EXTRA]:
        await writer.index.delete(extra)
    ends: dict[int, list[ChunkId]] = {}
    for difference in found:
        if difference.fault is Fault.INTERVAL and not difference.shifted:
            ends.setdefault(difference.valid_to, []).append(difference.id)
    for valid_to, ids in ends.items():
        await writer.index.close_interval(ids, valid_to)
    if again := [item.id for item in found if item.fault in (Fault.MISSING, Fault.READERS) or item.shifted]:
        await write_chunks(writer, again, skipped)
