"""Lasting addresses of files: the same file has the same address however the user wrote its path."""

from __future__ import annotations

import os
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes, urlsplit


def file_address(path: str) -> str:
    """Return the file URI of an absolute path. Bytes that are not UTF-8 are percent-encoded as they are."""
    return "file://" + quote_from_bytes(os.fsencode(path), safe="/~-._")


def quoted_record(record: str) -> str:
    """Return a record's id as it stands in addresses, percent-encoded.

    Two ids never share an address: halves of a surrogate pair, which JSON allows, are encoded as they are.
    """
    return quote(record, safe="~-._", errors="surrogatepass")


def path_of(target: str) -> str:
    """Return the real absolute path that a path or file URI names; symbolic links are followed."""
    if target.lower().startswith("file://"):
        target = os.fsdecode(unquote_to_bytes(urlsplit(target).path))
    return os.path.realpath(os.path.expanduser(target))


def shown_name(path: str) -> str:
    """Return the last part of a path as text that can be printed and stored."""
    return os.fsencode(os.path.basename(path)).decode("utf-8", "replace")
