"""Pages of a picture as pictures for people to look at, upright as they were read. Runs in a parser process."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from kaijuan.errors import DocumentError
from kaijuan.ingest.parsers.pictures import dots_of, open_picture

_LONGEST = 2_000


def page_images(
    data: bytes,
    *,
    first: int,
    count: int,
    scale: float,  # noqa: ARG001 - asked of every kind
) -> list[dict[str, Any]]:
    """Return `count` pages from `first` (from 1) as {"page", "width", "height", "png"}, sizes in dots.

    A page that cannot be drawn has an empty "png". Large pages are shown with at most 2,000 dots a side, small ones as
    they are, whatever the `scale`.
    """
    picture = open_picture(data, "the picture")
    return [_drawn(picture, number) for number in range(first, first + count)]


def _drawn(picture: Image.Image, number: int) -> dict[str, Any]:
    try:
        dots = dots_of(picture, number, "the picture")
    except DocumentError:
        return {"page": number, "width": 0.0, "height": 0.0, "png": b""}
    shown = Image.fromarray(dots.image)
    shown.thumbnail((_LONGEST, _LONGEST))
    out = io.BytesIO()
    shown.save(out, "PNG")
    return {"page": number, "width": float(dots.width), "height": float(dots.height), "png": out.getvalue()}
