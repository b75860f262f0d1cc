"""Pages of a PDF as pictures, for people to look at. Runs in a parser process."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pypdfium2 as pypdfium

from kaijuan.errors import BrokenDocumentError

_MOST_DOTS = 12_000_000
"""Of one page; a page as large as a wall is shown smaller."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def page_images(data: bytes, *, first: int, count: int, scale: float) -> list[dict[str, Any]]:
    """Return `count` pages from `first` (from 1) as {"page", "width", "height", "png"}, sizes in points.

    A page that cannot be drawn has an empty "png". `scale` is dots a point.
    """
    try:
        document = pypdfium.PdfDocument(data)
    except pypdfium.PdfiumError as error:
        raise BrokenDocumentError(f"The PDF cannot be opened: {error}.") from error
    try:
        last = min(first - 1 + count, len(document))
        return [_drawn(document, index, scale) for index in range(first - 1, last)]
    finally:
        document.close()


def _drawn(document: Any, index: int, scale: float) -> dict[str, Any]:
    try:
        page = document[index]
        width, height = page.get_size()
        dots = min(scale, (_MOST_DOTS / max(width * height, 1.0)) ** 0.5)
        bitmap = page.render(scale=dots, rev_byteorder=True, prefer_bgrx=False)
        image = png(bitmap.width, bitmap.height, bitmap.n_channels, bitmap.stride, bytes(bitmap.buffer))
    except (pypdfium.PdfiumError, ValueError):
        return {"page": index + 1, "width": 0.0, "height": 0.0, "png": b""}
    return {"page": index + 1, "width": float(width), "height": float(height), "png": image}


def png(width: int, height: int, channels: int, stride: int, dots: bytes) -> bytes:
    """Return dots (grey, RGB or RGBA by `channels`, rows `stride` bytes apart) as a PNG picture (ISO/IEC 15948)."""
    rows = b"".join(b"\x00" + dots[at * stride : at * stride + width * channels] for at in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
