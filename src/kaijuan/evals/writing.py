"""Where results are written: a file whole or not at all, a device or a pipe as it is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from kaijuan.errors import UsageError

DEVICES = (Path("/dev"), Path("/proc"))
"""What stands here is written into, never replaced: /dev/stdout may lead to a file that the shell has open."""


def write_target(path: Path, text: str, *, errors: str = "strict") -> None:
    """Write text in UTF-8 to where a user asked for it; `errors` is as for `str.encode`.

    A file is replaced whole or not at all, at the end of symbolic links. What exists and is no file, such as a pipe,
    is written into. UsageError when that cannot be done.
    """
    body = text.encode("utf-8", errors)
    try:
        if _replaceable(path):
            _replace(Path(os.path.realpath(path)), body)
        else:
            with path.open("ab") as file:
                file.write(body)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", hint="Choose another file.") from error


def check_target(path: Path) -> None:
    """Raise UsageError where `write_target` could not write: better before hours of work than after them."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _replaceable(path):
            # Asking for permissions would not tell of a full or read-only disk.
            trial = Path(os.path.realpath(path)).with_name(f".kaijuan-{os.getpid()}.new")
            trial.touch()
            trial.unlink()
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", hint="Choose another file.") from error


def _replaceable(path: Path) -> bool:
    whole = path.absolute()
    return not any(whole.is_relative_to(place) for place in DEVICES) and (path.is_file() or not path.exists())


def _replace(path: Path, body: bytes) -> None:
    fresh = path.with_name(f".kaijuan-{os.getpid()}.new")
    try:
        fresh.write_bytes(body)
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
