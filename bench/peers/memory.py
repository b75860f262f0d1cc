"""Memory of a group of processes, known by an environment variable that children inherit. Linux only."""

from __future__ import annotations

import os
import threading
from pathlib import Path

MARK = "KAIJUAN_BENCH_RUN"
SAMPLES_PER_SECOND = 10
SAMPLES_PER_LOOK = 5


class MemoryWatch:
    """Samples the resident memory of all processes that carry a mark, each and together. Use with `with`."""

    def __init__(self, mark: str) -> None:
        self._mark = f"{MARK}={mark}".encode()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak_bytes = 0

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def pids(self) -> list[int]:
        """Return the processes that carry the mark now."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._carries(pid)]

    def _carries(self, pid: int) -> bool:
        try:
            return self._mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def _watch(self) -> None:
        pids: list[int] = []
        look = 0
        while not self._done.wait(1 / SAMPLES_PER_SECOND):
            if look % SAMPLES_PER_LOOK == 0:
                pids = self.pids()
            look += 1
            self.peak_bytes = max(self.peak_bytes, sum(map(resident_bytes, pids)))


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, 0 when it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
