"""How many entries the directory of a zip file lists, told before Python makes an object of each.

A file of 200 MB can list four million empty members: minutes and gigabytes for whoever opens it.
"""

from __future__ import annotations

import struct

_END = b"PK\x05\x06"
_END_SIZE = 22
_END_64 = b"PK\x06\x06"
_END_64_SIZE = 56
_LOCATOR_64 = b"PK\x06\x07"
_LOCATOR_64_SIZE = 20
_ENTRY = b"PK\x01\x02"
_LONGEST_COMMENT = 65_535


def entries_listed(data: bytes) -> int:
    """Return an upper bound of the entries that `zipfile` would read; 0 where it would find no directory."""
    end = _end_of_directory(data)
    if end < 0:
        return 0
    size = struct.unpack_from("<L", data, end + 12)[0]
    locator = end - _LOCATOR_64_SIZE
    record = locator - _END_64_SIZE
    if record >= 0 and data.startswith(_LOCATOR_64, locator) and data.startswith(_END_64, record):
        size = struct.unpack_from("<Q", data, record + 40)[0]
        end = record
    return data.count(_ENTRY, max(0, end - size), end)


def _end_of_directory(data: bytes) -> int:
    alone = len(data) - _END_SIZE
    if alone >= 0 and data.startswith(_END, alone) and data.endswith(b"\0\0"):
        return alone
    found = data.rfind(_END, max(0, alone - _LONGEST_COMMENT))
    return found if 0 <= found <= alone else -1
