"""A home that this user may read and not write: catalog and index are read from a copy among the temporary files.

SQLite's log and the engine's files need a folder that can be written, also for reading. Texts and originals are read
where they are. The copy is made at the first question and goes with the engine.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

from sqlalchemy import Engine

from kaijuan.errors import BusyError, DiskFullError, StoreError
from kaijuan.stores.catalog import traces
from kaijuan.stores.catalog.sql import SqlCatalog

_Result = TypeVar("_Result")
_PREFIX = "kaijuan-copy-"
_TRIES, _REST = 20, 0.1
_CATALOG = ("catalog.db", "catalog.db-wal")


class Borrowed:
    """The copy of one home. `place` stands in for the home wherever something may be written."""

    def __init__(self, home: Path) -> None:
        _sweep()
        self.home = home
        self.place = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._taken = False
        self._lock = threading.Lock()
        (self.place / "cache").mkdir()
        for model in (home / "cache").glob("*.bin"):
            # Models made ready are checked by their hash wherever they lie.
            (self.place / "cache" / model.name).symlink_to(model)

    def take(self) -> None:
        """Make the copy, once. BusyError while another user's process may be writing to the home."""
        with self._lock:
            if self._taken:
                return
            self._check_still()
            try:
                for name in _CATALOG:
                    if (self.home / name).exists():
                        shutil.copyfile(self.home / name, self.place / name)
                if (self.home / "index").is_dir():
                    shutil.copytree(self.home / "index", self.place / "index", ignore=_without_owner)
            except OSError as error:
                raise DiskFullError(
                    f"The home {self.home} cannot be written, and copying it to {self.place.parent} failed: {error}.",
                    hint="Make room there, or name another folder of temporary files in TMPDIR.",
                ) from error
            _make_writable(self.place)
            self._taken = True

    def release(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.place, ignore_errors=True)

    def _check_still(self) -> None:
        """Raise BusyError while an index owner has the home: a copy of what is being written may be torn."""
        try:
            handle = os.open(self.home / "index" / "owner.lock", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            for left in reversed(range(_TRIES)):
                if _is_free(handle):
                    return
                if left:
                    time.sleep(_REST)  # one that leaves hangs up before its process has ended
        finally:
            os.close(handle)
        raise BusyError(
            f"Another process is at work in {self.home}, which you cannot write to.",
            hint="Ask its service, or try again later: what has nothing to do ends by itself.",
        )


class BorrowedCatalog(SqlCatalog):
    """The catalog of a home that cannot be written: everything that would change it is refused with why."""

    def __init__(self, home: Path) -> None:
        self._borrowed = Borrowed(home)
        super().__init__(self.place / "catalog.db")

    @property
    def place(self) -> Path:
        """The folder that stands in for the home wherever something may be written."""
        return self._borrowed.place

    async def close(self) -> None:
        """Close the copy and remove it; the owner of its index leaves when it sees that."""
        await super().close()
        await asyncio.to_thread(self._borrowed.release)

    def _opened(self) -> Engine:
        self._borrowed.take()
        return super()._opened()

    async def _write(self, work: Callable[..., _Result], *_args: object, **_how: bool) -> _Result:
        if work is traces.save_trace:
            # A question is no change: that it is not remembered must not keep anybody from its answer.
            return cast(_Result, None)
        raise StoreError(
            f"The home {self._borrowed.home} cannot be written: it can be searched and asked, and not changed.",
            hint="Give this user write access, or copy the folder and name the copy with --home.",
        )


def _is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _without_owner(_folder: str, names: list[str]) -> set[str]:
    return {name for name in names if name.startswith("owner.")}


def _make_writable(folder: Path) -> None:
    for place in (folder, folder / "catalog.db", *(folder / "index").rglob("*"), folder / "index"):
        if place.exists():
            place.chmod(0o700 if place.is_dir() else 0o600)


def _sweep() -> None:
    """Remove copies that killed processes of this user left."""
    for place in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        number = place.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError):
            if number.isdigit() and place.stat().st_uid == os.getuid() and not _lives(int(number)):
                shutil.rmtree(place, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
