"""Marks: how a file or page looked from outside when all that came from it was live."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, insert, select

from kaijuan.core.ids import KbId
from kaijuan.index.history import SourceMark
from kaijuan.stores.catalog import tables
from kaijuan.stores.catalog.connection import batches

_marks = tables.source_mark


def save_marks(connection: Connection, kb: KbId, marks: Sequence[SourceMark]) -> None:
    """Keep marks, each in place of an earlier one of its source."""
    forget_marks(connection, kb, [mark.source for mark in marks], only=True)
    values = [
        {"kb_id": kb, "source": mark.source, "mark": mark.mark, "fingerprint": mark.fingerprint}
        for mark in {mark.source: mark for mark in marks}.values()
    ]
    if values:
        connection.execute(insert(_marks), values)


def marks(connection: Connection, kb: KbId, fingerprint: str) -> list[tuple[str, str]]:
    """Return (source, mark) of every mark with this fingerprint."""
    query = select(_marks.c.source, _marks.c.mark).where(_marks.c.kb_id == kb, _marks.c.fingerprint == fingerprint)
    return [(row[0], row[1]) for row in connection.execute(query)]


def forget_marks(connection: Connection, kb: KbId, sources: Iterable[str] | None, *, only: bool = False) -> None:
    """Drop the marks of sources and, unless `only` these, of the files that they came out of; all when None."""
    if sources is None:
        connection.execute(delete(_marks).where(_marks.c.kb_id == kb))
        return
    wanted = set(sources)
    if not only:
        wanted |= {source.partition("#")[0] for source in wanted}
    for batch in batches(sorted(wanted)):
        connection.execute(delete(_marks).where(_marks.c.kb_id == kb, _marks.c.source.in_(batch)))
