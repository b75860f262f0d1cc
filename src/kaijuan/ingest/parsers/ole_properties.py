"""Summary properties of OLE containers (old Office files), through olefile."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

from kaijuan.core.documents import Scalar
from kaijuan.ingest.parsers.code_pages import codec_of

_FIELDS = {
    "title": "title",
    "author": "author",
    "subject": "subject",
    "keywords": "keywords",
    "category": "category",
    "create_time": "created",
    "last_saved_time": "modified",
}


def properties_of(data: bytes) -> dict[str, Scalar | tuple[str, ...]]:
    """Return title, author, dates and the like; nothing where the container has none or they are damaged."""
    import olefile

    values: dict[str, Scalar | tuple[str, ...]] = {}
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            metadata = container.get_metadata()
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        return values  # a damaged summary is no reason to lose the text
    page = metadata.codepage
    codec = codec_of(page if isinstance(page, int) else None)
    for field, key in _FIELDS.items():
        if text := _text(getattr(metadata, field, None), codec):
            values[key] = text
    return values


def _text(value: Any, codec: str) -> str:
    if isinstance(value, datetime):
        # Programs write 1601 where they mean that there is no date.
        return value.isoformat() if value.year > 1601 else ""
    if isinstance(value, bytes):
        value = value.decode(codec, "replace")
    known = bool(value) and isinstance(value, str | int)  # damaged properties are lists
    return " ".join(str(value).replace("\x00", " ").split()) if known else ""
