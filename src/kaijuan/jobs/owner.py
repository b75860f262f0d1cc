"""Who holds a lease: a process, named so that others on the machine can tell whether it still lives."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from pathlib import Path

_PARTS = 4


def new_owner() -> str:
    """Return a name for one piece of work of this process: host, process, its start, and a nonce."""
    pid = os.getpid()
    return "/".join((_host(), str(pid), _started(pid), secrets.token_hex(4)))


def is_gone(owner: str) -> bool:
    """Say whether the process of that owner is known to have ended. Of other machines nothing is known."""
    parts = owner.split("/")
    if len(parts) != _PARTS or parts[0] != _host() or not parts[1].isdigit():
        return False
    pid = int(parts[1])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # The number may have been given to a new process since.
    return _started(pid) != parts[2]


def described(owner: str) -> str:
    """Return an owner in words for people."""
    parts = owner.split("/")
    return f"process {parts[1]} on {parts[0].partition('@')[0]}" if len(parts) == _PARTS else owner


def _host() -> str:
    # Containers may share a host's name but not its process numbers.
    try:
        space = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        space = ""
    return f"{socket.gethostname().replace('/', '-')}@{space}"


def _started(pid: int) -> str:
    try:
        # The 22nd field is the start in clock ticks; the second, the program's name, may hold blanks and brackets.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return _asked(pid)


def _asked(pid: int) -> str:
    try:
        told = subprocess.run(  # noqa: S603 fixed words and a number
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return told.stdout.strip().replace("/", "-")
