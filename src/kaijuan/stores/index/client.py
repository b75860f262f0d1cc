"""The client's end of the index owner's socket: find or start the owner, ask, and notice when it dies or hangs."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from kaijuan.errors import BusyError, ClosedError, StoreError
from kaijuan.stores.index import protocol
from kaijuan.stores.index.cards import doors
from kaijuan.stores.index.places import HELD, Places

_RETRY_SECONDS = 0.05
_STARTING = 4
"""Times the patience that a new owner may take to come up: loading the engine on a machine that is busy with other
things takes half a minute, and then it answers at once."""
_TAIL = 2_000
_LOG_LIMIT = 1_000_000


class LostOwnerError(Exception):
    """The connection ended. Kept inside this room: the caller tries once more or raises one of ours."""


class Connection:
    """One connection with any number of requests in flight."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, patience: float) -> None:
        self._reader = reader
        self._writer = writer
        self._patience = patience
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._next = 0
        self._heard = self._looked = asyncio.get_running_loop().time()
        self._listener = asyncio.create_task(self._listen())
        self.pid = 0

    @property
    def alive(self) -> bool:
        """Whether the owner has not hung up yet."""
        return not self._listener.done()

    async def _listen(self) -> None:
        try:
            while True:
                number, failure, result = await protocol.read_message(self._reader)
                self._heard = asyncio.get_running_loop().time()
                future = self._waiting.pop(number, None)
                if future is None or future.done():
                    continue
                if failure is None:
                    future.set_result(result)
                else:
                    future.set_exception(protocol.unpack_error(failure))
        except (EOFError, ConnectionError, StoreError):
            pass
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(LostOwnerError())
            self._waiting.clear()
            self._writer.close()

    def _send(self, verb: str, arguments: protocol.Message) -> asyncio.Future[Any]:
        if not self.alive:
            raise LostOwnerError
        self._next += 1
        frame = protocol.pack([self._next, verb, arguments])
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._next] = future
        try:
            self._writer.write(frame)
        except (ConnectionError, RuntimeError) as error:
            self._waiting.pop(self._next, None)
            raise LostOwnerError from error
        return future

    async def ask(self, verb: str, *arguments: Any) -> Any:
        """Return the owner's answer. A long answer is waited for as long as the owner answers pings meanwhile."""
        if not self._waiting:
            self._heard = self._looked = asyncio.get_running_loop().time()
        future = self._send(verb, list(arguments))
        try:
            while not (await asyncio.wait([future], timeout=self._patience / 2))[0]:
                self._check_pulse()
            return future.result()
        finally:
            if not future.done():
                future.cancel()

    def _check_pulse(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._looked > self._patience:
            # It was this process that slept (Ctrl-Z, say), twice as long as between two looks: begin anew.
            self._heard = now
        self._looked = now
        if now - self._heard > self._patience:
            raise BusyError(
                f"The index owner (process {self.pid or 'unknown'}) has not answered for {self._patience:g} s.",
                hint="If it stays so, end that process; the next command starts another, and nothing is lost.",
            )
        ping = self._send("ping", [])
        ping.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody else looks at it

    async def close(self) -> None:
        """Hang up."""
        self._listener.cancel()
        with suppress(asyncio.CancelledError):
            await self._listener
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()

    async def until_gone(self) -> None:
        """Wait until the owner hangs up."""
        await asyncio.wait([self._listener])


async def connect(places: Places, *, patience: float) -> Connection | None:
    """Return a connection to the owner of this home that answers now, None when there is none.

    BusyError when it does not answer in time or speaks another version of the protocol.
    """
    for pid, place in await asyncio.to_thread(doors, places):
        connection = await _knock(place, pid, patience)
        if connection is None:
            continue
        try:
            if await _greeted(connection, places):
                return connection
        except BaseException:
            await connection.close()
            raise
        await connection.close()
    return None


async def _knock(place: Path, pid: int, patience: float) -> Connection | None:
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(place, limit=2**20), patience)
    except TimeoutError as error:
        raise _hanging(pid, patience) from error
    except OSError:
        return None
    connection = Connection(reader, writer, patience=patience)
    connection.pid = pid
    return connection


async def _greeted(connection: Connection, places: Places) -> bool:
    """Say whether the other side is the owner of this very home, which only it can tell."""
    try:
        connection.pid, version, *more = await connection.ask("hello")
    except (LostOwnerError, TypeError, ValueError):
        return False
    if version != protocol.VERSION:
        raise BusyError(
            f"Process {connection.pid} of another kaijuan version holds the index.",
            hint="End it (it leaves by itself when idle) and try again.",
        )
    try:
        return bool(more == [list(await asyncio.to_thread(places.identity))])
    except OSError:
        return False


def _hanging(pid: int, patience: float) -> BusyError:
    return BusyError(
        f"The index owner (process {pid or 'unknown'}) has not answered for {patience:g} s.",
        hint="If it stays so, end that process; the next command starts another, and nothing is lost.",
    )


async def connect_or_start(places: Places, *, idle_seconds: float, patience: float) -> Connection:
    """Return a connection, starting an owner if none answers. Safe when many clients do so at once."""
    loop = asyncio.get_running_loop()
    starting = _STARTING * patience
    deadline = loop.time() + starting
    while True:
        connection = await connect(places, patience=patience)
        if connection is not None:
            return connection
        code = await _start(places, idle_seconds, starting)
        if code not in (0, HELD):
            raise _failed_start(places, await asyncio.to_thread(_last_line, places.log))
        if loop.time() > deadline:
            raise _hanging(await asyncio.to_thread(_holder, places.lock), starting)
        if code == HELD:
            await asyncio.sleep(_RETRY_SECONDS)  # another client's owner is coming up, or a former one is leaving


async def _start(places: Places, idle_seconds: float, patience: float) -> int:
    try:
        log = await asyncio.to_thread(_open_log, places)
    except OSError as error:
        raise _failed_start(places, f"{error.filename}: {error.strerror}.") from error
    try:
        starter = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "kaijuan.stores.index.owner",
            str(places.root.parent),
            "--idle",
            str(idle_seconds),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )
    finally:
        os.close(log)
    try:
        return await asyncio.wait_for(starter.wait(), patience)
    except TimeoutError as error:
        starter.kill()
        await starter.wait()
        raise BusyError(
            f"The index owner was not ready within {patience:g} s.",
            hint="The machine may be busy: try again. Nothing is lost.",
        ) from error


def _open_log(places: Places) -> int:
    places.prepare()
    long = places.log.exists() and places.log.stat().st_size > _LOG_LIMIT
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | (os.O_TRUNC if long else 0)
    return os.open(places.log, flags, 0o600)


def _last_line(place: Path) -> str:
    """Return what the owner said last: one sentence, or the last line of a traceback."""
    try:
        lines = place.read_text("utf-8", "replace")[-_TAIL:].strip().splitlines()
    except OSError as error:
        return str(error)
    return lines[-1].strip() if lines else "it left no message."


def _failed_start(places: Places, reason: str) -> StoreError:
    return StoreError(
        f"The index owner could not start: {reason}",
        hint=f"Check that {places.root} can be written to; more may be in {places.log.name} there.",
    )


def _holder(place: Path) -> int:
    try:
        return int(place.read_text("ascii") or 0)
    except (OSError, ValueError):
        return 0


class OwnerClient:
    """Asks the owner of one home; connects, starts and starts again as needed."""

    def __init__(self, home: Path, *, idle_seconds: float, patience: float) -> None:
        self._places = Places(home)
        self._idle = idle_seconds
        self._patience = patience
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._closed = False

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._closed:
                raise ClosedError("The index store is closed.")
            if self._connection is None or not self._connection.alive:
                self._connection = await connect_or_start(
                    self._places, idle_seconds=self._idle, patience=self._patience
                )
            return self._connection

    async def ask(self, verb: str, *arguments: Any) -> Any:
        """Return the owner's answer. Every verb may be repeated without harm, so a dead owner is replaced once."""
        try:
            return await (await self._connected()).ask(verb, *arguments)
        except LostOwnerError:
            pass
        try:
            return await (await self._connected()).ask(verb, *arguments)
        except LostOwnerError as error:
            raise BusyError(
                f"The index owner died twice while asked to {verb.replace('_', ' ')}.",
                hint=f"Its log is {self._places.log}; run `kaijuan doctor`.",
            ) from error

    async def owner_pid(self) -> int | None:
        """Return the process of the owner that answers now, without starting one."""
        connection = await connect(self._places, patience=self._patience)
        if connection is None:
            return None
        await connection.close()
        return connection.pid

    async def stop_owner(self) -> None:
        """Ask the owner to flush and leave, and wait until it has; quiet when there is none."""
        connection = await connect(self._places, patience=self._patience)
        if connection is None:
            return
        with suppress(LostOwnerError):
            await connection.ask("leave")
            await connection.until_gone()
        await connection.close()

    async def close(self) -> None:
        """Hang up; the owner stays. Twice is fine."""
        async with self._connecting:
            self._closed = True
            if self._connection is not None:
                await self._connection.close()
                self._connection = None
