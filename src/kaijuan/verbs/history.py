"""Verbs about time: snapshots compared, named, published again and dropped; a whole base out of a home and into one."""

from __future__ import annotations

import asyncio
import builtins
import os
import re
from functools import partial
from pathlib import Path

from kaijuan.core.arguments import Moment
from kaijuan.core.documents import Version
from kaijuan.core.snapshots import SnapshotTag
from kaijuan.errors import UsageError
from kaijuan.index.catalog import KnowledgeBase
from kaijuan.jobs import archive, contexts, retention
from kaijuan.jobs.archive import Archived
from kaijuan.jobs.history import SnapshotDiff, compare, publish_again, versions_at
from kaijuan.jobs.report import Progress, RunReport, Stage
from kaijuan.jobs.retention import GcReport
from kaijuan.verbs.wiring import ProgressCallback, Wired

_TAG = re.compile(r"[^\W\d][\w.-]{0,99}")
"""Begins with a letter of any script, so that it is never taken for a snapshot's number or a date."""


class Remembering(Wired):
    """Earlier states of the base."""

    async def diff(self, before: Moment, after: Moment = None) -> SnapshotDiff:
        """Say which documents and chunks two snapshots show differently; `after` is the newest by default."""
        kb = await self._kb()
        pair = [await self._snapshot(kb, before), await self._snapshot(kb, after)]
        old, new = [(number, await self._shown_at(kb, number)) for number in pair]
        return await compare(self.catalog, self.blobs, old, new)

    async def _shown_at(self, kb: KnowledgeBase, snapshot: int) -> builtins.list[Version]:
        return await self._readable(kb, await versions_at(self.catalog, kb, snapshot))

    async def tag(self, name: str, snapshot: Moment = None, *, note: str = "") -> SnapshotTag:
        """Give a snapshot (the newest by default) a name, by which `as_of` finds it and which keeps it."""
        if not _TAG.fullmatch(name):
            raise UsageError(
                f"{name!r} cannot be a tag.", hint="Begin with a letter; then letters, digits, dash, dot, underscore."
            )
        kb = await self._kb()
        number = await self._snapshot(kb, snapshot)
        made = SnapshotTag(name=name, number=number, created_at=self._clock(), note=note)
        await self.catalog.tag_snapshot(kb.id, made)
        return made

    async def untag(self, name: str) -> None:
        """Take a name away; the snapshot is then kept as long as any other."""
        await self.catalog.untag_snapshot((await self._kb()).id, name)

    async def tags(self) -> builtins.list[SnapshotTag]:
        """Return the names that snapshots have."""
        return await self.catalog.snapshot_tags((await self._kb()).id)

    async def roll_back(self, snapshot: Moment, *, progress: ProgressCallback | None = None) -> RunReport:
        """Publish anew what an earlier snapshot shows, as the newest one. Those between stay readable."""
        kb = await self._kb()
        return await publish_again(self._ingest(), kb, await self._snapshot(kb, snapshot), progress)

    async def gc(self, *, dry_run: bool = False) -> GcReport:
        """Drop snapshots, versions, points and blobs that `[retention]` does not keep; `dry_run` only says which."""
        kb = await self._kb()
        settings = self.config.retention
        if dry_run:
            return await retention.plan(self.catalog, kb, settings, self._clock())
        report = await retention.collect(self._ingest(), kb, settings)
        await contexts.forget_gone(self.catalog, self.written)
        return report

    async def export(
        self, path: str | os.PathLike[str], *, force: bool = False, progress: ProgressCallback | None = None
    ) -> Archived:
        """Write the base with all kept snapshots to one file, from which `import_archive` makes it again."""
        kb, target = await self._kb(), _file(path)
        if not force and await asyncio.to_thread(target.exists):
            raise UsageError(f"{target} is there already.", hint="Choose another name, or say --force.")
        return await archive.export(self._ingest(), kb, target, partial(_told, progress))

    async def import_archive(
        self, path: str | os.PathLike[str], *, progress: ProgressCallback | None = None
    ) -> Archived:
        """Make the base of an archive in this home, all of it or none; every hash is compared first."""
        target = _file(path)
        self._check_open()
        known = await asyncio.to_thread(archive.read_manifest, target)
        if known.kb != self.kb_name:
            raise UsageError(
                f"The archive holds the knowledge base {known.kb!r}.", hint=f"Import it as that: --kb {known.kb}."
            )
        self._make_home()
        room = await asyncio.to_thread(archive.room_in, self.home)
        manifest = await asyncio.to_thread(archive.verify, target, room)
        kb = await self.catalog.create_kb(self.tenant, self.kb_name, now=self._clock())
        return await archive.load(self._ingest(), kb, target, manifest, partial(_told, progress))


def _file(path: str | os.PathLike[str]) -> Path:
    return Path(path).expanduser()


def _told(progress: ProgressCallback | None, done: int, total: int) -> None:
    if progress is not None:
        progress(Progress(stage=Stage.INDEXING, done=done, total=total, failed=0, source="", chunks=0, indexed=0))
