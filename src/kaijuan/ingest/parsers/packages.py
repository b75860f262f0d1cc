"""Guards for zip packages: what is declared is checked before a byte is unpacked."""

from __future__ import annotations

import io
import zipfile

from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError, OversizeDocumentError
from kaijuan.ingest.zip_directory import entries_listed

_MOST_ENTRIES = 10_000
_MOST_BYTES = 600 * 1024 * 1024
_MOST_XML_BYTES = 150 * 1024 * 1024
_HIGHEST_RATIO = 400
_RATIO_FROM = 20 * 1024 * 1024
"""Small parts may compress any amount; text of the same few words does."""


def check_package(data: bytes, name: str) -> None:
    """Raise when a package is broken, protected or a bomb.

    zipfile never unpacks more than an entry declares, so checking the declarations bounds the work.
    """
    if entries_listed(data) > _MOST_ENTRIES:
        raise OversizeDocumentError(f"{name} has more than {_MOST_ENTRIES:,} parts.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            entries = package.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeError) as error:
        raise BrokenDocumentError(f"{name} is a damaged package: {error}.") from error
    if any(entry.flag_bits & 1 for entry in entries):
        raise EncryptedDocumentError(f"{name} is protected with a password.")
    if sum(entry.file_size for entry in entries) > _MOST_BYTES:
        raise OversizeDocumentError(f"{name} would unpack to more than {_MOST_BYTES // 2**20} MiB.")
    for entry in entries:
        is_xml = entry.filename.endswith((".xml", ".rels"))
        ratio = entry.file_size / max(entry.compress_size, 1)
        if (is_xml and entry.file_size > _MOST_XML_BYTES) or (entry.file_size > _RATIO_FROM and ratio > _HIGHEST_RATIO):
            raise OversizeDocumentError(f"A part of {name} would unpack to {entry.file_size:,} bytes.")
