"""Verbs about the home as a whole: copied while it serves, made from a copy, its index brought into its best shape."""

from __future__ import annotations

import asyncio
import builtins
import os
from functools import partial
from pathlib import Path

from kaijuan import registry
from kaijuan.index.ports import BlobStore
from kaijuan.jobs import backup
from kaijuan.jobs.backup import BackedUp, StoresIn
from kaijuan.jobs.health import bytes_of
from kaijuan.jobs.report import Progress, Stage
from kaijuan.verbs.wiring import ProgressCallback, Wired, shelf_in


class BackingUp(Wired):
    """The whole home, all bases of all tenants."""

    async def back_up(self, path: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> BackedUp:
        """Copy the home to a folder that is not there, index and all, while readers go on.

        The folder is a home by itself. BusyError while a run is under way, in any base.
        """
        await self._kb()
        told = partial(_told, progress)
        return await backup.back_up(self._ingest(), self.home, _folder(path), self._stores_in, told)

    async def restore(self, path: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> BackedUp:
        """Make this home, which must be empty, from a backup. All of it or none; every hash is compared."""
        self._check_open()
        source = await asyncio.to_thread(_folder(path).resolve)
        return await backup.restore(source, self.home, self._stores_in, partial(_told, progress))

    async def check_backup(self, path: str | os.PathLike[str], *, progress: ProgressCallback | None = None) -> BackedUp:
        """Compare every hash of a backup, as restoring it would; CorruptStoreError names what is wrong first."""
        self._check_open()
        return await backup.verify(_folder(path), self._blobs_in, partial(_told, progress))

    async def backups(self) -> builtins.list[BackedUp]:
        """Return the backups in the folder `backups` of the home, oldest first."""
        self._check_open()

        def look() -> builtins.list[BackedUp]:
            places = self.home / "backups"
            there = sorted(places.iterdir()) if places.is_dir() else []
            found = [place for place in there if (place / backup.MANIFEST).is_file()]
            return [
                BackedUp(path=str(place), bytes=bytes_of(place), backup=backup.read_backup(place)) for place in found
            ]

        return sorted(await asyncio.to_thread(look), key=lambda one: one.backup.made_at)

    @property
    def _stores_in(self) -> StoresIn:
        return StoresIn(blobs=self._blobs_in, shelf=shelf_in)

    def _blobs_in(self, home: Path) -> BlobStore:
        made: BlobStore = registry.load("blobs", self.config.stores.blobs)(home / "blobs")
        return made

    async def optimise(self) -> None:
        """Build the next generation of the index from a copy, and let it take over. Readers and runs go on."""
        index = await self._index(await self._kb())
        if index is not None:
            await index.optimise()


def backup_place(home: Path, name: str) -> Path:
    """Return the folder for a backup of this name below a home; `name` is a plain file name."""
    return home / "backups" / name


def _folder(path: str | os.PathLike[str]) -> Path:
    return Path(path).expanduser()


def _told(progress: ProgressCallback | None, done: int, total: int) -> None:
    if progress is not None:
        progress(Progress(stage=Stage.INDEXING, done=done, total=total, failed=0, source="", chunks=0, indexed=0))
