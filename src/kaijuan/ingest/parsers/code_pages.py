"""Windows code pages by number, as Office, RTF and Outlook files name them, to Python's codecs."""

from __future__ import annotations

import codecs

_OTHERS = {
    0: "cp1252",
    874: "cp874",
    932: "cp932",
    936: "gb18030",
    949: "cp949",
    950: "big5hkscs",
    1200: "utf-16-le",
    1201: "utf-16-be",
    10000: "mac_roman",
    10001: "shift_jis",
    10008: "gb18030",
    20127: "cp1252",
    20936: "gb18030",
    28591: "cp1252",
    50220: "iso2022_jp",
    50221: "iso2022_jp",
    50222: "iso2022_jp",
    51932: "euc_jp",
    51936: "gb18030",
    51949: "euc_kr",
    52936: "hz",
    54936: "gb18030",
    65001: "utf-8",
}


def codec_of(page: int | None) -> str:
    """Return the codec of a code page; that of Western Europe where it is not known."""
    number = (page or 0) & 0xFFFF
    if number in _OTHERS:
        return _OTHERS[number]
    try:
        return codecs.lookup(f"cp{number}").name
    except LookupError:
        return "cp1252"
