"""Verbs about whole bases and what befell them: which there are, making one, uploads, runs, traces."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from kaijuan.core.ids import RunId
from kaijuan.errors import NotFoundError, OversizeDocumentError, UsageError
from kaijuan.index.catalog import CatalogReader, KnowledgeBase, Run, RunItem, StoredTrace
from kaijuan.ingest.opening import Opened, walk_all
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.sources.expanding import ExpandingSource
from kaijuan.ingest.sources.stepping import stepped
from kaijuan.jobs.run import RunReport
from kaijuan.verbs.guarding import open_to
from kaijuan.verbs.wiring import ProgressCallback, Wired

UPLOADED = "upload:/"
"""What the addresses of uploaded documents begin with."""
COMING = Path("uploads", "coming")
"""Below a home: files that were sent and wait to be taken in, a folder for each job."""
_LONGEST_PATH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file that somebody sent. `path` is what they call it, folders and all; it decides the document's address."""

    path: str
    file: Path


class Holding(Wired):
    """Bases, uploads, runs and traces."""

    async def bases(self) -> builtins.list[KnowledgeBase]:
        """Return all knowledge bases of the tenant, by name. Who may see which is the service's affair."""
        self._check_open()
        return await self.catalog.kbs(self.tenant) if self.home.exists() else []

    async def make_base(self) -> KnowledgeBase:
        """Return the knowledge base of this name, made now if missing."""
        self._check_open()
        self._make_home()
        return await self.catalog.create_kb(self.tenant, self.kb_name, now=self._clock())

    async def upload(
        self, files: Sequence[Upload], *, progress: ProgressCallback | None = None, request: str = ""
    ) -> RunReport:
        """Take in files that somebody sent, as one published snapshot; archives and messages are opened as ever.

        A document's address is `upload:/` and its path, so that the same path again is its next version. `request` is
        kept with the run: one that was killed goes on when it is asked for with the same.
        """
        if not files:
            raise UsageError("No file was sent.", hint="Send at least one.")
        source = _Sent(files, self.config.ingest.max_bytes)
        pool = self._pool()
        opened = Opened(
            source=ExpandingSource(
                source, self.config.ingest, lambda data, name, kind: pool.attachments(data, name, kind)
            ),
            target=UPLOADED,
        )
        kb = await self.make_base()
        return await self._ingest().add(
            kb, open_to(walk_all([opened]), self.catalog, kb.id, self._principals), progress=progress, request=request
        )

    async def runs(self, *, limit: int = 20) -> builtins.list[Run]:
        """Return the newest runs, newest first."""
        return await self.catalog.runs((await self._kb()).id, limit=limit)

    async def run_items(self, id: str) -> builtins.list[RunItem]:
        """Return the lines of a run's report about documents that may be read, in the order they were recorded."""
        kb = await self._kb()
        if all(run.id != id for run in await self.catalog.runs(kb.id, limit=1_000_000)):
            raise NotFoundError(f"There is no run {id!r}.", hint="`kaijuan status` shows the newest.")
        items = await self.catalog.items(RunId(id))
        readers = await self.catalog.readers_of(kb.id, {item.source for item in items})
        return [item for item in items if readers[item.source] & self._principals]

    async def trace(self, id: str) -> StoredTrace:
        """Return the stored trace of a request to this base: one's own, while all that it speaks of may be read."""
        kb = await self._kb()
        try:
            found = await self.catalog.trace(id)
        except NotFoundError:
            found = None
        if found is None or found.kb_id != kb.id or not await self._may_see(kb, found.body):
            raise NotFoundError(f"There is no trace {id!r}.", hint="Traces of old requests are dropped.")
        return found

    async def traces(self, *, limit: int = 50) -> builtins.list[StoredTrace]:
        """Return the traces of one's own newest requests, newest first, of which all may still be read."""
        kb = await self._kb()
        found = await self.catalog.traces(kb.id, limit=limit)
        return [one for one in found if await self._may_see(kb, one.body)]

    async def _may_see(self, kb: KnowledgeBase, body: Mapping[str, object]) -> bool:
        asked_by = body.get("principals", ())
        if not isinstance(asked_by, builtins.list | tuple) or not set(asked_by) <= self._principals:
            return False
        return await rests_on_readable(self.catalog, kb, body, self._principals)


async def rests_on_readable(
    catalog: CatalogReader, kb: KnowledgeBase, body: Mapping[str, object], principals: Collection[str]
) -> bool:
    """Say whether all that the trace of a request speaks of may be read now: rights may have been revoked since."""
    listed, snapshot = body.get("candidates", ()), body.get("snapshot", kb.head)
    if not isinstance(listed, builtins.list | tuple) or not isinstance(snapshot, int):
        return False
    ids = {str(one.get("chunk_id", "")) for one in listed if isinstance(one, Mapping)}
    chunks = {chunk.id for chunk in (await catalog.chunks_meant(ids, snapshot)).values()}
    return len(chunks) == len(ids) and await catalog.authorise(kb.id, snapshot, chunks, principals) == chunks


class _Sent:
    """The files as a source, read one at a time."""

    def __init__(self, files: Sequence[Upload], max_bytes: int) -> None:
        self._files = files
        self._max_bytes = max_bytes

    def accepts(self, target: str) -> bool:
        """Say whether `target` is an uploaded document's address."""
        return target.startswith(UPLOADED)

    def scope(self, target: str) -> str:
        """Return the target: a folder ends with a slash already."""
        return target

    def walk(self, _target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield every file."""
        return stepped(self._walk())

    def _walk(self) -> Iterator[SourceItem | SourceFailure]:
        for sent in self._files:
            source = upload_address(sent.path)
            if sent.file.stat().st_size > self._max_bytes:
                error = OversizeDocumentError(f"{sent.path} is larger than {self._max_bytes:,} bytes.")
                yield SourceFailure(source=source, code=error.code, message=str(error))
                continue
            data = sent.file.read_bytes()
            yield SourceItem(source=source, name=sent.path.rpartition("/")[2], size=len(data), data=data)


def upload_address(path: str) -> str:
    """Return the lasting address of a file sent under this path; UsageError for one that is none.

    Backslashes count as slashes; `.` and empty parts vanish, `..` is refused.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts or ".." in parts or len(path) > _LONGEST_PATH or any(ord(letter) < 32 for letter in path):
        raise UsageError(
            f"{path[:80]!r} is no name for a document.", hint="Send a file name, or a path below a folder."
        )
    return UPLOADED + "/".join(quote(part, safe="~-._", errors="replace") for part in parts)
