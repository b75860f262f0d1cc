"""What runs in a parser process: read a file from stdin, answer with blocks or with a named error, repeat.

Ends when its parent closes the pipe or dies, and when it uses more memory than allowed.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from kaijuan.ingest.recognising import LateRecogniser

OUT_OF_MEMORY = 77
"""Exit code by which the parent knows why the process ended."""
_WATCH_SECONDS = 0.05
_ADDRESS_SPACE_SLACK_MB = 1024
"""Address space is more than memory in use: libraries, arenas and stacks are mapped but not touched."""


def main() -> None:
    """Serve until stdin ends."""
    memory_mb, recognising = int(sys.argv[1]), sys.argv[2:]
    # Replies own the real stdout; whatever a library prints must not get between the frames.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _limit_memory(memory_mb)
    threading.Thread(target=_watch, args=(memory_mb, os.getppid()), daemon=True, name="kaijuan-watch").start()
    serve(sys.stdin.buffer, replies, recognising)


def serve(requests: BinaryIO, replies: BinaryIO, recognising: Sequence[str] = ()) -> None:
    """Answer every request with one reply. `recognising` are the words of `Recognising.words`."""
    from kaijuan.ingest.frames import read_frame, write_frame
    from kaijuan.ingest.recognising import recogniser_from

    parsers = _Parsers(recogniser_from(recognising, working=lambda: write_frame(replies, {"working": True})))
    write_frame(replies, {"ready": True})
    while (request := read_frame(requests)) is not None:
        _forget_peak()
        try:
            reply = _answer(request, parsers)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        reply["peak_mb"] = _peak_mb()
        write_frame(replies, reply)
        del request, reply


class _Parsers:
    """The parsers made so far, by address. Those that read pictures have the recogniser, if there is one."""

    def __init__(self, recogniser: LateRecogniser | None) -> None:
        self._recogniser = recogniser
        self._made: dict[str, Any] = {}

    def at(self, address: str) -> Any:
        """Return the parser at "module:Class", ready for a new document."""
        from kaijuan.ingest.ports import ReadsPictures

        if address not in self._made:
            module, _, name = address.partition(":")
            self._made[address] = getattr(import_module(module), name)()
        parser = self._made[address]
        if self._recogniser is not None and isinstance(parser, ReadsPictures):
            self._recogniser.begin()
            parser.recogniser = self._recogniser
        return parser


def _answer(request: dict[str, Any], parsers: _Parsers) -> dict[str, Any]:
    from kaijuan.errors import BrokenDocumentError, DocumentError
    from kaijuan.ingest.frames import document_to_plain
    from kaijuan.ingest.metadata import with_storable
    from kaijuan.ingest.metadata_rules import with_said

    try:
        if "task" in request:
            module, _, name = request["task"].partition(":")
            task = getattr(import_module(module), name)
            return {"ok": True, "result": task(request["data"], **request["arguments"])}
        parser = parsers.at(request["parser"])
        document = with_storable(with_said(parser.parse(request["data"], request["name"])))
        return {"ok": True, "document": document_to_plain(document)}
    except DocumentError as error:
        return {"ok": False, "error": type(error).__name__, "message": error.message, "hint": error.hint}
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - vendor parsers raise anything on bad input; one file must not end the run
        message = f"{request.get('name', 'The file')} could not be parsed: {type(error).__name__}: {error}"
        return {"ok": False, "error": BrokenDocumentError.__name__, "message": message[:1000], "hint": ""}


def _limit_memory(memory_mb: int) -> None:
    """Cap the address space where the system honours it (Linux); elsewhere only the watch holds."""
    cap = (memory_mb + _ADDRESS_SPACE_SLACK_MB) * 1024 * 1024
    try:
        resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):
        return


def _watch(memory_mb: int, parent: int) -> None:
    """End the process when it grows too large or has lost its parent: native code cannot be asked to stop."""
    while True:
        if _peak_mb() > memory_mb:
            os._exit(OUT_OF_MEMORY)
        if os.getppid() != parent:
            os._exit(0)
        time.sleep(_WATCH_SECONDS)


def _forget_peak() -> None:
    """Let the peak count for the next file alone, where the system can (Linux)."""
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as peaks:
        peaks.write("5")


def _peak_mb() -> float:
    """Return the most memory this process has used, in MiB."""
    try:
        with open("/proc/self/status", "rb") as status:
            # Not ru_maxrss: on Linux that begins with the size of the parent, which may be large.
            peak = next(line for line in status if line.startswith(b"VmHWM:"))
        return int(peak.split()[1]) / 1024
    except (OSError, StopIteration):
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used / (1024 * 1024 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
