"""The index owner process: `python -m kaijuan.stores.index.owner HOME [--idle SECONDS]`.

One per home, by a lock held for its life. The command returns when the owner answers (code 0), when another
process holds the home (75), or with 1 when it cannot start; the owner itself lives on in the background.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import signal
import socket
import sys
from pathlib import Path

from kaijuan.stores.index.places import HELD, Places

# Nothing heavy is imported up here: the process forks, and a library's threads would not survive that.


def main(arguments: list[str] | None = None) -> int:
    """Take the home's lock, go into the background and serve. Returns the exit code of the command."""
    parser = argparse.ArgumentParser(prog="kaijuan.stores.index.owner")
    parser.add_argument("home", type=Path)
    parser.add_argument("--idle", type=float, default=300.0)
    chosen = parser.parse_args(arguments)
    places = Places(chosen.home)
    places.prepare()
    lock = _take_lock(places.lock)
    if lock is None:
        return HELD
    receiving, sending = os.pipe()
    if os.fork():
        os.close(sending)
        return 0 if os.read(receiving, 1) else 1
    os.close(receiving)
    os.setsid()
    os.chdir("/")  # the folder it was started in is not the owner's to keep
    _write_pid(lock)
    asyncio.run(_serve(places, chosen.idle, sending))
    return 0


def _take_lock(place: Path) -> int | None:
    lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock


def _write_pid(lock: int) -> None:
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)


async def _serve(places: Places, idle_seconds: float, ready: int) -> None:
    from kaijuan.stores.index.service import Service
    from kaijuan.stores.index.serving import Server

    service = Service(places.root)
    server = Server(service, idle_seconds=idle_seconds)
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, server.leave)
    listener = _listen(places)
    os.write(ready, b"!")
    os.close(ready)
    try:
        await server.run(listener)
    finally:
        places.card.unlink(missing_ok=True)
        places.socket.unlink(missing_ok=True)
        try:
            await service.close()
        finally:
            await server.hang_up()


def _listen(places: Places) -> socket.socket:
    """Bind the socket and tell where it is. Files of a killed owner are in nobody's way: the lock is ours."""
    places.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(places.socket))
    places.socket.chmod(0o600)
    listener.listen(128)
    draft = places.card.with_suffix(".draft")
    draft.write_text(json.dumps({"pid": os.getpid(), "socket": str(places.socket)}), "utf-8")
    draft.replace(places.card)
    return listener


if __name__ == "__main__":
    sys.exit(main())
