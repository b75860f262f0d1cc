"""Pictures from untrusted bytes: opened within limits, set upright by their own notes, laid on paper."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps

from kaijuan.errors import BrokenDocumentError, OversizeDocumentError, UnsupportedDocumentError

if TYPE_CHECKING:
    from kaijuan.ingest.ports import PageImage

_FORMATS = ("AVIF", "BMP", "DIB", "GIF", "HEIF", "JPEG", "JPEG2000", "MPO", "PNG", "PPM", "TIFF", "WEBP")
"""What may be opened; Pillow also has readers for formats that run programs (EPS) or are rarely tried."""
_MOST_DOTS = 89_000_000
_WORKING_DOTS = 24_000_000
"""Larger pictures are read at half the size, or a third: print in them is large."""
_LIGHT = 170
_HEIF_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_DAMAGES = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    struct.error,
    IndexError,
    KeyError,
    TypeError,
    ZeroDivisionError,
)
"""What Pillow raises over damaged bytes."""


def is_heif(data: bytes) -> bool:
    """Say whether bytes are a picture as telephones take them (HEIC), which Pillow alone cannot open."""
    return data[4:8] == b"ftyp" and data[8:12] in _HEIF_BRANDS


def open_picture(data: bytes, name: str) -> Image.Image:
    """Return the picture, not yet decoded. Raises DocumentError when it is damaged, too large, or of an unread kind."""
    if is_heif(data):
        _learn_heif(name)
    Image.init()
    with _named(name):
        return Image.open(io.BytesIO(data), formats=[known for known in _FORMATS if known in Image.OPEN])


def count_of(picture: Image.Image, name: str) -> int:
    """Return how many pages a picture has: the frames of a TIFF; of a film only the first picture is read."""
    if picture.format != "TIFF":
        return 1
    with _named(name):
        return int(getattr(picture, "n_frames", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """A page as red, green and blue, upright by its own notes; `width` and `height` are those of the picture."""

    image: PageImage
    width: int
    height: int
    less: int
    """So many dots of the picture, each way, are one of `image`."""


def dots_of(picture: Image.Image, number: int, name: str) -> Dots:
    """Return a page (from 1).

    Raises BrokenDocumentError when it cannot be decoded, OversizeDocumentError when it has too many dots.
    """
    with _named(name):
        if number > 1 or picture.format == "TIFF":
            picture.seek(number - 1)
        width, height = picture.size
        if width * height > _MOST_DOTS:
            raise OversizeDocumentError(f"{name} has {width} x {height} dots, more than can be read.")
        less = 1
        while width * height > _WORKING_DOTS * less * less:
            less += 1
        picture.load()
        shown = ImageOps.exif_transpose(picture)
        width, height = shown.size
        if less > 1:
            shown = (_plain(shown) if shown.mode not in {"L", "RGB"} else shown).reduce(less)
        image = np.array(_plain(shown).convert("RGB"), np.uint8, order="C")
        return Dots(image=image, width=width, height=height, less=less)


def _plain(picture: Image.Image) -> Image.Image:
    """Return a picture without transparency, eight bits a colour."""
    if picture.mode.startswith("I") or picture.mode == "F":
        return _stretched(picture)
    if picture.has_transparency_data:
        return _on_paper(picture.convert("RGBA"))
    return picture.convert("RGB")


def _stretched(picture: Image.Image) -> Image.Image:
    """Return a picture of many greys with its darkest as black and its lightest as white."""
    values = np.nan_to_num(np.asarray(picture, np.float32))
    low, high = float(values.min()), float(values.max())
    if high <= low:
        return Image.new("L", picture.size, 255)
    return Image.fromarray(((values - low) / (high - low) * 255).astype(np.uint8))


def _on_paper(picture: Image.Image) -> Image.Image:
    """Lay a picture on white, or on black where what is to be seen is light itself."""
    dots = np.asarray(picture)
    seen = dots[dots[:, :, 3] > 128]
    light = len(seen) and len(seen) < dots.shape[0] * dots.shape[1] and float(seen[:, :3].mean()) > _LIGHT
    paper = Image.new("RGBA", picture.size, "black" if light else "white")
    paper.alpha_composite(picture)
    return paper.convert("RGB")


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Turn what Pillow raises into errors with names."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise OversizeDocumentError(f"{name} has more dots than can be read.") from error
    except _DAMAGES as error:
        raise BrokenDocumentError(f"{name} is not a readable picture: {error}.") from error


def _learn_heif(name: str) -> None:
    try:
        from pi_heif import register_heif_opener
    except ImportError as error:
        raise UnsupportedDocumentError(
            f"{name} is a HEIC picture, for which a decoder is missing.", hint="Run: pip install 'kaijuan[heif]'."
        ) from error
    register_heif_opener()
