"""Pages as pictures, for people who look at an original. Tasks for a parser process: the bytes are not trusted."""

from __future__ import annotations

import io
from typing import Any

from kaijuan.errors import BrokenDocumentError, EncryptedDocumentError, UnsupportedDocumentError

SIZES_TASK = "kaijuan.ingest.page_images:sizes"
RENDER_TASK = "kaijuan.ingest.page_images:rendered"
WIDTHS = (16, 4000)
"""Narrowest and widest picture, in dots."""
_MOST_DOTS = 40_000_000
_ENCRYPTED = 4
"""pdfium's number for "a password is needed"."""


def sizes(data: bytes, *, kind: str) -> list[tuple[float, float]]:
    """Return width and height of each page, in points (of a picture: in dots); empty for formats without pages."""
    if kind == "image":
        return [_picture_size(data)]
    if kind != "pdf":
        return []
    document = _pdf(data)
    try:
        found = [document.get_page_size(at) for at in range(len(document))]
    finally:
        document.close()
    return [(round(width, 2), round(height, 2)) for width, height in found]


def rendered(data: bytes, *, kind: str, page: int, width: int) -> bytes:
    """Return one page (counted from 1) as PNG, `width` dots wide."""
    if kind == "image":
        return _picture(data, width)
    if kind != "pdf":
        raise UnsupportedDocumentError("This kind of document has no pages that can be shown as pictures.", hint="")
    document = _pdf(data)
    try:
        if not 1 <= page <= len(document):
            # An error of documents, because only those come out of a parser process.
            raise UnsupportedDocumentError(f"There is no page {page}.", hint=f"Pages run from 1 to {len(document)}.")
        found = document[page - 1]
        across, down = found.get_size()
        scale = width / max(across, 1.0)
        scale = min(scale, (_MOST_DOTS / max(across * down, 1.0)) ** 0.5)
        picture = found.render(scale=scale).to_pil()
    finally:
        document.close()
    return _png(picture)


def _pdf(data: bytes) -> Any:  # pypdfium2 has no types
    import pypdfium2
    import pypdfium2.raw

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if pypdfium2.raw.FPDF_GetLastError() == _ENCRYPTED:
            raise EncryptedDocumentError("The file has a password.") from error
        raise BrokenDocumentError("The file is no PDF that can be shown.") from error


def _picture_size(data: bytes) -> tuple[float, float]:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        return float(picture.width), float(picture.height)


def _picture(data: bytes, width: int) -> bytes:
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(data)) as opened:
        if opened.width * opened.height > 4 * _MOST_DOTS:
            raise UnsupportedDocumentError("The picture is too large to be shown.", hint="")
        picture = ImageOps.exif_transpose(opened) or opened
        height = max(1, round(picture.height * width / max(picture.width, 1)))
        return _png(picture.convert("RGB").resize((width, height)) if width < picture.width else picture.convert("RGB"))


def _png(picture: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=3)
    return out.getvalue()
