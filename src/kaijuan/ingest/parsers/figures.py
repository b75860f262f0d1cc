"""What a picture says of itself: descriptions that people wrote, not names that programs gave."""

from __future__ import annotations

import re

_GIVEN_NAME = re.compile(
    r"^(?:[\d_-]+|\S*\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)|"
    r"(?:picture|image|img|logo|icon|graphic|photo|object|shape|placeholder|chart|diagram|alt text|"
    r"图片|圖片|图像|图形|图表|图|对象)"
    r"(?: ?(?:placeholder|占位符))?\s*[\d-]*)?$",
    re.I,
)
_MACHINE = re.compile(
    r"\s*(?:AI-generated content may be incorrect.*|"
    r"Description automatically generated.*|描述已自动生成.*|自动生成的说明.*)$",
    re.I | re.S,
)


def alt_text(said: str) -> str:
    """Return the description of a picture on one line, "" when it is only a name that a program gave."""
    text = " ".join(_MACHINE.sub("", said).split())
    return "" if _GIVEN_NAME.match(text) else text
