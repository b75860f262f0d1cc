"""What a run knows of sources from outside: those that look as they did are not read again.

A mark is kept only when the run ends well, and only of a source none of whose documents failed or was held back. What
is replaced or removed loses its mark in the catalog, so that a mark always speaks of documents that are live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kaijuan.core.ids import KbId
from kaijuan.index.catalog import Catalog
from kaijuan.index.history import SourceMark


class Notebook:
    """Marks of earlier runs, and those of this one. `knows` is called from the thread of a walk."""

    def __init__(self, kept: Iterable[tuple[str, str]], fingerprint: str) -> None:
        self._kept = {source: mark.partition(" ") for source, mark in kept}
        self._fingerprint = fingerprint
        self._noted: dict[str, str] = {}
        self._skipped: dict[str, None] = {}
        self._counts: Counter[str] = Counter()
        self._bad: set[str] = set()
        self._taken = 0

    @classmethod
    async def opened(cls, catalog: Catalog, kb: KbId, fingerprint: str, *, forgetful: bool = False) -> Notebook:
        """Return the marks that hold for this fingerprint; a forgetful one knows none, and keeps new ones."""
        return cls(() if forgetful else await catalog.marks(kb, fingerprint), fingerprint)

    def mark_of(self, source: str) -> str:
        """Return the mark of a source all of whose documents are live; "" when none is kept."""
        kept = self._kept.get(source)
        return kept[2] if kept else ""

    def skip(self, source: str) -> None:
        """Take all documents of a source as met and unchanged."""
        self._skipped[source] = None

    def note(self, source: str, mark: str) -> None:
        """Remember how a source looks that was offered in full."""
        self._noted[source] = mark

    def covers(self, source: str) -> bool:
        """Say whether a document came out of a source that was skipped."""
        return _file(source) in self._skipped

    def count(self, source: str, *, good: bool) -> None:
        """Count a document that the run dealt with."""
        self._counts[_file(source)] += 1
        if not good:
            self._bad.add(_file(source))

    def unchanged(self) -> int:
        """Return how many documents were skipped since the last call."""
        skipped = list(self._skipped)[self._taken :]
        self._taken += len(skipped)
        return sum(int(self._kept[source][0] or 1) for source in skipped)

    def fail(self, source: str) -> None:
        """Say that something of a source could not be read."""
        self._bad.add(_file(source))

    async def save(self, catalog: Catalog, kb: KbId) -> None:
        """Keep the marks of this run."""
        marks = [
            SourceMark(source=source, mark=f"{self._counts[source]} {mark}", fingerprint=self._fingerprint)
            for source, mark in self._noted.items()
            if source not in self._bad
        ]
        await catalog.save_marks(kb, marks)


def _file(source: str) -> str:
    """Return the file that a document came out of: itself, or the archive or corpus before the mark."""
    return source.partition("#")[0]
