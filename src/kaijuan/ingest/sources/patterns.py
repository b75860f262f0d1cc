"""Which paths are wanted: globs written as in .gitignore."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kaijuan.errors import UsageError

if TYPE_CHECKING:
    from wcmatch.glob import WcMatcher


class PathFilter:
    """What is included and not excluded. Paths are relative to the place walked, with "/" between their parts.

    A pattern without a slash fits at any depth; one with a slash counts from the top; one that fits a folder fits all
    that is in it; one that ends with a slash fits folders only. Upper and lower case are the same, as with endings.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = _compiled(include)
        self._exclude = _compiled(exclude)

    def takes(self, path: str) -> bool:
        """Say whether the document at `path` is wanted."""
        path = unicodedata.normalize("NFC", path)
        if self._exclude is not None and self._exclude.match(path):
            return False
        return self._include is None or self._include.match(path)

    def enters(self, folder: str) -> bool:
        """Say whether anything in `folder` can be wanted."""
        return self._exclude is None or not self._exclude.match(unicodedata.normalize("NFC", folder) + "/")


def _compiled(patterns: Sequence[str]) -> WcMatcher[str] | None:
    if not patterns:
        return None
    from wcmatch import glob  # late: most walks take everything

    globs = [made for pattern in patterns for made in _globs(pattern)]
    return glob.compile(globs, flags=glob.GLOBSTAR | glob.DOTMATCH | glob.FORCEUNIX | glob.IGNORECASE, limit=0)


def _globs(pattern: str) -> list[str]:
    """Return the globs over whole paths that say what one line of .gitignore says."""
    bare = unicodedata.normalize("NFC", pattern).strip().rstrip("/")
    if not bare.strip("/") or "\x00" in bare:
        raise UsageError(f"{pattern!r} is no pattern.", hint="Write it as in .gitignore: *.pdf, drafts/, /old/**.")
    anchored = bare.lstrip("/") if "/" in bare else f"**/{bare}"
    inside = f"{anchored}/**"
    return [inside] if pattern.rstrip().endswith("/") else [anchored, inside]
