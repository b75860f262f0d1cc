"""Reads files one after another with one reader. Started by bench.parsing_peers in the reader's environment.

    python -m bench.peers.reading.child MODULE FOLDER

A path each line on stdin; on the real stdout a line of JSON for each file, its Markdown in FOLDER. Linux only.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench.peers.processes import cpu_seconds
from bench.peers.reading.protocol import Reader

MEMORY_LIMIT = 8 << 30
"""Bytes of address space: a reader that asks for more fails at one file instead of taking the machine down."""


def main() -> None:
    module, folder = sys.argv[1], Path(sys.argv[2])
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    start, began = time.perf_counter(), _processor()
    reader: Reader = importlib.import_module(f"bench.peers.reading.{module}").Reader()
    loaded: dict[str, Any] = {
        "about": reader.about,
        "seconds": time.perf_counter() - start,
        "cpu": _processor() - began,
    }
    print(json.dumps(loaded), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(_read(reader, line.rstrip("\n"), folder)), file=replies, flush=True)


def _read(reader: Reader, path: str, folder: Path) -> dict[str, Any]:
    _forget_peak()
    start, began = time.perf_counter(), _processor()
    error, text = "", ""
    try:
        text = reader.read(path)
    except (Exception, SystemExit) as failure:  # noqa: BLE001 - readers raise anything; it is counted, by name
        error = type(failure).__name__
    row = {
        "seconds": round(time.perf_counter() - start, 3),
        "cpu": round(_processor() - began, 3),
        "peak_mb": round(_peak_mb()),
        "error": error,
        "characters": len(text.strip()),
    }
    (folder / f"{Path(path).name}.md").write_text(text, encoding="utf-8", errors="replace")
    return row


def _processor() -> float:
    """Return the processor time of this process and of all below it, ended or not."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in used) + sum(map(cpu_seconds, _below(os.getpid())))


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text(encoding="ascii").split()):
                found += [child, *_below(child)]
    return found


def _forget_peak() -> None:
    for pid in (os.getpid(), *_below(os.getpid())):
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def _peak_mb() -> float:
    """Return the most memory of this process and those below it, as if all had it at once."""
    total = 0
    for pid in (os.getpid(), *_below(os.getpid())):
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return total / 1024


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    main()
