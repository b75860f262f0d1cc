"""Memory and processor time of a group of processes, known by an environment variable that children inherit.

Linux only. Processor time is kept beside the clock's, since it hardly depends on what else the machine is doing.
"""

from __future__ import annotations

import contextlib
import os
import resource
import threading
from pathlib import Path

MARK = "KAIJUAN_BENCH_RUN"
SAMPLES_PER_SECOND = 10
SAMPLES_PER_LOOK = 5


class ProcessWatch:
    """Samples all processes that carry a mark. Use with `with`."""

    def __init__(self, mark: str) -> None:
        self._mark = f"{MARK}={mark}".encode()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._pids: list[int] = []
        self._seconds: dict[int, float] = {}
        self.peak_bytes = 0
        """Most resident memory of all together; pages that two share count twice."""

    def __enter__(self) -> ProcessWatch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def cpu_seconds(self) -> float:
        """Return the processor time so far, that of processes which have ended included."""
        return sum(self._seconds.copy().values())

    def pids(self) -> list[int]:
        """Return the processes that carry the mark now."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._carries(pid)]

    def _carries(self, pid: int) -> bool:
        try:
            return self._mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return False

    def _watch(self) -> None:
        look = 0
        while not self._done.wait(1 / SAMPLES_PER_SECOND):
            if look % SAMPLES_PER_LOOK == 0:
                self._pids = self.pids()
            look += 1
            self.peak_bytes = max(self.peak_bytes, sum(map(resident_bytes, self._pids)))
            for pid in self._pids:
                self._seconds[pid] = max(self._seconds.get(pid, 0.0), cpu_seconds(pid))


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, 0 when it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """Return a process's own processor time, 0 when it is gone."""
    try:
        # The name in brackets may hold blanks.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree_seconds() -> float:
    """Return the processor time of this process and of all below it, ended or not."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in used) + sum(map(cpu_seconds, below(os.getpid())))


def below(pid: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text(encoding="ascii").split()):
                found += [child, *below(child)]
    return found


def forget_peaks() -> None:
    """Let the peaks of memory of this process and of those below it begin anew."""
    for pid in (os.getpid(), *below(os.getpid())):
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def tree_peak_mb() -> float:
    """Return the most memory of this process and those below it, in MiB, as if all had it at once."""
    total = 0
    for pid in (os.getpid(), *below(os.getpid())):
        with contextlib.suppress(OSError, StopIteration):
            lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return total / 1024
