"""What each snapshot shows differently than the one before."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection, select

from kaijuan.core.ids import KbId
from kaijuan.core.snapshots import Changes
from kaijuan.stores.catalog import tables

_snapshots, _versions = tables.snapshot, tables.document_version


def snapshot_changes(connection: Connection, kb: KbId) -> dict[int, Changes]:
    """Return for every kept snapshot what it shows differently than the kept one before."""
    kept = select(_snapshots.c.number).where(_snapshots.c.kb_id == kb, _snapshots.c.dropped_at.is_(None))
    numbers = [row.number for row in connection.execute(kept.order_by(_snapshots.c.number))]
    columns = (_versions.c.document_id, _versions.c.valid_from, _versions.c.valid_to)
    query = select(*columns).where(_versions.c.kb_id == kb)
    rows = connection.execute(query.order_by(_versions.c.document_id, _versions.c.valid_from))
    added, changed, removed = Counter[int](), Counter[int](), Counter[int]()
    for _, versions in groupby(rows, key=attrgetter("document_id")):
        # Places among the kept snapshots: a version that none of them shows is left out.
        shown = _shown((bisect_left(numbers, row.valid_from), bisect_left(numbers, row.valid_to)) for row in versions)
        before = -1
        for first, end in shown:
            if first == before:
                changed[first] += 1
            else:
                added[first] += 1
                removed[before] += 1
            before = end
        removed[before] += 1
    return {
        number: Changes(added=added[at], changed=changed[at], removed=removed[at]) for at, number in enumerate(numbers)
    }


def _shown(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    return ((first, end) for first, end in places if first < end)
