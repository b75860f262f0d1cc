"""Which documents have gone from a mirrored place. What could not be read has not gone."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator

from kaijuan.core.documents import Version
from kaijuan.core.ids import KbId
from kaijuan.index.catalog import Catalog
from kaijuan.jobs.notebook import Notebook

_PAGE = 1000
_DIGEST = 8


class Seen:
    """The sources met in a run and the places that failed. Keeps 8 bytes a source (16 in a run that mirrors), so that a
    run may be long."""

    def __init__(self) -> None:
        self._sources: set[bytes] = set()
        self._failed: set[str] = set()
        self._stayed: set[bytes] = set()
        self.notebook: Notebook | None = None
        """Sources that were met without being read."""

    def first(self, source: str) -> bool:
        """Remember a source; say whether it is met for the first time."""
        digest = _digest(source)
        if digest in self._sources:
            return False
        self._sources.add(digest)
        return True

    def fail(self, place: str) -> None:
        """Remember a file or folder that could not be read."""
        # A bad record hides which one it is: all records of its file count as unread.
        self._failed.add(place.partition("#")[0].rstrip("/"))

    def stay(self, source: str) -> None:
        """Remember a source that holds what it held before."""
        self._stayed.add(_digest(source))

    def stayed(self, source: str) -> bool:
        """Say whether a source is known to hold what it held before."""
        return _digest(source) in self._stayed or (self.notebook is not None and self.notebook.covers(source))

    def may_be_gone(self, source: str) -> bool:
        """Say whether a source was neither met nor lies in a place that failed."""
        if _digest(source) in self._sources or (self.notebook is not None and self.notebook.covers(source)):
            return False
        return not any(source == place or source.startswith((place + "/", place + "#")) for place in self._failed)


def _digest(source: str) -> bytes:
    return hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


def _under(scope: str, source: str) -> bool:
    # file:///a.txt is no scope of file:///a.txt.bak, though it begins with it.
    return source == scope or scope.endswith(("/", "#")) or source[len(scope)] in "/#"


async def gone(catalog: Catalog, kb: KbId, head: int, scope: str, seen: Seen) -> AsyncIterator[list[Version]]:
    """Yield, page by page, the documents under `scope` that readers see and the walk did not meet."""
    after = ""
    while page := await catalog.versions(kb, head, after=after, limit=_PAGE, prefix=scope):
        after = page[-1].source
        yield [one for one in page if is_gone(one.source, scope, seen)]


def is_gone(source: str, scope: str, seen: Seen) -> bool:
    """Say whether a source that begins with `scope` lies under it and the walk did not meet it."""
    return is_within(source, scope) and seen.may_be_gone(source)


def is_within(source: str, scope: str) -> bool:
    """Say whether a source is a scope or lies under it; everything lies under ""."""
    return source.startswith(scope) and (not scope or _under(scope, source))
