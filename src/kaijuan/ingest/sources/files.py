"""Files and folders on this machine. A .jsonl file is a corpus and gives one document each line (records.py)."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Self, cast
from urllib.parse import urlsplit

from kaijuan.errors import DocumentError, MissingSourceError, OversizeDocumentError
from kaijuan.ingest.ports import Notebook, SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.addresses import file_address, path_of, shown_name
from kaijuan.ingest.sources.patterns import PathFilter
from kaijuan.ingest.sources.records import read_records
from kaijuan.ingest.sources.settings import FilesSettings, SourceSettings
from kaijuan.ingest.sources.stepping import stepped

DEFAULT_MAX_BYTES = 512 * 1024 * 1024
_JUNK = frozenset({"thumbs.db", "desktop.ini", "__macosx", "__pycache__", "node_modules", "$recycle.bin"})
CORPUS_ENDINGS = (".jsonl", ".ndjson")
_CONTAINER_ENDINGS = (".zip", ".mbox", ".mbx")
_STEP_NS = 2_000_000_000
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):|git\+")


class FileSource:
    """Source of files, folders (recursive, in sorted order) and JSONL corpora.

    Of a folder, only what `paths` takes is offered; a file that was named itself is offered in any case.
    """

    def __init__(
        self, *, max_bytes: int = DEFAULT_MAX_BYTES, paths: PathFilter | None = None, follow_links: bool = True
    ) -> None:
        self._max_bytes = max_bytes
        self._paths = paths or PathFilter()
        self._follow_links = follow_links
        self.notebook: Notebook | None = None
        """What is known of files read before; None reads them all."""

    @classmethod
    def from_settings(cls, limits: IngestSettings, settings: SourceSettings | None, _cache: Path) -> Self:
        """Return the source as configured."""
        if settings is None:
            return cls(max_bytes=limits.max_bytes)
        chosen = cast(FilesSettings, settings)
        paths = PathFilter(chosen.include, chosen.exclude)
        return cls(max_bytes=limits.max_bytes, paths=paths, follow_links=chosen.follow_links)

    def accepts(self, target: str) -> bool:
        """Say whether `target` is a path or a file:// URI. What has another scheme is one only where it exists."""
        scheme = _SCHEME.match(target)
        return scheme is None or (scheme[1] or "").lower() == "file" or _exists(target)

    def scope(self, target: str) -> str:
        """Return the prefix of every address under `target`: a folder ends with "/", a corpus with "#".

        The address of one record is its own prefix: whoever removes a record must not lose the corpus.
        """
        path = path_of(target)
        record = urlsplit(target).fragment if target.lower().startswith("file://") else ""
        if record:
            return f"{file_address(path)}#{record}"
        if path.lower().endswith(CORPUS_ENDINGS + _CONTAINER_ENDINGS) and not os.path.isdir(path):
            return file_address(path) + "#"
        return file_address(path).rstrip("/") + "/" if os.path.isdir(path) else file_address(path)

    def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield every document under `target`; what cannot be read is a failure and the walk goes on."""
        return stepped(self._walk(path_of(target)))

    def expected(self, target: str) -> int | None:
        """Return how many files there are under `target`; None where a file holds nobody knows how many documents."""
        path = path_of(target)
        if not os.path.isdir(path):
            return None
        found = 0
        for one in files_under(path, self._paths, follow_links=self._follow_links):
            if isinstance(one, str) and one.lower().endswith(CORPUS_ENDINGS + _CONTAINER_ENDINGS):
                return None
            found += 1
        return found

    def _walk(self, path: str) -> Iterator[SourceItem | SourceFailure]:
        if not os.path.lexists(path):
            yield failure(path, MissingSourceError(f"{shown_name(path) or path} does not exist."))
        elif os.path.isdir(path):
            yield from self._folder(path)
        else:
            yield from self._file(path)

    def _folder(self, root: str) -> Iterator[SourceItem | SourceFailure]:
        for found in files_under(root, self._paths, follow_links=self._follow_links):
            if isinstance(found, SourceFailure):
                yield found
            else:
                yield from self._file(found)

    def _file(self, path: str) -> Iterator[SourceItem | SourceFailure]:
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                yield failure(path, MissingSourceError(f"{shown_name(path)} is not a regular file."))
            elif self.notebook is None:
                yield from self._contents(path)
            else:
                yield from self._unless_known(path, status, self.notebook)
        except OSError as error:
            yield failure(path, MissingSourceError(f"{shown_name(path)} cannot be read: {error.strerror or error}."))

    def _unless_known(
        self, path: str, status: os.stat_result, notebook: Notebook
    ) -> Iterator[SourceItem | SourceFailure]:
        address, mark = file_address(path), mark_of(status)
        if notebook.mark_of(address) == mark:
            notebook.skip(address)
            return
        begun = time.time_ns()
        yield from self._contents(path)
        if mark_of(os.stat(path)) == mark and is_settled(status, begun):
            notebook.note(address, mark)

    def _contents(self, path: str) -> Iterator[SourceItem | SourceFailure]:
        if path.lower().endswith(CORPUS_ENDINGS):
            yield from read_records(path, max_bytes=self._max_bytes)
        else:
            yield self._read(path)

    def _read(self, path: str) -> SourceItem | SourceFailure:
        with open(path, "rb") as file:
            # The size may lie (a growing log): one byte more than allowed is asked for, never everything.
            data = b"" if os.fstat(file.fileno()).st_size > self._max_bytes else file.read(self._max_bytes + 1)
            too_large = os.fstat(file.fileno()).st_size > self._max_bytes or len(data) > self._max_bytes
        if too_large:
            limit = self._max_bytes
            return failure(path, OversizeDocumentError(f"{shown_name(path)} is larger than {limit:,} bytes."))
        return SourceItem(source=file_address(path), name=shown_name(path), size=len(data), data=data)


def files_under(root: str, paths: PathFilter, *, follow_links: bool = True) -> Iterator[str | SourceFailure]:
    """Yield the files under a folder that `paths` takes, sorted by name at each level, without hidden files and junk.

    A symbolic link to something inside the same root is skipped, because it is met as itself; a link to a file or
    folder outside is followed once, if at all. So loops end and no file comes twice.
    """
    seen = {_identity(root)}
    below = len(root.rstrip("/")) + 1
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted((entry for entry in entries if not is_junk(entry.name)), key=lambda entry: entry.name)
        except OSError as error:
            yield failure(folder, MissingSourceError(f"{shown_name(folder)} cannot be listed: {error.strerror}."))
            continue
        folders = []
        for entry in found:
            path = entry.path[below:]
            if entry.is_symlink() and (_is_inside(entry.path, root) or not follow_links):
                continue
            if _is_folder(entry):
                identity = _identity(entry.path)
                if identity not in seen and paths.enters(path):
                    seen.add(identity)
                    folders.append(entry.path)
            elif paths.takes(path):
                yield entry.path
        waiting.extend(reversed(folders))


def mark_of(status: os.stat_result) -> str:
    """Return how a file looks from outside. The change time is among it, which nobody can set back."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"


def is_settled(status: os.stat_result, now: int) -> bool:
    """Say whether a file was last changed long enough before `now` (nanoseconds since 1970) for its times to show a
    later change: those of some file systems move in steps of two seconds."""
    return max(status.st_mtime_ns, status.st_ctime_ns) + _STEP_NS <= now


def is_junk(name: str) -> bool:
    """Say whether a file or folder of this name is kept by a system or program for itself."""
    return name.startswith((".", "~$")) or name.lower() in _JUNK


def _exists(target: str) -> bool:
    try:
        return os.path.lexists(target)
    except ValueError:
        return False  # a NUL byte


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_inside(link: str, root: str) -> bool:
    real = os.path.realpath(link)
    if not os.path.exists(real):
        return False  # a dangling or endless link is reported, not hidden
    return real == root or real.startswith(root.rstrip("/") + "/") or root.startswith(real.rstrip("/") + "/")


def _identity(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (-1, hash(path))
    return (status.st_dev, status.st_ino)


def failure(path: str, error: DocumentError) -> SourceFailure:
    """Return what is reported for a path that could not be read."""
    return SourceFailure(source=file_address(path), code=error.code, message=str(error))
