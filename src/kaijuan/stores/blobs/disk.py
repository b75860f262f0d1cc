"""Blobs as plain files in a folder, each named by the hash of its bytes: root/ab/cd/abcd..."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from kaijuan.core.ids import content_hash
from kaijuan.errors import CorruptStoreError, DiskFullError, NotFoundError, StoreError, UsageError

_Result = TypeVar("_Result")
_NAME = re.compile(r"[0-9a-f]{64}")
_PARTIAL = ".partial-"
"""Start of the names that files have while they are written; nobody reads them."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_THREADS = 16
"""They wait for the disk and not for the processor: 64 small blobs take a fifteenth of the time of one thread."""
_LISTED = 1000
_MEND = "`kaijuan doctor` names its document: add that again, or restore the home folder from a backup."


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = DiskFullError if error.errno in _NO_ROOM else StoreError
        raise kind(f"{doing} failed: {error.strerror or error}.") from error


class DiskBlobStore:
    """Content-addressed files under `root`, shared by any number of processes.

    A blob appears whole or not at all, and is on the disk (fsync) before `put` returns. The bytes are checked
    against the name at every read. There is nothing to close.
    """

    def __init__(self, root: str | Path) -> None:
        self._root = os.fspath(root)
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="kaijuan-blobs")

    async def put(self, data: bytes) -> str:
        """Store and return the name; what is there already and whole is not written again, what is damaged is."""
        return await self._run(lambda: self._put(data))

    async def put_each(self, contents: Sequence[bytes]) -> list[str]:
        """Store several side by side, so that they wait for the disk together."""
        size = -(-len(contents) // _THREADS)
        parts = [contents[at : at + size] for at in range(0, len(contents), size or 1)]
        names = await asyncio.gather(*(self._run(partial(self._put_all, part)) for part in parts))
        return [name for part in names for name in part]

    async def get(self, name: str) -> bytes:
        """Return the bytes; NotFoundError when missing, CorruptStoreError when they do not hash to `name`."""
        return await self._run(lambda: self._get(name))

    async def check_each(self, names: Sequence[str]) -> list[StoreError | NotFoundError | None]:
        """Read several in full in one go; what `get` would raise for each, None where it is whole."""

        def fault(name: str) -> StoreError | NotFoundError | None:
            try:
                self._get(name)
            except (StoreError, NotFoundError) as error:
                return error
            return None

        return await self._run(lambda: [fault(name) for name in names])

    async def get_each(self, names: Sequence[str]) -> list[bytes | StoreError | NotFoundError]:
        """Read several in one go; what cannot be read comes as its error, in its place."""

        def read(name: str) -> bytes | StoreError | NotFoundError:
            try:
                return self._get(name)
            except (StoreError, NotFoundError) as error:
                return error

        return await self._run(lambda: [read(name) for name in names])

    async def exists(self, name: str) -> bool:
        """Say whether the blob is there."""
        path = self._path(name)
        return await self._run(lambda: os.path.isfile(path))

    async def size(self, name: str) -> int:
        """Return the bytes of the file; 0 when it is missing."""
        path = self._path(name)

        def measured() -> int:
            try:
                return os.stat(path).st_size
            except FileNotFoundError:
                return 0

        with _translated("Looking at a blob"):
            return await self._run(measured)

    async def delete(self, name: str) -> None:
        """Remove the blob; quiet when it is missing."""
        path = self._path(name)
        with _translated("Removing a blob"), suppress(FileNotFoundError):
            await self._run(lambda: os.unlink(path))

    async def names(self) -> AsyncIterator[str]:
        """Yield the names of all blobs in no particular order; half-written files are not among them."""
        listed = self._listed()
        while batch := await self._run(lambda: list(islice(listed, _LISTED))):
            for name in batch:
                yield name

    async def _run(self, call: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    # Paths as plain text below: there are several to a blob, and path objects cost more than reading a small one.

    def _path(self, name: str) -> str:
        # Names become paths: nothing but a hash may pass.
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is not the name of a blob.")
        return os.path.join(self._root, name[:2], name[2:4], name)

    def _put_all(self, contents: Sequence[bytes]) -> list[str]:
        return [self._put(data) for data in contents]

    def _put(self, data: bytes) -> str:
        name = content_hash(data)
        path = self._path(name)
        with _translated("Writing a blob"):
            if not _holds(path, data):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                _write(path, data)
        return name

    def _get(self, name: str) -> bytes:
        path = self._path(name)
        with _translated("Reading a blob"):
            try:
                with open(path, "rb", buffering=0) as file:
                    data = file.read()
            except FileNotFoundError:
                raise NotFoundError(f"There is no blob {name}.", hint=_MEND) from None
        if content_hash(data) != name:
            raise CorruptStoreError(f"The blob {name} is damaged.", hint=_MEND)
        return data

    def _listed(self) -> Iterator[str]:
        with _translated("Listing the blobs"):
            for path in Path(self._root).glob("??/??/*"):
                if _NAME.fullmatch(path.name):
                    yield path.name


def _holds(path: str, data: bytes) -> bool:
    """Say whether the file is there and can be read as exactly these bytes."""
    try:
        # Read, not only measured: a flipped bit leaves the size as it was, and adding again must heal it.
        if os.stat(path).st_size != len(data):
            return False
        with open(path, "rb", buffering=0) as file:
            return file.read() == data
    except OSError:
        return False


def _write(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    part = os.path.join(folder, f"{_PARTIAL}{os.getpid()}-{secrets.token_hex(6)}")
    try:
        with open(part, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    # The name itself is lost in a power cut unless its folder is written too.
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
