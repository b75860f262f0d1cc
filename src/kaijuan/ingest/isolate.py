"""Parsing in child processes with limits, so that no file can take the engine down.

The parent's side; what runs in the child is in parser_child.py, what they say to each other in frames.py.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from typing import Any, cast

from kaijuan import errors, telemetry
from kaijuan.core.documents import ParsedDocument
from kaijuan.errors import (
    BrokenDocumentError,
    ClosedError,
    DocumentError,
    ParseMemoryError,
    ParseTimeoutError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.containers.attachments import TASK as ATTACHMENTS
from kaijuan.ingest.frames import BadFrameError, document_from_plain, read_frame, write_frame
from kaijuan.ingest.metadata import with_storable
from kaijuan.ingest.parser_child import OUT_OF_MEMORY
from kaijuan.ingest.ports import Parser
from kaijuan.ingest.recognising import Recognising

_IN_PROCESS = frozenset({"faq", "record", "text"})
_IN_PROCESS_BYTES = 64 * 1024
_FILES_PER_CHILD = 200
_MOST_THREADS = 8
_FEW_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""Each thread of a library takes its stack, and each arena 64 MiB, of the address space that a child may have: with one
for each of 64 cores none would be left."""
_START_SECONDS = 30.0
"""Time for a new process to start and load its libraries; not part of a file's own limit."""


class ParserPool:
    """A few long-lived parser processes. One file at a time each; a file that breaks one gets a named error.

    `parsers` maps a kind to "module:Class". `seconds` and `memory_mb` (MiB) limit each file; where pictures in it are
    recognised (by `recogniser`, "module:Class", "" for none) up to `recognise_seconds` are added. Small plain texts and
    records are parsed on a thread of this process: that code is our own, linear, and calls no native parser, and a
    corpus of 20,000 records would otherwise spend its time in pipes.
    """

    def __init__(
        self,
        parsers: Mapping[str, str],
        *,
        workers: int = 1,
        seconds: float,
        memory_mb: int,
        recogniser: str = "",
        recognise_seconds: float = 0.0,
    ) -> None:
        self._parsers = dict(parsers)
        self._recognising = Recognising(address=recogniser, threads=_share(workers), seconds=recognise_seconds)
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="kaijuan-parse")
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._lock = threading.Lock()
        self._local: dict[str, Parser] = {}
        self._closed = False
        self.peak_mb = 0.0
        """Most memory, in MiB, that a parser process used for one file since this was last set to 0."""

    async def parse(self, kind: str, data: bytes, name: str) -> ParsedDocument:
        """Return the parsed file. Raises DocumentError only; a cancelled call ends its process."""
        if self._closed:
            raise ClosedError("The parser pool is closed.")
        if kind not in self._parsers:
            raise UnsupportedDocumentError(f"No parser is configured for {kind!r} ({name}).")
        loop = asyncio.get_running_loop()
        if self.is_short(kind, data):
            return await loop.run_in_executor(self._threads, self._parse_here, kind, data, name)
        reply = await self._ask({"parser": self._parsers[kind], "data": data, "name": name})
        try:
            # A long document is millions of numbers: too much for the event loop.
            return await loop.run_in_executor(self._threads, document_from_plain, reply["document"])
        except (BadFrameError, KeyError, TypeError) as error:
            raise BrokenDocumentError(f"The parser of {name} answered with what is no document.") from error

    async def parse_short(self, items: Sequence[tuple[str, bytes, str]]) -> list[ParsedDocument | DocumentError]:
        """Parse several (kind, data, name) for which `is_short` holds, in one go; what is no document is its error."""
        if self._closed:
            raise ClosedError("The parser pool is closed.")

        def work() -> list[ParsedDocument | DocumentError]:
            return [self._attempt_here(*item) for item in items]

        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def is_short(self, kind: str, data: bytes) -> bool:
        """Say whether a file is parsed on a thread of this process."""
        return kind in _IN_PROCESS and kind in self._parsers and len(data) <= _IN_PROCESS_BYTES

    async def run(self, task: str, data: bytes, name: str, **arguments: int | float | str) -> Any:
        """Return what the function at `task` ("module:function") makes of a file, called in a parser process.

        For all that has to touch untrusted bytes but is no parsing; what it returns must be plain data.
        """
        reply = await self._ask({"task": task, "data": data, "name": name, "arguments": arguments})
        return reply.get("result")

    async def attachments(self, data: bytes, name: str, kind: str) -> list[tuple[str, bytes]]:
        """Return names and bytes of what is attached to a message, read in a parser process."""
        found = await self.run(ATTACHMENTS, data, name, file=name, kind=kind)
        return [(str(named), bytes(content)) for named, content in found]

    async def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._closed:
            raise ClosedError("The parser pool is closed.")
        task = _Task()
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._ask_there, task, request)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            task.cancel()
            # The thread ends at once, because its process has; waiting for it keeps the pool's count right.
            with suppress(DocumentError, ClosedError):
                await work
            raise

    async def close(self) -> None:
        """End all processes. Closing twice is fine."""
        self._closed = True
        with self._lock:
            idle, self._idle = self._idle, []
            for child in self._busy:
                child.kill()
        for child in idle:
            child.end()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)

    def _attempt_here(self, kind: str, data: bytes, name: str) -> ParsedDocument | DocumentError:
        try:
            return self._parse_here(kind, data, name)
        except DocumentError as error:
            return error

    def _parse_here(self, kind: str, data: bytes, name: str) -> ParsedDocument:
        if kind not in self._local:
            self._local[kind] = load_parser(self._parsers[kind])
        from kaijuan.ingest.metadata_rules import with_said  # patterns that only reading needs

        return with_storable(with_said(self._local[kind].parse(data, name)))

    def _ask_there(self, task: _Task, request: dict[str, Any]) -> dict[str, Any]:
        while True:
            child = self._take()
            used = child.used
            try:
                return self._ask_child(child, task, request)
            except _CrashedError as crash:
                if not used or task.cancelled:
                    raise BrokenDocumentError(str(crash)) from crash
                # It was ended from outside a moment ago, or an earlier file had hurt it: a fresh one tells.

    def _ask_child(self, child: _Child, task: _Task, request: dict[str, Any]) -> dict[str, Any]:
        healthy = False
        try:
            task.attach(child)
            reply = child.ask(request, seconds=self._seconds, more=self._recognising.seconds)
            healthy = True
            return reply
        except _RefusedError as refusal:
            healthy = True
            raise refusal.error from None
        except (DocumentError, _CrashedError) as error:
            if self._closed:
                raise ClosedError("The parser pool was closed while it read a file.") from error
            raise
        finally:
            self._give_back(child, healthy=healthy and not task.cancelled)

    def _take(self) -> _Child:
        with self._lock:
            if self._closed:
                raise ClosedError("The parser pool is closed.")
            while self._idle and not self._idle[-1].lives:
                # It died while it had nothing to do: no file is to blame.
                self._idle.pop().end()
            child = self._idle.pop() if self._idle else _Child(self._memory_mb, self._recognising)
            self._busy.add(child)
            return child

    def _give_back(self, child: _Child, *, healthy: bool) -> None:
        with self._lock:
            self._busy.discard(child)
            self.peak_mb = max(self.peak_mb, child.peak_mb)
            if healthy and not self._closed and not child.is_worn(self._memory_mb):
                self._idle.append(child)
                return
        child.end()


def _share(workers: int) -> int:
    """Return how many cores each of some processes may keep busy."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(cores // workers, 1), _MOST_THREADS)


def load_parser(address: str) -> Parser:
    """Return a parser by its "module:Class" address."""
    module, _, name = address.partition(":")
    return cast(Parser, getattr(import_module(module), name)())


class _RefusedError(Exception):
    """The child is well and said why the file cannot be read."""

    def __init__(self, error: DocumentError) -> None:
        super().__init__(str(error))
        self.error = error


class _CrashedError(Exception):
    """The child ended of itself, or was ended by somebody else."""


class _Task:
    """One call; can be cancelled from the loop's thread before or while its process works."""

    def __init__(self) -> None:
        self.cancelled = False
        self._child: _Child | None = None
        self._lock = threading.Lock()

    def attach(self, child: _Child) -> None:
        with self._lock:
            self._child = child
            if self.cancelled:
                child.kill()

    def cancel(self) -> None:
        with self._lock:
            self.cancelled = True
            if self._child is not None:
                self._child.kill()


class _Child:
    """One parser process and the pipes to it. Used by one thread at a time; `kill` may come from any."""

    def __init__(self, memory_mb: int, recognising: Recognising) -> None:
        # A fresh interpreter, never a fork: the engine has threads, and a fork may copy their locks locked.
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module, no shell, no user input
            [sys.executable, "-m", "kaijuan.ingest.parser_child", str(memory_mb), *recognising.words()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _FEW_THREADS | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the parent, which then ends its children in order
        )
        self._files = 0
        self.peak_mb = 0.0
        self._late = False
        self._ready = False

    def ask(self, request: dict[str, Any], *, seconds: float, more: float = 0.0) -> dict[str, Any]:
        """Have one file seen to. Raises _RefusedError for the child's own answer, DocumentError when it went
        beyond a limit, _CrashedError when it died otherwise.

        `more` seconds are added for pictures that are recognised, each of which may take `seconds`.
        """
        name = str(request["name"])
        try:
            if not self._ready:
                self._hear(_START_SECONDS)
                self._ready = True
            reply = self._hear(seconds, request, more=more)
        except (OSError, BadFrameError) as error:
            self.kill()
            raise self._epitaph(name, seconds) from error
        self._files += 1
        self.peak_mb = float(reply.get("peak_mb", 0.0))
        if reply.get("ok"):
            return reply
        raise _RefusedError(_error_of(reply, name))

    def _hear(self, seconds: float, request: dict[str, Any] | None = None, *, more: float = 0.0) -> dict[str, Any]:
        """Send a request, if there is one, and return the next reply; the process is killed when it takes too long."""
        end = time.monotonic() + seconds + more
        timer = self._timer(seconds)
        try:
            if request is not None:
                write_frame(cast(Any, self._process.stdin), request)
            while (reply := read_frame(cast(Any, self._process.stdout))) is not None and reply.get("working"):
                timer.cancel()
                timer = self._timer(max(min(seconds, end - time.monotonic()), 0.0))
        finally:
            timer.cancel()
        if reply is None:
            raise BadFrameError("the process ended")
        return reply

    def _timer(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._time_out)
        timer.daemon = True
        timer.start()
        return timer

    def _epitaph(self, name: str, seconds: float) -> DocumentError | _CrashedError:
        code = self._process.wait()
        if code == OUT_OF_MEMORY:
            return ParseMemoryError(f"Parsing {name} needed more memory than allowed.")
        if self._late:
            return ParseTimeoutError(f"Parsing {name} did not end within {seconds:g} seconds.")
        return _CrashedError(f"The parser crashed while reading {name} (exit code {code}).")

    def _time_out(self) -> None:
        self._late = True
        self.kill()

    @property
    def used(self) -> bool:
        """Whether it has seen to a file before."""
        return self._files > 0

    @property
    def lives(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def is_worn(self, memory_mb: int) -> bool:
        """Say whether the process should be replaced: libraries leak, and the next file needs its full allowance."""
        return self._files >= _FILES_PER_CHILD or self.peak_mb > memory_mb / 2

    def kill(self) -> None:
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill the process, reap it and close the pipes."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # bytes still buffered for a process that is gone
                    pipe.close()


class Sandbox:
    """One process for native code that works on untrusted text, for callers that may block. Started when it is needed.

    What a text breaks is lost for that text alone: `run` returns None, and the next call has a fresh process.
    """

    def __init__(self, *, seconds: float, memory_mb: int) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._lock = threading.Lock()
        self._child: _Child | None = None

    def run(self, task: str, data: bytes, **arguments: int | float | str) -> Any:
        """Return what the function at `task` ("module:function") makes of `data`, None where it broke or took too long.

        What it returns must be plain data.
        """
        with self._lock:
            child = self._child if self._child is not None and self._child.lives else self._fresh()
            try:
                reply = child.ask(
                    {"task": task, "data": data, "name": task, "arguments": arguments}, seconds=self._seconds
                )
            except (DocumentError, _CrashedError, _RefusedError) as error:
                telemetry.event("sandbox.failed", task=task, bytes=len(data), error=type(error).__name__)
                return None
            if child.is_worn(self._memory_mb):
                self._end()
            return reply.get("result")

    def _fresh(self) -> _Child:
        self._end()
        self._child = _Child(self._memory_mb, Recognising(address="", threads=1, seconds=0.0))
        atexit.register(self._end)
        return self._child

    def _end(self) -> None:
        atexit.unregister(self._end)
        if self._child is not None:
            self._child.end()
            self._child = None


def _error_of(reply: Mapping[str, Any], name: str) -> DocumentError:
    """Make the child's answer our error again: only names in our own tree, only below DocumentError."""
    kind = getattr(errors, str(reply.get("error", "")), None)
    message = str(reply.get("message", f"{name} could not be read."))
    if isinstance(kind, type) and issubclass(kind, DocumentError):
        return kind(message, hint=str(reply.get("hint", "")))
    return BrokenDocumentError(message)
