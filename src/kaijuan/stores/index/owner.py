"""The index owner process: `python -m kaijuan.stores.index.owner HOME [--idle SECONDS]`.

One per home, by a lock held for its life. The command returns when the owner answers (code 0), when another
process holds the home (75), or with 1 when it cannot start; the owner itself lives on in the background.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from kaijuan.errors import KaijuanError
from kaijuan.stores.index.places import HELD, Places
from kaijuan.stores.index.station import Station

# Nothing heavy is imported up here: the process forks, and a library's threads would not survive that.


def main(arguments: list[str] | None = None) -> int:
    """Take the home's lock, go into the background and serve. Returns the exit code of the command."""
    parser = argparse.ArgumentParser(prog="kaijuan.stores.index.owner")
    parser.add_argument("home", type=Path)
    parser.add_argument("--idle", type=float, default=300.0)
    chosen = parser.parse_args(arguments)
    places = Places(chosen.home.resolve())  # a link that leads elsewhere tomorrow does not move this home
    try:
        return _run(places, chosen.idle)
    except (OSError, KaijuanError) as error:
        print(_sentence(places, error), file=sys.stderr)  # noqa: T201 the owner's log; its last line reaches people
        return 1


def _run(places: Places, idle_seconds: float) -> int:
    places.prepare()
    station = Station.take(places)
    if station is None:
        return HELD
    receiving, sending = os.pipe()
    if os.fork():
        os.close(sending)
        return 0 if os.read(receiving, 1) else 1
    os.close(receiving)
    os.setsid()
    os.chdir("/")  # the folder it was started in is not the owner's to keep
    station.sign()
    asyncio.run(_serve(station, places.root, idle_seconds, sending))
    return 0


def _sentence(places: Places, error: OSError | KaijuanError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{places.root / os.fsdecode(error.filename)}: {error.strerror}."
    return str(error)


async def _serve(station: Station, root: Path, idle_seconds: float, ready: int) -> None:
    from kaijuan.stores.index.service import Service
    from kaijuan.stores.index.serving import Server

    service = Service(root)
    server = Server(service, station, idle_seconds=idle_seconds)
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(name, server.leave)
    listener = station.listen()
    os.write(ready, b"!")
    os.close(ready)
    try:
        await server.run(listener)
    finally:
        if not station.holds():
            station.abandon()
        station.clear()
        try:
            await service.close()
        finally:
            await server.hang_up()


if __name__ == "__main__":
    sys.exit(main())
