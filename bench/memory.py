"""Memory and processor time of the processes that work on one home folder, by role (Linux)."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

_SECONDS = 0.25
_PARSER = "kaijuan.ingest.parser_child"
_ROLES = {"kaijuan.stores.index.owner": "index owner", "kaijuan.stores.index.optimising": "optimiser"}


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes in memory: all of them, and those that no file backs."""

    resident: int
    private: int


def size_of(pid: str) -> Size:
    """Return the memory of a process, nothing when it has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return Size(0, 0)
    found = {
        name: int(rest.split()[0]) * 1024
        for name, _, rest in (line.partition(":") for line in lines)
        if "Rss" in name or name == "VmRSS"
    }
    return Size(found.get("VmRSS", 0), found.get("RssAnon", 0))


def family(home: Path) -> dict[str, str]:
    """Return the processes at work for a home: process id to role; "self" is the engine."""
    found = {"self": "engine"}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            role = _role(entry, command, home)
        except OSError:
            continue
        if role:
            found[entry.name] = role
    return found


def _role(entry: Path, command: str, home: Path) -> str:
    if _PARSER in command:
        # Other homes may be at work on this machine; a parser is known by its parent alone.
        return "parser" if f"\nPPid:\t{os.getpid()}\n" in (entry / "status").read_text("utf-8") else ""
    if str(home) not in command:
        return ""
    return next((role for module, role in _ROLES.items() if module in command), "")


def sizes(home: Path) -> dict[str, Size]:
    """Return the memory of each role now."""
    now: dict[str, Size] = {}
    for pid, role in family(home).items():
        before, more = now.get(role, Size(0, 0)), size_of(pid)
        now[role] = Size(before.resident + more.resident, before.private + more.private)
    return now


def cpu_seconds(home: Path) -> float:
    """Return the processor time that the processes now at work for a home have used, their own children left out."""
    ticks = 0
    for pid in family(home):
        try:
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:13]))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


class Watch:
    """Keeps the highest memory of each role, and of all together, while it is entered."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.peaks: dict[str, Size] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def peaks_mb(self) -> dict[str, int]:
        """Return the highest resident memory by role."""
        return {role: round(size.resident / 1e6) for role, size in self.peaks.items()}

    def private_mb(self) -> dict[str, int]:
        """Return the highest memory that no file backs by role."""
        return {role: round(size.private / 1e6) for role, size in self.peaks.items()}

    def _look(self) -> None:
        while not self._done.wait(_SECONDS):
            now = sizes(self._home)
            now["together"] = Size(
                sum(size.resident for size in now.values()), sum(size.private for size in now.values())
            )
            for role, size in now.items():
                before = self.peaks.get(role, Size(0, 0))
                self.peaks[role] = Size(max(before.resident, size.resident), max(before.private, size.private))
