"""What an index owner holds of its home: folder, lock, socket and card, and whether they are still its own.

People move, copy and remove folders under a living process. The owner therefore keeps the folder and the lock open:
while it does, no other folder can have their identity, and what it removes is its own wherever it went.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from kaijuan.stores.index.cards import Card, read_card
from kaijuan.stores.index.places import Identity, Places, prepare_runtime, sockets


class Station:
    """The place of one owner, taken by `take` and given back by `clear`."""

    def __init__(self, places: Places, folder: int, lock: int) -> None:
        self._places = places
        self._folder = folder
        self._lock = lock
        found = os.fstat(folder)
        self.identity: Identity = (found.st_dev, found.st_ino)
        self._socket: Path | None = None
        self._bound: os.stat_result | None = None

    @classmethod
    def take(cls, places: Places) -> Station | None:
        """Take the home's lock, None when another process holds it. OSError when it cannot be made."""
        folder = os.open(places.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        lock = os.open(places.lock.name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=folder)
        station = cls(places, folder, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            station.close()
            return None
        if not station.holds():  # replaced between opening and locking
            station.close()
            return None
        return station

    def sign(self) -> None:
        """Write this process into the lock, for the message that a busy client gives."""
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(os.getpid()).encode(), 0)

    def holds(self) -> bool:
        """Say whether the home's path still leads to our folder and the lock in it is still ours."""
        try:
            return _same(self._places.root, self._folder) and _same(self._places.lock, self._lock)
        except OSError:
            return False

    def listen(self) -> socket.socket:
        """Bind the socket and tell where it is. Files of a killed owner are in nobody's way: the lock is ours."""
        place = sockets(self.identity)[0]
        prepare_runtime(place.parent)
        place.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(place))
            place.chmod(0o600)
            listener.listen(128)
            self._socket, self._bound = place, place.lstat()
            self.show()
        except BaseException:
            listener.close()
            self.clear()
            raise
        return listener

    def listens(self) -> bool:
        """Say whether the socket is still there and ours; cleaners of temporary folders take old ones away."""
        try:
            return self._socket is not None and os.path.samestat(self._socket.lstat(), self._bound or os.stat("/"))
        except OSError:
            return False

    def show(self) -> None:
        """Write the card unless it is there."""
        if self._socket is None:
            return
        card = Card(pid=os.getpid(), socket=self._socket, index=self.identity)
        if read_card(self._places.card.name, folder=self._folder) == card:
            return
        draft = self._places.card.with_suffix(".draft").name
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with os.fdopen(os.open(draft, flags, 0o600, dir_fd=self._folder), "w", encoding="utf-8") as file:
            file.write(card.text())
        os.replace(draft, self._places.card.name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def clear(self) -> None:
        """Remove card and socket, if they are ours: a successor may have written its own by now."""
        with suppress(OSError):
            if os.path.samestat(os.stat(self._places.lock.name, dir_fd=self._folder), os.fstat(self._lock)):
                card = read_card(self._places.card.name, folder=self._folder)
                if card is not None and card.pid == os.getpid():
                    os.unlink(self._places.card.name, dir_fd=self._folder)
        if self._socket is not None and self.listens():
            self._socket.unlink(missing_ok=True)

    def abandon(self) -> NoReturn:
        """End this process and its children at once, as if killed: nothing acknowledged is lost by that.

        For an owner whose home was moved, removed or replaced. Leaving in order would flush by path, and what is at
        the path now belongs to somebody else.
        """
        self.clear()
        print(f"{self._places.root} was moved, removed or replaced; its owner leaves.", file=sys.stderr, flush=True)  # noqa: T201 the owner's log
        if os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    def close(self) -> None:
        """Give up folder and lock."""
        os.close(self._lock)
        os.close(self._folder)


def _same(place: Path, handle: int) -> bool:
    return os.path.samestat(place.stat(), os.fstat(handle))
