"""Files of one commit of a git repository, on this machine or a remote one."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Self, cast
from urllib.parse import quote, quote_from_bytes, unquote, urlsplit

from kaijuan.core.documents import Metadata
from kaijuan.errors import (
    BrokenDocumentError,
    DocumentError,
    FetchError,
    MissingSourceError,
    OversizeDocumentError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.addresses import file_address, path_of
from kaijuan.ingest.sources.files import is_junk
from kaijuan.ingest.sources.git_command import Git, read_blob
from kaijuan.ingest.sources.hosts import Resolve, address_of, resolved
from kaijuan.ingest.sources.patterns import PathFilter
from kaijuan.ingest.sources.settings import GitSettings, SourceSettings
from kaijuan.ingest.sources.stepping import stepped

_SCHEME = "git+"
_REMOTE = frozenset({"http", "https", "ssh"})
_REF = re.compile(r"(?!-)[\w./+@{}^~-]{1,200}")
_QUICK_SECONDS = 60.0
_LONGEST_LINE = 1 << 20
_LFS = b"version https://git-lfs.github.com/spec/"
_FILE_MODES = frozenset({b"100644", b"100755", b"100664"})
"""Links (120000) are never followed, submodules (160000) never fetched."""
_AUTHOR = re.compile(rb"^author (.*?) ?<[^>]*> (-?\d{1,15}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_DAMAGED = re.compile(r"corrupt|bad object|not a git repository|unable to read|missing blob|bad tree", re.IGNORECASE)


class GitSource:
    """Source of the files that a commit holds: git+/path, git+file://, git+https:// or git+ssh://, and @ref.

    What .gitignore keeps out is in no commit. A remote repository is fetched without its history, into the cache.
    """

    def __init__(
        self,
        *,
        limits: IngestSettings,
        cache: Path,
        settings: GitSettings | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._limits = limits
        self._cache = cache / "git"
        self._settings = settings or GitSettings(at=_SCHEME)
        self._paths = PathFilter(self._settings.include, self._settings.exclude)
        self._resolve = resolve or resolved

    @classmethod
    def from_settings(cls, limits: IngestSettings, settings: SourceSettings | None, cache: Path) -> Self:
        """Return the source as configured."""
        return cls(limits=limits, cache=cache, settings=cast(GitSettings | None, settings))

    def accepts(self, target: str) -> bool:
        """Say whether `target` begins with git+."""
        return target.lower().startswith(_SCHEME) and len(target) > len(_SCHEME)

    def scope(self, target: str) -> str:
        """Return the address of the repository, with its ref if one is given, and "#"; that of a file as it is."""
        repository, found, path = target.partition("#")
        return f"{_place(repository, self._settings.ref).address}#{path if found else ''}"

    def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield every file of the commit, sorted by path."""
        return stepped(self._walk(_place(target.partition("#")[0], self._settings.ref)))

    def _walk(self, place: _Place) -> Iterator[SourceItem | SourceFailure]:
        try:
            if not _REF.fullmatch(place.ref):
                raise BrokenDocumentError(
                    f"{place.ref!r} is no name of a commit.", hint="Give a branch, tag or commit."
                )
            git, commit = self._commit(place)
            yield from self._files(git, place, commit)
        except DocumentError as error:
            yield SourceFailure(source=place.address, code=error.code, message=f"{place.address}: {error}")

    def _commit(self, place: _Place) -> tuple[Git, str]:
        """Return where the commit can be read, and its full name."""
        if place.scheme == "file":
            if not os.path.isdir(place.path):
                raise MissingSourceError(f"There is no folder {place.path}.")
            git = Git(folder=place.path)
            return git, _named(git, place.ref)
        if place.scheme not in _REMOTE or not place.host:
            raise BrokenDocumentError(
                "Repositories are read from paths, and by https, ssh and http.", hint="Write git+https://host/path."
            )
        return self._fetched(place)

    def _fetched(self, place: _Place) -> tuple[Git, str]:
        folder = self._cache / hashlib.sha256(place.url.encode()).hexdigest()[:32]
        try:
            return self._fetch(place, folder)
        except FetchError as error:
            if not _DAMAGED.search(error.message):
                raise
            # The cache is ours and can be made again.
            shutil.rmtree(folder, ignore_errors=True)
            return self._fetch(place, folder)

    def _fetch(self, place: _Place, folder: Path) -> tuple[Git, str]:
        settings = self._network(place)
        token = f"{place.user or 'git'}:{self._settings.token.get_secret_value()}" if self._settings.token else ""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        git = Git(folder=str(folder), protocols=place.scheme, settings=settings, token=token or place.login)
        if not (folder / "HEAD").exists():
            git.said("init", "--quiet", "--bare", "--template=", ".", seconds=_QUICK_SECONDS)
        # A name for each ref: another base may want another one of the same repository.
        wanted = f"refs/kaijuan/{hashlib.sha256(place.ref.encode()).hexdigest()[:16]}"
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--force")
        git.said(
            *("fetch", *options, "--", place.url, f"{place.ref}:{wanted}"),
            seconds=self._settings.seconds,
            most_bytes=self._limits.max_unpacked_bytes,
        )
        reading = Git(folder=str(folder))
        return reading, _named(reading, wanted)

    def _network(self, place: _Place) -> dict[str, str]:
        """Return settings that keep git from asking any other host than the one that was checked."""
        if self._limits.allow_private_addresses:
            return {}
        ip = address_of(place.host, place.port, resolve=self._resolve)
        if place.scheme == "ssh":
            return {}
        shown = f"[{ip}]" if ":" in ip else ip
        return {
            "http.curloptResolve": f"{place.host}:{place.port}:{shown}",
            "http.followRedirects": "false",
            # Behind a proxy nobody knows where a name leads.
            "http.proxy": "",
        }

    def _files(self, git: Git, place: _Place, commit: str) -> Iterator[SourceItem | SourceFailure]:
        metadata = _commit_metadata(git.said("cat-file", "commit", commit, seconds=_QUICK_SECONDS), commit)
        listing = ("ls-tree", "-r", "-z", "-l", "--full-tree", commit)
        with git.running("cat-file", "--batch") as blobs, git.running(*listing) as tree:
            for number, entry in enumerate(_entries(tree), 1):
                if number > self._limits.max_members:
                    raise OversizeDocumentError(
                        f"It holds more than {self._limits.max_members:,} files.", hint="Raise ingest.max_members."
                    )
                if self._is_wanted(entry):
                    yield self._file(blobs, place, entry, metadata)

    def _is_wanted(self, entry: _Entry) -> bool:
        path = os.fsdecode(entry.path)
        return entry.mode in _FILE_MODES and not any(map(is_junk, path.split("/"))) and self._paths.takes(path)

    def _file(
        self, blobs: subprocess.Popen[bytes], place: _Place, entry: _Entry, metadata: Metadata
    ) -> SourceItem | SourceFailure:
        address = f"{place.address}#{quote_from_bytes(entry.path, safe='/~-._')}"
        name = entry.path.decode("utf-8", "replace")
        try:
            if entry.size > self._limits.max_bytes:
                raise OversizeDocumentError(f"{name} is larger than {self._limits.max_bytes:,} bytes.")
            data = read_blob(blobs, entry.object)
            if data.startswith(_LFS):
                raise UnsupportedDocumentError(f"{name} lies in Git LFS, which is not read.", hint="Add it as a file.")
        except DocumentError as error:
            return SourceFailure(source=address, code=error.code, message=f"{address}: {error}")
        return SourceItem(source=address, name=name.rpartition("/")[2], size=len(data), data=data, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A repository and the ref that is wanted of it."""

    path: str
    """Of a repository on this machine: where. Of others: the path in their address."""
    ref: str
    is_default: bool
    scheme: str = "file"
    host: str = ""
    port: int = 0
    user: str = ""
    login: str = ""
    """user:password, where the address held one; never shown."""

    @property
    def url(self) -> str:
        """The address as git is told it, without a password."""
        if self.scheme == "file":
            return file_address(self.path)
        user = f"{quote(self.user)}@" if self.user and self.scheme == "ssh" else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS.get(self.scheme, 0) else f":{self.port}"
        return f"{self.scheme}://{user}{host}{port}{self.path}"

    @property
    def address(self) -> str:
        """The lasting address: what users wrote, brought to one form."""
        return f"{_SCHEME}{self.url}" + ("" if self.is_default else f"@{quote(self.ref, safe='/~-._+')}")


_PORTS = {"https": 443, "http": 80, "ssh": 22}


def _place(target: str, ref: str) -> _Place:
    """Read git+URL@ref. An address that cannot be read becomes a place that no scheme fits."""
    bare = target[len(_SCHEME) :]
    start, slash, last = bare.rpartition("/")
    name, at, written = last.partition("@")
    if at and name and not os.path.isdir(path_of(bare)):  # a folder may have an @ in its name
        bare, ref = f"{start}{slash}{name}", unquote(written)
    local = _Place(path=path_of(bare), ref=ref or "HEAD", is_default=not ref)
    if "://" not in bare or bare.lower().startswith("file://"):
        return local
    try:
        parts = urlsplit(bare)
        scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
        port = parts.port or _PORTS.get(scheme, 0)
    except ValueError:
        return replace(local, scheme="")
    login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if parts.password else ""
    user = unquote(parts.username or "")
    path = parts.path.rstrip("/")
    return replace(local, scheme=scheme, host=host, port=port, user=user, login=login, path=path)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    mode: bytes
    object: bytes
    size: int
    path: bytes


def _entries(tree: subprocess.Popen[bytes]) -> Iterator[_Entry]:
    """Read `ls-tree -z -l` piece by piece: a tree of trees can name more files than any memory holds."""
    if tree.stdout is None:
        raise ValueError("the process has no pipes")
    rest = b""
    while piece := tree.stdout.read1(1 << 16):  # type: ignore[attr-defined] # the pipe is buffered
        *whole, rest = (rest + piece).split(b"\0")
        if len(rest) > _LONGEST_LINE:
            raise BrokenDocumentError("The repository's tree holds a name without end.", hint="Run `git fsck` on it.")
        for line in whole:
            facts, _, path = line.partition(b"\t")
            mode, _, name, size = facts.split()
            yield _Entry(mode=mode, object=name, size=int(size) if size.isdigit() else 0, path=path)
    if tree.wait():
        raise BrokenDocumentError("The repository's tree cannot be read.", hint="Run `git fsck` on it.")


def _named(git: Git, ref: str) -> str:
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    try:
        return git.said(*words, seconds=_QUICK_SECONDS).decode().strip()
    except FetchError as error:
        if "it said nothing" not in error.message:
            raise
        raise MissingSourceError(
            f"There is no commit {ref} in it.", hint="Check the ref; is it a repository?"
        ) from error


def _commit_metadata(commit: bytes, name: str) -> Metadata:
    found = _AUTHOR.search(commit.partition(b"\n\n")[0])
    if found is None:
        return {"commit": name}
    author, seconds, sign, hours, minutes = found.groups()
    ahead = timedelta(hours=int(hours), minutes=int(minutes)) * (1 if sign == b"+" else -1)
    try:
        when = datetime.fromtimestamp(int(seconds), timezone(ahead)).isoformat()
    except (ValueError, OverflowError, OSError):
        when = ""  # a commit may claim any time
    facts = {"commit": name, "commit_author": author.decode("utf-8", "replace").strip(), "commit_date": when}
    return {key: value for key, value in facts.items() if value}
