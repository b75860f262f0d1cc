"""The deep examination: catalog, index, vectors, blobs and caches compared with one another, and healed where possible.

The catalog is right by definition. What it says and a store does not have is made again from what is there: points from
stored texts, a text from its original, an original from the file it came from.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol, runtime_checkable
from urllib.parse import unquote_to_bytes, urlsplit

from kaijuan.core.documents import ChunkLevel, Version
from kaijuan.core.filters import And, Eq, at_snapshot
from kaijuan.core.ids import content_hash
from kaijuan.core.snapshots import OPEN
from kaijuan.errors import DocumentError, KaijuanError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.index.embed import Passages, embedded
from kaijuan.index.ports import Index
from kaijuan.index.rebuild import spec_of
from kaijuan.index.reconcile import check
from kaijuan.index.write import UNREADABLE
from kaijuan.ingest.ports import SourceItem
from kaijuan.jobs.doctor import Check
from kaijuan.jobs.retention import drop_blobs
from kaijuan.jobs.run import Ingest

SAMPLED = 40
"""Chunks whose vectors are made again and looked for in the index."""
_NEAR = 0.97
"""Least similarity of a stored vector with the one made again. 8-bit models differ by the size of their batches."""
_NAMED = 5


@runtime_checkable
class ChecksItself(Protocol):
    """A cache that can say what is wrong with it."""

    async def check(self, *, repair: bool) -> list[str]:
        """Return one sentence a fault; with `repair`, drop what is wrong."""


@dataclass(slots=True, kw_only=True)
class Deep:
    """One deep examination. `index` is None when nothing was published yet."""

    ingest: Ingest
    kb: KnowledgeBase
    index: Index | None
    repair: bool = False
    versions: Sequence[Version] = ()
    hurt: list[Version] = field(default_factory=list)

    async def checks(self) -> list[Check]:
        """Run every check; one that fails with an error is a finding."""
        self.versions = await self.ingest.catalog.all_versions(self.kb.id)
        looks: dict[str, Callable[[], Awaitable[Check]]] = {
            "catalog": self._catalog,
            "history": self._history,
            "outbox": self._outbox,
            "texts": self._texts,
            "originals": self._originals,
            "orphans": self._orphans,
            "spaces": self._spaces,
            "models": self._models,
            "vectors": self._vectors,
            "caches": self._caches,
        }
        found = []
        for name, look in looks.items():
            try:
                found.append(await look())
            except KaijuanError as error:
                found.append(Check(name=name, ok=False, detail=error.message, hint=error.hint))
        return found

    async def _catalog(self) -> Check:
        faults = await self.ingest.catalog.check_integrity()
        hint = "Restore the catalog file from a backup, or import the last export into another home."
        return Check(name="catalog", ok=not faults, detail="; ".join(faults[:_NAMED]) or "whole", hint=hint)

    async def _history(self) -> Check:
        """No document shows two versions at once, and every snapshot has the size that it says."""
        faults = []
        runs = await self.ingest.catalog.unfinished_runs(self.kb.id)
        head = self.kb.head if runs else OPEN - 1
        documents: dict[str, list[Version]] = defaultdict(list)
        for version in self.versions:
            documents[version.document_id].append(version)
        for some in documents.values():
            ordered = sorted((one for one in some if one.valid_from <= head), key=lambda one: one.valid_from)
            if any(one.valid_to > other.valid_from for one, other in pairwise(ordered)):
                faults.append(f"{ordered[0].source} shows two versions at once")
        for snapshot in await self.ingest.catalog.snapshots(self.kb.id):
            sizes = await self.ingest.catalog.counts(self.kb.id, snapshot.number)
            if (sizes.documents, sizes.chunks) != (snapshot.documents, snapshot.chunks):
                faults.append(f"snapshot {snapshot.number} has {sizes.documents} documents, not {snapshot.documents}")
        beyond = [one for one in self.versions if one.valid_from > self.kb.head]
        if beyond and not runs:
            faults.append(f"{len(beyond)} versions lie beyond the newest snapshot")
        detail = "; ".join(faults[:_NAMED]) or f"{len(self.versions)} versions of {len(documents)} documents"
        return Check(name="history", ok=not faults, detail=detail, hint="Restore the catalog from a backup.")

    async def _outbox(self) -> Check:
        """Changes that the index has yet to follow belong to a run that is under way."""
        catalog = self.ingest.catalog
        waiting = await catalog.pending(self.kb.id, limit=1000)
        if await catalog.unfinished_runs(self.kb.id):
            return Check(name="outbox", ok=True, detail=f"{len(waiting)} changes of a run under way")
        if waiting and self.repair:
            # The index was compared with the catalog before, and follows it now.
            while waiting:
                await catalog.mark_applied([entry.sequence for entry in waiting])
                waiting = await catalog.pending(self.kb.id, limit=1000)
            return Check(name="outbox", ok=True, detail="forgotten changes are dropped")
        detail = f"{len(waiting)} changes that no run will apply" if waiting else "empty"
        return Check(name="outbox", ok=not waiting, detail=detail, hint="Run `kaijuan doctor --deep --repair`.")

    async def _texts(self) -> Check:
        """Every stored text is whole, and long enough for its chunks."""
        lost = await self._damaged([version.text_hash for version in self.versions])
        healed = 0
        if lost and self.repair:
            for version in [one for one in self.versions if one.text_hash in lost]:
                if version.text_hash in lost and await self._text_again(version):
                    lost.discard(version.text_hash)
                    healed += 1
        short = await self._short([one for one in self.versions if one.text_hash not in lost])
        return await self._told("texts", "text_hash", lost, healed, short)

    async def _originals(self) -> Check:
        lost = await self._damaged([version.original_hash for version in self.versions])
        healed = 0
        if lost and self.repair:
            for version in [one for one in self.versions if one.original_hash in lost]:
                data = await self._from_source(version) if version.original_hash in lost else None
                if data is not None:
                    await self.ingest.blobs.put(data)
                    lost.discard(version.original_hash)
                    healed += 1
        return await self._told("originals", "original_hash", lost, healed, [])

    async def _told(self, name: str, column: str, lost: set[str], healed: int, short: list[Version]) -> Check:
        hurt = [one for one in self.versions if getattr(one, column) in lost] + short
        self.hurt += hurt
        if hurt:
            # Else their unchanged files would not be read again, which is what heals them.
            await self.ingest.catalog.forget_marks(self.kb.id, {one.source for one in hurt})
        names = list(dict.fromkeys(one.source for one in hurt))
        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        whole = len({getattr(one, column) for one in self.versions}) - len(lost)
        parts = [f"{whole} whole"] + ([f"{healed} healed"] if healed else [])
        parts += [f"{len(lost) + len(short)} missing or damaged: {shown}"] if hurt else []
        return Check(name=name, ok=not hurt, detail=", ".join(parts), hint="Add these documents again.")

    async def _damaged(self, names: Sequence[str]) -> set[str]:
        wanted = sorted(set(names))
        bad: set[str] = set()
        for at in range(0, len(wanted), 64):
            page = wanted[at : at + 64]
            faults = await self.ingest.blobs.check_each(page)
            bad |= {name for name, fault in zip(page, faults, strict=True) if fault is not None}
        return bad

    async def _short(self, versions: Sequence[Version]) -> list[Version]:
        short = []
        for version in versions:
            text = (await self.ingest.blobs.get(version.text_hash)).decode()
            chunks = await self.ingest.catalog.chunks_of(version.id)
            if any(chunk.span.end > len(text) for chunk in chunks):
                short.append(version)
        return short

    async def _text_again(self, version: Version) -> bool:
        """Read the original once more; say whether it gave the very text that is missing."""
        try:
            data = await self.ingest.blobs.get(version.original_hash)
        except UNREADABLE:
            found = await self._from_source(version)
            if found is None:
                return False
            data = found
            await self.ingest.blobs.put(data)
        if content_hash(data) == version.text_hash:
            return True
        name = version.source.partition("#")[2].rpartition("/")[2] or version.source.rpartition("/")[2]
        item = SourceItem(source=version.source, name=name, size=len(data), data=data, kind=version.kind)
        (parsed,) = await self.ingest.read([item])
        if isinstance(parsed, DocumentError):
            return False
        text = parsed.text.encode("utf-8", "replace")
        if content_hash(text) != version.text_hash:
            return False  # another reader reads it differently: not the text that the chunks were cut from
        await self.ingest.blobs.put(text)
        return True

    async def _from_source(self, version: Version) -> bytes | None:
        """Return the bytes of the file that a version came from, where it still has them."""
        parts = urlsplit(version.source)
        if parts.scheme != "file" or parts.fragment:
            return None
        path = os.fsdecode(unquote_to_bytes(parts.path))
        try:
            data = await asyncio.to_thread(_bytes_of, path)
        except OSError:
            return None
        return data if content_hash(data) == version.original_hash else None

    async def _orphans(self) -> Check:
        """Every blob is needed by something in the home."""
        needed = await self.ingest.catalog.referenced_blobs()
        extra = [name async for name in self.ingest.blobs.names() if name not in needed]
        if extra and self.repair:
            async with self.ingest.opened(self.kb) as (writer, _):
                removed, freed, busy = await drop_blobs(self.ingest, writer)
            detail = busy or f"{removed} blobs that nothing needed are removed ({freed:,} bytes)"
            return Check(name="orphans", ok=not busy, detail=detail, hint="Try again when nobody is writing.")
        # What a dead or present run stored and did not stage: of no use, and no harm.
        return Check(
            name="orphans", ok=True, detail=f"{len(extra)} blobs that nothing needs; `kaijuan gc` removes them"
        )

    async def _spaces(self) -> Check:
        """Index spaces serve readers, belong to a model, or are nobody's."""
        models = await self.ingest.catalog.spaces_of_models(self.kb.id)
        known = {self.kb.space, *(model.space for model in models)}
        mine = [name for name in await self.ingest.indexes.spaces() if name.startswith(f"{self.kb.id}-")]
        stray = [name for name in mine if name not in known]
        if stray and self.repair:
            for name in stray:
                await self.ingest.indexes.drop(name)
            return Check(name="spaces", ok=True, detail=f"{len(stray)} left by dead rebuilds are removed")
        detail = f"{len(mine) - len(stray)} in use" + (f", {len(stray)} left by a dead rebuild" if stray else "")
        return Check(name="spaces", ok=not stray, detail=detail, hint="Run `kaijuan doctor --deep --repair`.")

    async def _models(self) -> Check:
        """The indexes of models that do not serve are as the catalog says too: any of them may be switched to."""
        ingest, spaces = self.ingest, self.ingest.spaces()
        rows = await ingest.catalog.spaces_of_models(self.kb.id)
        beside = [row for row in rows if row.is_followed and row.space != self.kb.space]
        wrong = []
        for row in beside:
            embedder = spaces.model_of(row).embedder
            index = await ingest.indexes.open(spec_of(row.space, embedder), create=False)
            try:
                report = await check(ingest.catalog, index, self.kb)
            finally:
                await index.close()
            if report.problems:
                wrong.append(f"{row.name} differs in {report.problems} points")
        detail = "; ".join(wrong) or (f"{len(beside)} beside the one that serves" if beside else "one")
        return Check(name="models", ok=not wrong, detail=detail, hint="Run `kaijuan doctor --repair`.")

    async def _vectors(self) -> Check:
        """A sample of chunks is embedded again and must be found where it stands: spaces are never mixed."""
        if self.index is None:
            return Check(name="vectors", ok=True, detail="none yet")
        ingest, live = self.ingest, [one for one in self.versions if one.valid_from <= self.kb.head < one.valid_to]
        step = max(1, len(live) // SAMPLED)
        model = await ingest.spaces().serving(self.kb)
        passages = Passages(model.embedder, model.settings.prefix_tokens, measured=model.measured)
        looked, lost = 0, []
        for version in live[::step][:SAMPLED]:
            chunks = await ingest.catalog.chunks_of(version.id, ChunkLevel.CHILD)
            try:
                text = (await ingest.blobs.get(version.text_hash)).decode()
            except UNREADABLE:
                continue
            if not chunks:
                continue
            chunk = chunks[len(chunks) // 2]
            said = passages.text(version, chunk, chunk.search_text or chunk.span.of(text))
            vector = (await embedded(model.embedder, [said], 1))[0]
            where = And((at_snapshot(self.kb.head), Eq("version_id", version.id)))
            hits = await self.index.search_dense(vector, 50, where)
            looked += 1
            if not any(hit.id == chunk.id and hit.score >= _NEAR for hit in hits):
                lost.append(version.source)
        detail = f"{looked} of the sample as the model gives them" if not lost else f"{len(lost)} differ: {lost[0]}"
        return Check(name="vectors", ok=not lost, detail=detail, hint="Run `kaijuan rebuild`.")

    async def _caches(self) -> Check:
        cache = self.ingest.embedder
        if not isinstance(cache, ChecksItself):
            return Check(name="caches", ok=True, detail="none to look at")
        faults = await cache.check(repair=self.repair)
        detail = "; ".join(faults) or "whole"
        return Check(
            name="caches", ok=not faults or self.repair, detail=detail, hint="Run with --repair: it is emptied."
        )


def _bytes_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
