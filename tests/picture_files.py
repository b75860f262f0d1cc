"""Pictures and scans of text, drawn with what Pillow brings, and with a Chinese font where the system has one."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import pytest
from matplotlib.font_manager import findSystemFonts
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

_HAN_FONTS = ("notosanscjk-regular", "notosanssc", "sourcehansans", "pingfang", "wqy", "simhei", "msyh", "stheiti")
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def han_font(size: int) -> ImageFont.FreeTypeFont:
    """Return a font with Chinese characters; the test is skipped where there is none."""
    for wanted in _HAN_FONTS:
        for path in sorted(findSystemFonts()):
            if wanted in Path(path).name.lower():
                return ImageFont.truetype(path, size)
    pytest.skip("no font with Chinese characters is installed")


def page(
    *lines: str,
    size: tuple[int, int] = (1240, 1754),
    left: int = 120,
    top: int = 120,
    step: int = 48,
    font: Font | None = None,
    ink: str = "black",
    paper: str = "white",
) -> Image.Image:
    """Return a page (A5 at 200 dots an inch, as it comes) with lines of text."""
    image = Image.new("RGB", size, paper)
    write(image, *lines, left=left, top=top, step=step, font=font, ink=ink)
    return image


def write(
    image: Image.Image,
    *lines: str,
    left: int = 120,
    top: int = 120,
    step: int = 48,
    font: Font | None = None,
    ink: str = "black",
) -> None:
    """Write lines upon a picture."""
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        pen.text((left, top + number * step), line, fill=ink, font=font or ImageFont.load_default(28))


def saved(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    """Return a picture as a file."""
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def scan(*pages: Image.Image, dots_an_inch: int = 200) -> bytes:
    """Return a PDF whose pages are pictures."""
    out = io.BytesIO()
    paper = canvas.Canvas(out, invariant=True)
    for image in pages:
        width, height = (side * 72 / dots_an_inch for side in image.size)
        paper.setPageSize((width, height))
        paper.drawImage(ImageReader(image), 0, 0, width, height)
        paper.showPage()
    paper.save()
    return out.getvalue()
