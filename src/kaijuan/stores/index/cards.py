"""The card by which the index owner of a home is found, and which sockets may be tried. Standard library only.

Anything may lie where a card is expected: one copied with its home, left by a crash, of another version, or rubbish.
A card is therefore a hint that saves a search and never an authority; what cannot be believed counts as absent.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from kaijuan.errors import StoreError
from kaijuan.stores.index.places import Identity, Places, check_private, sockets

_LIMIT = 64 * 2**10


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What owner.json says."""

    pid: int
    socket: Path
    index: Identity
    """The folder that the owner serves."""

    def text(self) -> str:
        """Return the card as it is written."""
        return json.dumps({"pid": self.pid, "socket": str(self.socket), "index": self.index})


def read_card(place: Path | str, *, folder: int | None = None) -> Card | None:
    """Return the card, or None for whatever else is there. `folder` is what a relative place is relative to."""
    try:
        body = json.loads(_read(place, folder))
        pid, socket, (device, inode) = body["pid"], Path(body["socket"]), body["index"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    if any(type(number) is not int for number in (pid, device, inode)) or not 0 < pid < 2**31:
        return None
    return Card(pid=pid, socket=socket, index=(device, inode))


def _read(place: Path | str, folder: int | None) -> bytes:
    handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)  # a pipe must not block us
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("not a file")
        return os.read(handle, _LIMIT)
    finally:
        os.close(handle)


def doors(places: Places) -> list[tuple[int, Path]]:
    """Return the sockets at which the owner of this home may answer, each with its process (0 where unknown).

    The card only tells in which folder of temporary files the owner made its socket: clients with another TMPDIR
    would not find it. The name follows from the home, and the folder must be private.
    """
    try:
        identity = places.identity()
    except OSError:
        return []
    usual = sockets(identity)
    found: dict[Path, int] = {}
    card = read_card(places.card)
    if card is not None and card.index == identity and _alike(card.socket, usual[0]):
        found[card.socket] = card.pid
    for place in usual:
        found.setdefault(place, 0)
    return [(pid, place) for place, pid in found.items() if _trusted(place)]


def _alike(place: Path, usual: Path) -> bool:
    return place.is_absolute() and (place.name, place.parent.name) == (usual.name, usual.parent.name)


def _trusted(place: Path) -> bool:
    try:
        check_private(place.parent)
        return place.is_socket()
    except (OSError, ValueError, StoreError):
        return False
