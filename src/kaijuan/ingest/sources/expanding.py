"""Archives, mailboxes and messages as the documents in them. Stands around any source.

The address of a member is that of its file, "#", and its path inside: file:///a.zip#folder/b.pdf. So all that came
from a file is below its address, and goes when the file goes.
"""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from urllib.parse import quote

from kaijuan.errors import BrokenDocumentError, DocumentError, OversizeDocumentError
from kaijuan.ingest.containers import attachments, mailboxes, zips
from kaijuan.ingest.containers.member import Budget, Member
from kaijuan.ingest.detect import container_of, may_be_container
from kaijuan.ingest.ports import KeepsNotebook, Notebook, Source, SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.files import CORPUS_ENDINGS, is_junk
from kaijuan.ingest.sources.records import RecordFile, records_in
from kaijuan.ingest.sources.stepping import stepped

_READERS = {"zip": zips.members, "mbox": mailboxes.members}
_THEMSELVES = frozenset({"eml", "msg"})
"""Containers that are documents too."""


Ask = Callable[[bytes, str, str], Awaitable[Sequence[tuple[str, bytes]]]]
"""As `attachments.Attached`, elsewhere: in a parser process."""


class ExpandingSource:
    """A source whose archives, mailboxes and messages are opened. Everything else passes as it is.

    With `ask`, messages are read there; without, in this process and without limits of time and memory.
    """

    def __init__(self, inner: Source, settings: IngestSettings, ask: Ask | None = None) -> None:
        self._inner = inner
        self._settings = settings
        self._ask = ask

    def remember(self, notebook: Notebook) -> None:
        """Let the source within leave out what looks as it did; quiet where it cannot tell."""
        if isinstance(self._inner, KeepsNotebook):
            self._inner.notebook = notebook

    def expected(self, target: str) -> int | None:
        """Return how many documents there are about; None where nobody knows. May take a while."""
        count = getattr(self._inner, "expected", None)
        found: int | None = count(target) if count is not None else None
        return found

    def accepts(self, target: str) -> bool:
        """Say whether `target` is for the source within."""
        return self._inner.accepts(target)

    def scope(self, target: str) -> str:
        """Return the scope of the source within: members have longer addresses than their file."""
        return self._inner.scope(target)

    async def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield every document under `target`, those inside containers after their container."""
        walk = self._inner.walk(target)
        try:
            async for found in walk:
                # Asked here, because a thread for each of 20,000 plain files would take longer than reading them.
                if isinstance(found, SourceFailure) or found.kind or not _may_hold_documents(found):
                    yield found
                    continue
                asking = _Asking(self._ask, asyncio.get_running_loop())
                parts = expanded(found, self._settings, asking.attached if self._ask else here)
                async for part in stepped(parts, leaving=asking.leave):
                    yield part
        finally:
            close = getattr(walk, "aclose", None)
            if close is not None:
                await close()


def here(data: bytes, name: str, kind: str) -> Sequence[tuple[str, bytes]]:
    """Return what is attached to a message, read in this process."""
    try:
        return attachments.attached(data, file=name, kind=kind)
    except RecursionError as error:
        raise BrokenDocumentError(f"{name} is nested too deeply.") from error


class _Asking:
    """Lets the thread of a walk wait for what the event loop does, until the walk is left."""

    def __init__(self, ask: Ask | None, loop: asyncio.AbstractEventLoop) -> None:
        self._ask = ask
        self._loop = loop
        self._asked: Future[Sequence[tuple[str, bytes]]] | None = None
        self._left = False
        self._lock = threading.Lock()

    def attached(self, data: bytes, name: str, kind: str) -> Sequence[tuple[str, bytes]]:
        """Return what is attached to a message."""
        with self._lock:  # else a walk left at this moment would not see what it has to end
            if self._left:
                return ()
            asked = self._asked = asyncio.run_coroutine_threadsafe(self._answer(data, name, kind), self._loop)
        try:
            return asked.result()
        except CancelledError as error:
            raise BrokenDocumentError(f"{name} was left before it was read.") from error

    async def _answer(self, data: bytes, name: str, kind: str) -> Sequence[tuple[str, bytes]]:
        return await self._ask(data, name, kind) if self._ask else ()

    def leave(self) -> None:
        """End what is being asked; its process ends with it."""
        with self._lock:
            self._left = True
            if self._asked is not None:
                self._asked.cancel()


def expanded(
    item: SourceItem, settings: IngestSettings, attached: attachments.Attached = here
) -> Iterator[SourceItem | SourceFailure]:
    """Yield an item, or what is in it when it is a container, to any depth that the settings allow."""
    budget = Budget(
        max_bytes=settings.max_bytes,
        bytes_left=settings.max_unpacked_bytes,
        members_left=settings.max_members,
    )
    yield from _Opening(budget, settings.max_depth, attached).open(item, 0)


@dataclass(frozen=True, slots=True)
class _Opening:
    budget: Budget
    max_depth: int
    attached: attachments.Attached

    def open(self, item: SourceItem, depth: int) -> Iterator[SourceItem | SourceFailure]:
        kind = container_of(item.data, item.name)
        if not kind:
            yield from self._corpus(item) if _is_corpus(item) else (item,)
            return
        if kind in _THEMSELVES:
            yield item
        if depth >= self.max_depth:
            if kind not in _THEMSELVES:
                error = OversizeDocumentError(
                    f"{item.name} lies {depth} archives deep.", hint="Unpack it, or raise ingest.max_depth."
                )
                yield _failure(item.source, error)
            return
        for found in self._members(kind, item):
            if isinstance(found, DocumentError):
                yield _failure(item.source, found)
                if self.budget.is_spent:
                    return
            elif not any(map(is_junk, found.path.split("/"))):
                yield from self.open(_member(item, found), depth + 1)

    def _members(self, kind: str, item: SourceItem) -> Iterator[Member | DocumentError]:
        if kind in _THEMSELVES:
            return attachments.members(item.data, item.name, self.budget, kind=kind, read=self.attached)
        return _READERS[kind](item.data, item.name, self.budget)

    def _corpus(self, item: SourceItem) -> Iterator[SourceItem | SourceFailure]:
        file = RecordFile(source=item.source, name=item.name, separator=_separator(item.source))
        yield from records_in(io.BytesIO(item.data), file, max_bytes=self.budget.max_bytes)


def _may_hold_documents(item: SourceItem) -> bool:
    return _is_corpus(item) or may_be_container(item.data, item.name)


def _is_corpus(item: SourceItem) -> bool:
    # A corpus on this machine never comes here: the source of files reads it line by line.
    return item.name.lower().endswith(CORPUS_ENDINGS)


def _separator(address: str) -> str:
    return "/" if "#" in address else "#"


def _member(container: SourceItem, member: Member) -> SourceItem:
    separator = _separator(container.source)
    path = quote(member.path, safe="/~-._", errors="replace")
    return SourceItem(
        source=f"{container.source}{separator}{path}",
        name=member.path.rpartition("/")[2] or member.path,
        size=len(member.data),
        data=member.data,
    )


def _failure(source: str, error: DocumentError) -> SourceFailure:
    return SourceFailure(source=source, code=error.code, message=str(error))
