"""The command git, run so that a hostile repository or host can do nothing but give bytes.

Only plumbing is called: no checkout, so no filters, hooks, attributes or submodules; no transport but the one wanted;
no settings of the caller's environment (GIT_DIR and its like); no questions on a terminal.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from kaijuan.errors import BrokenDocumentError, FetchError, MissingExtraError
from kaijuan.ingest.metadata import plain

_LONGEST_SAID = 300
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "gc.autoDetach": "false",
    "maintenance.autoDetach": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "log.showSignature": "false",
    "protocol.version": "2",
}
_BLOB_SECONDS = 120.0
"""A disk that does not answer for so long is taken for lost."""
_SMALL_FILES = 512
"""`ulimit -f` counts blocks of this many bytes; some shells count twice as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """How git is called. `protocols` may be used ("none" keeps it off the network), `settings` are added to ours."""

    folder: str
    protocols: str = "none"
    settings: Mapping[str, str] = field(default_factory=dict)
    token: str = ""

    def said(self, *words: str, seconds: float, most_bytes: int = 0) -> bytes:
        """Return what a command prints. Raises FetchError with git's own words when it fails or takes too long.

        `most_bytes` limits every file that it writes; 0 does not.
        """
        command = [*_limited(most_bytes), *self._command(words)]
        with _started(command, self._environment()) as process:
            try:
                out, err = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired as error:
                raise FetchError(f"git {words[0]} did not end within {seconds:g} seconds.") from error
        if process.returncode:
            raise FetchError(f"git {words[0]} failed: {_reason(err)}.", hint="Check the address, the ref and the keys.")
        return out

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Give a running command with pipes to it; it is ended when the block is left."""
        # Nobody reads what it complains of, and a full pipe would stop it.
        with _started(self._command(words), self._environment(), subprocess.DEVNULL) as process:
            yield process

    def _command(self, words: Sequence[str]) -> list[str]:
        settings = [
            word for name, value in {**_SETTINGS, **self.settings}.items() for word in ("-c", f"{name}={value}")
        ]
        return [_executable(), *settings, "-C", self.folder, "--no-pager", "--no-replace-objects", *words]

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        secret = {
            # Not on the command line, where every user of the machine could read it.
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "http.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {base64.b64encode(self.token.encode()).decode()}",
        }
        return {
            **kept,
            **(secret if self.token else {}),
            "GIT_ALLOW_PROTOCOL": self.protocols,
            "GIT_CEILING_DIRECTORIES": os.path.dirname(self.folder),
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "SSH_ASKPASS": "",
            "LC_ALL": "C",
        }


def read_blob(process: subprocess.Popen[bytes], name: bytes) -> bytes:
    """Return an object of a running `cat-file --batch`; BrokenDocumentError when the repository lacks it."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the process has no pipes")
    watch = threading.Timer(_BLOB_SECONDS, _kill, (process,))
    watch.start()
    try:
        process.stdin.write(name + b"\n")
        process.stdin.flush()
        head = process.stdout.readline().split()
        if len(head) != 3 or not head[2].isdigit():
            raise BrokenDocumentError("The repository lacks this object.", hint="Run `git fsck` on it.")
        data = process.stdout.read(int(head[2]) + 1)
    except OSError as error:  # it has ended, and its pipe with it
        raise BrokenDocumentError("git ended while it read this object.", hint="Run `git fsck` on it.") from error
    finally:
        watch.cancel()
    if len(data) != int(head[2]) + 1:
        raise BrokenDocumentError("The repository's object breaks off.", hint="Run `git fsck` on it.")
    return data[:-1]


def _executable() -> str:
    found = shutil.which("git")
    if found is None:
        raise MissingExtraError("Reading repositories needs the command git.", hint="Install git.")
    return found


def _limited(most_bytes: int) -> list[str]:
    """Return the words before a command whose files may grow so far only, where a shell can say so."""
    shell = shutil.which("sh") if most_bytes else None
    return [shell, "-c", 'ulimit -f "$0"; exec "$@"', str(max(1, most_bytes // _SMALL_FILES))] if shell else []


@contextmanager
def _started(
    command: Sequence[str], environment: Mapping[str, str], complaints: int = subprocess.PIPE
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - our own words and a checked ref, no shell reads them
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        env=dict(environment),
        start_new_session=True,  # transports are children of its own, and must end with it
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            _kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _reason(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines or ["it said nothing"]
    return plain(" ".join(telling))[:_LONGEST_SAID].rstrip(".")
