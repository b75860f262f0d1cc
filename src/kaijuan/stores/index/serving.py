"""The owner's socket: connections, requests in flight, idleness. What the verbs do is in `service.py`."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
import traceback

from kaijuan.errors import KaijuanError, StoreError
from kaijuan.stores.index import protocol
from kaijuan.stores.index.service import Service
from kaijuan.stores.index.station import Station

_LOOK_SECONDS = 1.0
"""How often the owner looks whether home, socket and card are still there."""


class Server:
    """Answers connections until asked to leave or idle for long enough."""

    def __init__(self, service: Service, station: Station, *, idle_seconds: float) -> None:
        self._service = service
        self._station = station
        self._idle = idle_seconds
        self._leaving = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._last = asyncio.get_running_loop().time()

    def leave(self) -> None:
        """Ask the server to end."""
        self._leaving.set()

    async def run(self, listener: socket.socket) -> None:
        """Serve until it is time to leave."""
        self._server = await self._open(listener)
        watches = [asyncio.create_task(self._watch_idleness()), asyncio.create_task(self._watch_station())]
        await self._leaving.wait()
        for watch in watches:
            watch.cancel()
        self._server.close()

    async def _open(self, listener: socket.socket) -> asyncio.Server:
        return await asyncio.start_unix_server(self._connection, sock=listener, limit=2**20)

    async def hang_up(self) -> None:
        """Close every connection; clients take the end of the stream as the sign that all is on disk."""
        for task in list(self._tasks):
            task.cancel()
        for writer in list(self._writers):
            writer.close()

    async def _watch_idleness(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            rest = self._last + self._idle - loop.time()
            if rest <= 0 and not self._tasks:
                self.leave()
                return
            await asyncio.sleep(max(rest, 0.05))

    async def _watch_station(self) -> None:
        """Go where the home has gone; where only socket or card have, make them anew, or leave if that fails."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            if not self._station.holds():
                self._station.abandon()
            try:
                if self._station.listens():
                    self._station.show()
                else:
                    self._server.close()  # connections that are open stay
                    self._server = await self._open(self._station.listen())
            except (OSError, StoreError) as error:
                print(error, file=sys.stderr)  # noqa: T201 the owner's log
                self.leave()
                return

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not _same_user(writer.get_extra_info("socket")):
            writer.close()
            return
        self._writers.add(writer)
        try:
            while not self._leaving.is_set():
                request, verb, arguments = await protocol.read_message(reader)
                task = asyncio.create_task(self._answer(writer, request, verb, arguments))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                # Let the request run before the next is read: order of arrival is order of effect, and no client
                # that sends without pause keeps the others waiting.
                await asyncio.sleep(0)
        except (EOFError, ConnectionError, asyncio.CancelledError):
            pass
        except StoreError as error:
            print(error, file=sys.stderr)  # noqa: T201 the owner's log
        finally:
            if not self._leaving.is_set():
                self._writers.discard(writer)
                writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, request: int, verb: str, arguments: protocol.Message) -> None:
        try:
            answer = [request, None, await self._perform(verb, arguments)]
        except KaijuanError as error:
            answer = [request, protocol.pack_error(error), None]
        except Exception as error:  # noqa: BLE001 a fault in one verb must not end the owner of all spaces
            traceback.print_exc()
            answer = [request, protocol.pack_error(StoreError(f"The index owner failed: {error!r}.")), None]
        try:
            writer.write(protocol.pack(answer))
            await writer.drain()
        except (ConnectionError, RuntimeError):
            pass  # the client has gone; it asked for nothing that must be undone
        if verb not in ("hello", "ping"):  # looking whether the owner is there is no work
            self._last = asyncio.get_running_loop().time()

    async def _perform(self, verb: str, arguments: protocol.Message) -> object:
        if verb == "ping":
            return None
        if not self._station.holds():
            self._station.abandon()
        if verb == "hello":
            return [os.getpid(), protocol.VERSION, self._station.identity]
        if verb == "leave":
            self.leave()
            return None
        if verb not in self._service.verbs:
            raise StoreError(f"The index owner does not know {verb!r}.")
        return await self._service.verbs[verb](*arguments)


def _same_user(connection: socket.socket) -> bool:
    """Say whether the peer runs as this user. Elsewhere than on Linux the folder's mode alone guards the socket."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, user, _ = struct.unpack("3i", packed)
    return bool(user == os.getuid())
