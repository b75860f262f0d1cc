"""What a reader's documents say about themselves: titles, kinds and metadata, read once for a snapshot and kept.

Read only when a question needs it. What is kept is kept by snapshot, readers and policy version, so that a change of
any of them reads anew.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kaijuan.core.documents import Metadata, Version
from kaijuan.core.filters import FIELD, Value
from kaijuan.core.ids import DocumentId
from kaijuan.index.catalog import CatalogReader, KnowledgeBase

MOST_DOCUMENTS = 50_000
"""Documents that are read. In a larger base nothing is said of any: half of them would be a wrong picture."""
_KEPT = 4
_MOST_ASKED = 32
"""Different lists of fields whose values are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One document as a reader sees it listed."""

    document_id: DocumentId
    source: str
    title: str
    kind: str
    language: str
    metadata: Metadata

    def values(self, name: str) -> tuple[Value, ...]:
        """Return the values of a field as the index has them; () where the document lacks it."""
        if name == "kind":
            return (self.kind,)
        value = self.metadata.get(name)
        if value is None or not FIELD.fullmatch(name):
            return ()
        return value if isinstance(value, tuple) else (value,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holdings:
    """All documents that a reader may see at a snapshot, by source; none where there are too many."""

    documents: tuple[Holding, ...] = ()
    complete: bool = True
    _found: dict[tuple[str, ...], tuple[tuple[str, Value], ...]] = field(
        default_factory=dict, compare=False, repr=False
    )
    """Values by fields: every question asks for the same few."""
    _titled: dict[DocumentId, frozenset[str]] = field(default_factory=dict, compare=False, repr=False)

    def titled(self, words: Callable[[str], frozenset[str]]) -> Mapping[DocumentId, frozenset[str]]:
        """Return the words of each title, which `words` finds; read once, since there may be many thousands."""
        if len(self._titled) < len(self.documents):
            self._titled.update((document.document_id, words(document.title)) for document in self.documents)
        return self._titled

    def values(self, names: Collection[str]) -> Iterator[tuple[str, Value]]:
        """Yield (field, value) of these fields, each once, in order of the documents."""
        key = tuple(names)
        if key not in self._found:
            if len(self._found) >= _MOST_ASKED:
                self._found.clear()
            self._found[key] = tuple(self._each(key))
        yield from self._found[key]

    def _each(self, names: Sequence[str]) -> Iterator[tuple[str, Value]]:
        seen: set[tuple[str, str, Value]] = set()
        for document in self.documents:
            for name in names:
                for value in document.values(name):
                    # True equals 1 and is another value all the same.
                    key = (name, type(value).__name__, value)
                    if key not in seen:
                        seen.add(key)
                        yield name, value


_Key = tuple[str, int, int, frozenset[str]]


@dataclass(slots=True)
class HoldingsShelf:
    """Keeps the holdings of the latest readers and snapshots."""

    _kept: OrderedDict[_Key, asyncio.Task[Holdings]] = field(default_factory=OrderedDict)

    async def read(
        self, catalog: CatalogReader, kb: KnowledgeBase, snapshot: int, principals: frozenset[str]
    ) -> Holdings:
        """Return the holdings; a reader who asks while they are being read waits for that.

        Who waits no longer does not end the reading: with many documents each question would begin it anew, and none
        would ever have it in time.
        """
        key = (str(kb.id), snapshot, kb.policy_version, principals)
        task = self._kept.get(key)
        if task is None or _failed(task):
            task = self._kept[key] = asyncio.create_task(_holdings(catalog, kb, snapshot, principals))
            task.add_done_callback(_failed)  # looked at, though nobody may wait for it any more
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what is still being read."""
        unfinished = [task for task in self._kept.values() if not task.done()]
        for task in unfinished:
            task.cancel()
        if unfinished:
            await asyncio.wait(unfinished)


def _failed(task: asyncio.Task[Holdings]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _holdings(catalog: CatalogReader, kb: KnowledgeBase, snapshot: int, principals: frozenset[str]) -> Holdings:
    found: list[Holding] = []
    after = ""
    count = 0
    while page := await catalog.versions(kb.id, snapshot, after=after):
        after = page[-1].source
        count += len(page)
        if count > MOST_DOCUMENTS:
            return Holdings(complete=False)
        readers = await catalog.principals_of(kb.id, {version.document_id for version in page})
        found += [_holding(version) for version in page if readers[version.document_id] & principals]
    return Holdings(documents=tuple(found))


def _holding(version: Version) -> Holding:
    return Holding(
        document_id=version.document_id,
        source=version.source,
        title=version.title,
        kind=version.kind,
        language=version.language,
        metadata=version.metadata,
    )
