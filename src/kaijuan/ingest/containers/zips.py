"""Members of zip archives, one at a time, within limits; old names in the encoding they were written in."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator

from kaijuan.errors import (
    BrokenDocumentError,
    DocumentError,
    EncryptedDocumentError,
    OversizeDocumentError,
    UnsupportedDocumentError,
)
from kaijuan.ingest.containers.member import Budget, Member
from kaijuan.ingest.encoding import decode
from kaijuan.ingest.zip_directory import entries_listed

_UTF8_NAME = 0x800
_LOCKED = 1
_MOST_LISTED = 200_000
"""An archive that lists more is not even opened, unless as many may be taken from it."""


def members(data: bytes, name: str, budget: Budget) -> Iterator[Member | DocumentError]:
    """Yield the members in the order of the archive's directory; what cannot be read is an error, and the rest goes on.

    What a member declares is checked before it is unpacked, and no more than that is unpacked.
    """
    most = max(budget.members_left, _MOST_LISTED)
    if entries_listed(data) > most:
        yield OversizeDocumentError(f"{name} lists more than {most:,} files.", hint="Split it.")
        return
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeError) as error:
        yield BrokenDocumentError(f"{name} is a damaged zip archive: {error}.")
        return
    with archive:
        locked = [entry for entry in entries if entry.flag_bits & _LOCKED]
        if locked:
            yield EncryptedDocumentError(f"{name} holds {len(locked)} files that are protected with a password.")
        names = _names(entries)
        for entry, path in zip(entries, names, strict=True):
            if not entry.flag_bits & _LOCKED:
                yield _read(archive, entry, path, budget)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, budget: Budget) -> Member | DocumentError:
    try:
        budget.take(path, entry.file_size)
        with archive.open(entry) as file:
            data = file.read(entry.file_size + 1)
    except DocumentError as error:
        return error
    except NotImplementedError as error:
        return UnsupportedDocumentError(f"{path} is packed in a way that is not known here: {error}.")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        return BrokenDocumentError(f"{path} is damaged in its archive: {error}.")
    if len(data) > entry.file_size:
        return OversizeDocumentError(f"{path} is larger than its archive says.")
    return Member(path=path, data=data)


def _names(entries: list[zipfile.ZipInfo]) -> list[str]:
    """Return the names as paths inside the archive.

    Names without the mark of Unicode are bytes in the encoding of the system they come from; all together tell which.
    """
    old = [entry.filename.encode("cp437", "replace") for entry in entries if not entry.flag_bits & _UTF8_NAME]
    known = iter(_decoded(old))
    return [_inside(entry.filename if entry.flag_bits & _UTF8_NAME else next(known)) for entry in entries]


def _decoded(names: list[bytes]) -> list[str]:
    if all(name.isascii() for name in names):
        return [name.decode("ascii") for name in names]
    try:
        texts = decode(b"\n".join(names)).text.split("\n")
    except DocumentError:
        texts = []
    return texts if len(texts) == len(names) else [name.decode("gb18030", "replace") for name in names]


def _inside(path: str) -> str:
    """Return a path that stays inside: names are only addresses here, but may still pretend."""
    return posixpath.normpath("/" + path.replace("\\", "/").replace("\x00", "")).lstrip("/")
