"""What this package is made of: one hash over its code and the data files it ships (fitted coefficients, prompts).

A version number stays the same while both change under it; what was made with other code or data is another result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import cache
from pathlib import Path

_COMPILED = "__pycache__"


@cache
def fingerprint(without: frozenset[str] = frozenset()) -> str:
    """Return a hash of all files of the package, in hexadecimal, leaving out the rooms (or files) named.

    Read once a process: what changes on disk afterwards is not what this process runs.
    """
    return fingerprint_of(Path(__file__).parents[1], without)


def fingerprint_of(root: Path, without: Collection[str] = ()) -> str:
    """Return a hash of the files under `root`, by name and content, leaving out what lies in the folders named."""
    digest = hashlib.blake2b(digest_size=32)
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root)
        if place.parts[0] in without or _COMPILED in place.parts or not path.is_file():
            continue
        for piece in (place.as_posix().encode(), path.read_bytes()):
            digest.update(len(piece).to_bytes(8, "big"))
            digest.update(piece)
    return digest.hexdigest()
