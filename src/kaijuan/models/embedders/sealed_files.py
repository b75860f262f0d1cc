"""Files that can be made anew: written in one step, and read back only when every byte is as written."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from kaijuan import telemetry

_SEAL = 32


def write_sealed(path: Path, payload: bytes) -> bool:
    """Write `payload` with its hash so that readers see all of it or none; say whether it could be written.

    A full or read-only disk is no error: what is kept here is a saving of time, and the caller has the payload.
    Processes that write the same file at once each replace it whole.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=path.name, suffix=".part", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_hash(payload))
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        telemetry.event("model_cache.unwritable", path=str(path), error=str(error))
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        return False
    return True


def read_sealed(path: Path) -> bytes | None:
    """Return the payload, or None when the file is missing, unreadable or not as it was written."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    payload = data[_SEAL:]
    if data[:_SEAL] != _hash(payload):
        telemetry.event("model_cache.damaged", path=str(path))
        return None
    return payload


def _hash(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_SEAL).digest()
