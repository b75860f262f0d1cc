"""Where the index owner of a home keeps its lock, card, log and socket. Standard library only."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from kaijuan.errors import StoreError

HELD = 75
"""Exit code of an owner that found the home held by another (EX_TEMPFAIL of sysexits.h)."""
_LONGEST = 100
"""Characters in a socket path that every system takes (macOS: 104 bytes)."""

Identity = tuple[int, int]
"""Device and inode of an index folder: a copied home has another one, a moved home keeps it."""


class Places:
    """All paths of one home's index owner."""

    def __init__(self, home: Path) -> None:
        self.root = home.absolute() / "index"
        self.lock = self.root / "owner.lock"
        self.card = self.root / "owner.json"
        """Process, socket and folder of the owner that answers; absent or stale when there is none."""
        self.log = self.root / "owner.log"

    def identity(self) -> Identity:
        """Return which folder the path leads to now; OSError when to none."""
        found = self.root.stat()
        return found.st_dev, found.st_ino

    @property
    def socket(self) -> Path:
        """The socket of an owner started here. The folder must be there."""
        return sockets(self.identity())[0]

    def prepare(self) -> None:
        """Make the folders; the runtime folder must be ours and closed to others."""
        self.root.mkdir(parents=True, exist_ok=True)
        prepare_runtime(self.socket.parent)


def sockets(identity: Identity) -> list[Path]:
    """Return where the socket of a folder's owner may be, the place for a new one first.

    Named after the folder itself and not after its path: no two homes meet at one socket, and a home that was moved
    still finds its owner, which then notices.
    """
    digest = hashlib.blake2b(repr(identity).encode(), digest_size=12).hexdigest()
    places = [
        Path(base) / f"kaijuan-{os.getuid()}" / f"{digest}.sock"
        for base in (tempfile.gettempdir(), "/tmp")  # noqa: S108 a folder of our own, mode 0700, inside it
    ]
    short = [place for place in dict.fromkeys(places) if len(os.fsencode(place)) <= _LONGEST]
    if not short:
        raise StoreError("No path short enough for a socket was found.", hint="Set TMPDIR to a short path.")
    return short


def prepare_runtime(folder: Path) -> None:
    """Make the folder of sockets if it is missing; it must be ours and closed to others."""
    folder.mkdir(mode=0o700, exist_ok=True)
    check_private(folder)


def check_private(folder: Path) -> None:
    """Raise StoreError unless the folder belongs to this user and is closed to all others."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise StoreError(
            f"{folder} is not a private folder of this user, so the index owner's socket cannot be trusted there.",
            hint="Remove it, or set TMPDIR to a folder of your own.",
        )
